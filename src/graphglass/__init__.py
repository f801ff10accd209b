"""Graph-level anomaly detection that transfers between domains."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graphglass.channels.sketch import sketch
    from graphglass.detector.explanation import Explanation
    from graphglass.detector.glass import GLASS
    from graphglass.embedding.encoders.text_encoder import load_encoder
    from graphglass.embedding.prompt.graphdp import GraphDP, graphdp
    from graphglass.graphs.graph_set import GraphSet, concatenate
    from graphglass.graphs.limits import Limits
    from graphglass.graphs.read import read_graphs, read_report
    from graphglass.graphs.readers.json_lines import write_json_lines
    from graphglass.graphs.readers.networkx import to_networkx
    from graphglass.graphs.readers.parquet import write_parquet
    from graphglass.graphs.tu_catalogue import load_dataset
    from graphglass.privacy.private_summary import PrivateSummary
    from graphglass.privacy.release.ledger import Ledger
    from graphglass.privacy.release.merge import merge
    from graphglass.privacy.release.publish import release
    from graphglass.structure.profile import StructureProfile, profile

__version__ = "0.1.0"

# Public name -> module that defines it. Loaded on first use, so that `import graphglass` stays instant.
_HOMES = {
    "sketch": "graphglass.channels.sketch",
    "Explanation": "graphglass.detector.explanation",
    "GLASS": "graphglass.detector.glass",
    "GraphDP": "graphglass.embedding.prompt.graphdp",
    "graphdp": "graphglass.embedding.prompt.graphdp",
    "load_encoder": "graphglass.embedding.encoders.text_encoder",
    "GraphSet": "graphglass.graphs.graph_set",
    "concatenate": "graphglass.graphs.graph_set",
    "load_dataset": "graphglass.graphs.tu_catalogue",
    "read_graphs": "graphglass.graphs.read",
    "read_report": "graphglass.graphs.read",
    "Limits": "graphglass.graphs.limits",
    "to_networkx": "graphglass.graphs.readers.networkx",
    "write_json_lines": "graphglass.graphs.readers.json_lines",
    "write_parquet": "graphglass.graphs.readers.parquet",
    "Ledger": "graphglass.privacy.release.ledger",
    "PrivateSummary": "graphglass.privacy.private_summary",
    "merge": "graphglass.privacy.release.merge",
    "release": "graphglass.privacy.release.publish",
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
    "sketch",
    "to_networkx",
    "write_json_lines",
    "write_parquet",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'graphglass' has no attribute {name!r}")
