"""Graph-level anomaly detection that transfers between domains."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graphglass.detector.estimator import GLASS
    from graphglass.detector.explanation import Explanation
    from graphglass.graphs.graph_set import GraphSet, concatenate
    from graphglass.graphs.json_lines import write_json_lines
    from graphglass.graphs.limits import Limits
    from graphglass.graphs.networkx import to_networkx
    from graphglass.graphs.parquet import write_parquet
    from graphglass.graphs.read import read_graphs, read_report
    from graphglass.graphs.tu_catalogue import load_dataset
    from graphglass.language.graphdp import GraphDP, graphdp
    from graphglass.language.text_encoder import load_encoder
    from graphglass.privacy.ledger import Ledger
    from graphglass.privacy.merge import merge
    from graphglass.privacy.release import release
    from graphglass.scoring.private_summary import PrivateSummary
    from graphglass.structure.profile import StructureProfile, profile

__version__ = "0.1.0"

# Public name -> module that defines it. Loaded on first use, so that `import graphglass` stays instant.
_HOMES = {
    "Explanation": "graphglass.detector.explanation",
    "GLASS": "graphglass.detector.estimator",
    "GraphDP": "graphglass.language.graphdp",
    "graphdp": "graphglass.language.graphdp",
    "load_encoder": "graphglass.language.text_encoder",
    "GraphSet": "graphglass.graphs.graph_set",
    "concatenate": "graphglass.graphs.graph_set",
    "load_dataset": "graphglass.graphs.tu_catalogue",
    "read_graphs": "graphglass.graphs.read",
    "read_report": "graphglass.graphs.read",
    "Limits": "graphglass.graphs.limits",
    "to_networkx": "graphglass.graphs.networkx",
    "write_json_lines": "graphglass.graphs.json_lines",
    "write_parquet": "graphglass.graphs.parquet",
    "Ledger": "graphglass.privacy.ledger",
    "PrivateSummary": "graphglass.scoring.private_summary",
    "merge": "graphglass.privacy.merge",
    "release": "graphglass.privacy.release",
    "StructureProfile": "graphglass.structure.profile",
    "profile": "graphglass.structure.profile",
}

__all__ = [
    "GLASS",
    "Explanation",
    "GraphDP",
    "GraphSet",
    "Ledger",
    "Limits",
    "PrivateSummary",
    "StructureProfile",
    "concatenate",
    "graphdp",
    "load_dataset",
    "load_encoder",
    "merge",
    "profile",
    "read_graphs",
    "read_report",
    "release",
    "to_networkx",
    "write_json_lines",
    "write_parquet",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'graphglass' has no attribute {name!r}")
