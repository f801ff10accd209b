"""Graph-level anomaly detection: rank any graph against a set of normal graphs, and say why."""

from typing import TYPE_CHECKING

from graphglass.lazy_names import lazy_names

if TYPE_CHECKING:
    from graphglass.channels.sketch import sketch
    from graphglass.detector.explanation import Explanation
    from graphglass.detector.graphglass import GraphGlass
    from graphglass.detector.reference_detector import ReferenceDetector
    from graphglass.detector.scored_graphs import ScoredGraphs
    from graphglass.glass.encoders.text_encoder import load_encoder
    from graphglass.glass.estimator import GLASS
    from graphglass.glass.prompt.graphdp import GraphDP, graphdp
    from graphglass.graphs.concatenation import concatenate
    from graphglass.graphs.graph_set import GraphSet
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

__version__ = "0.3.0"

# Public name -> module that defines it.
_HOMES = {
    "sketch": "channels.sketch",
    "Explanation": "detector.explanation",
    "GLASS": "glass.estimator",
    "GraphGlass": "detector.graphglass",
    "ReferenceDetector": "detector.reference_detector",
    "ScoredGraphs": "detector.scored_graphs",
    "GraphDP": "glass.prompt.graphdp",
    "graphdp": "glass.prompt.graphdp",
    "load_encoder": "glass.encoders.text_encoder",
    "GraphSet": "graphs.graph_set",
    "concatenate": "graphs.concatenation",
    "load_dataset": "graphs.tu_catalogue",
    "read_graphs": "graphs.read",
    "read_report": "graphs.read",
    "Limits": "graphs.limits",
    "to_networkx": "graphs.readers.networkx",
    "write_json_lines": "graphs.readers.json_lines",
    "write_parquet": "graphs.readers.parquet",
    "Ledger": "privacy.release.ledger",
    "PrivateSummary": "privacy.private_summary",
    "merge": "privacy.release.merge",
    "release": "privacy.release.publish",
    "StructureProfile": "structure.profile",
    "profile": "structure.profile",
}

__all__ = [
    "GLASS",
    "Explanation",
    "GraphDP",
    "GraphGlass",
    "GraphSet",
    "Ledger",
    "Limits",
    "PrivateSummary",
    "ReferenceDetector",
    "ScoredGraphs",
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

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
