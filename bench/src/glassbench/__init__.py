"""The benchmark: named protocols, records that can be rebuilt into tables, every method behind one contract."""

from typing import TYPE_CHECKING

from graphglass.lazy_names import lazy_names

if TYPE_CHECKING:
    from glassbench.methods import METHODS, Detector
    from glassbench.metrics import evaluate
    from glassbench.protocols import Split, split

_HOMES = dict.fromkeys(("METHODS", "Detector"), "methods") | dict.fromkeys(("Split", "split"), "protocols")
_HOMES["evaluate"] = "metrics"

__version__ = "0.3.0"

__all__ = ["METHODS", "Detector", "Split", "evaluate", "split"]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
