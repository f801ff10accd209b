"""Other detectors behind the same contract: fit on normal graphs, one score per graph, higher is more anomalous."""

from typing import TYPE_CHECKING

from graphglass.lazy_names import lazy_names

if TYPE_CHECKING:
    from graphglass.baselines.bag import BagKNN
    from graphglass.baselines.cvtgad import CVTGAD, CVTGADBatch
    from graphglass.baselines.gladc import GLADC
    from graphglass.baselines.glocalkd import GLocalKD
    from graphglass.baselines.kernels import WLSVM, PropagationForest, PropagationSVM, WLForest
    from graphglass.baselines.knn import SizeKNN, StructureKNN, WLCosineKNN
    from graphglass.baselines.muse import MUSE
    from graphglass.baselines.netlsd import NetLSDKNN
    from graphglass.baselines.ocgin import OCGIN
    from graphglass.baselines.ocgtl import OCGTL
    from graphglass.baselines.signet import SIGNET, SIGNETBatch
    from graphglass.baselines.supervised import LabelledClassifier
    from graphglass.baselines.uniform import UniFORM

# Public name -> module, loaded on first use: torch comes with the first deep method asked for.
_HOMES = {
    "BagKNN": "bag",
    "CVTGAD": "cvtgad",
    "CVTGADBatch": "cvtgad",
    "GLADC": "gladc",
    "GLocalKD": "glocalkd",
    "LabelledClassifier": "supervised",
    "MUSE": "muse",
    "NetLSDKNN": "netlsd",
    "OCGIN": "ocgin",
    "OCGTL": "ocgtl",
    "PropagationForest": "kernels",
    "PropagationSVM": "kernels",
    "SIGNET": "signet",
    "SIGNETBatch": "signet",
    "SizeKNN": "knn",
    "StructureKNN": "knn",
    "UniFORM": "uniform",
    "WLCosineKNN": "knn",
    "WLForest": "kernels",
    "WLSVM": "kernels",
}

__all__ = [
    "CVTGAD",
    "GLADC",
    "MUSE",
    "OCGIN",
    "OCGTL",
    "SIGNET",
    "WLSVM",
    "BagKNN",
    "CVTGADBatch",
    "GLocalKD",
    "LabelledClassifier",
    "NetLSDKNN",
    "PropagationForest",
    "PropagationSVM",
    "SIGNETBatch",
    "SizeKNN",
    "StructureKNN",
    "UniFORM",
    "WLCosineKNN",
    "WLForest",
]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
