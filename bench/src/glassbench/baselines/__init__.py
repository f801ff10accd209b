"""Other detectors behind the same contract: fit on normal graphs, one score per graph, higher is more anomalous."""

from typing import TYPE_CHECKING

from graphglass.lazy_names import lazy_names

if TYPE_CHECKING:
    from glassbench.baselines.cvtgad import CVTGAD, CVTGADBatch
    from glassbench.baselines.gladc import GLADC
    from glassbench.baselines.glocalkd import GLocalKD
    from glassbench.baselines.kernels import WLSVM, PropagationForest, PropagationSVM, WLForest
    from glassbench.baselines.knn import BagKNN, SizeKNN, StructureKNN, WLCosineKNN
    from glassbench.baselines.muse import MUSE
    from glassbench.baselines.netlsd import NetLSDKNN
    from glassbench.baselines.ocgin import OCGIN
    from glassbench.baselines.ocgtl import OCGTL
    from glassbench.baselines.signet import SIGNET, SIGNETBatch
    from glassbench.baselines.supervised import LabelledClassifier
    from glassbench.baselines.uniform import UniFORM

# Public names by module, loaded on first use: torch comes with the first deep method asked for.
_MODULES = {
    "cvtgad": ["CVTGAD", "CVTGADBatch"],
    "gladc": ["GLADC"],
    "glocalkd": ["GLocalKD"],
    "kernels": ["PropagationForest", "PropagationSVM", "WLForest", "WLSVM"],
    "knn": ["BagKNN", "SizeKNN", "StructureKNN", "WLCosineKNN"],
    "muse": ["MUSE"],
    "netlsd": ["NetLSDKNN"],
    "ocgin": ["OCGIN"],
    "ocgtl": ["OCGTL"],
    "signet": ["SIGNET", "SIGNETBatch"],
    "supervised": ["LabelledClassifier"],
    "uniform": ["UniFORM"],
}

__all__ = [
    "CVTGAD", "GLADC", "MUSE", "OCGIN", "OCGTL", "SIGNET", "WLSVM", "BagKNN", "CVTGADBatch", "GLocalKD",
    "LabelledClassifier", "NetLSDKNN", "PropagationForest", "PropagationSVM", "SIGNETBatch", "SizeKNN", "StructureKNN",
    "UniFORM", "WLCosineKNN", "WLForest",
]  # fmt: skip

__getattr__, __dir__ = lazy_names(__name__, {name: module for module, names in _MODULES.items() for name in names})
