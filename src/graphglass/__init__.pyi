from .channels.sketch import sketch as sketch
from .detector.explanation import Explanation as Explanation
from .detector.graphglass import GraphGlass as GraphGlass
from .detector.reference_detector import ReferenceDetector as ReferenceDetector
from .detector.review import Review as Review
from .detector.scored_graphs import ScoredGraphs as ScoredGraphs
from .glass.encoders.text_encoder import load_encoder as load_encoder
from .glass.estimator import GLASS as GLASS
from .glass.prompt.graphdp import GraphDP as GraphDP
from .glass.prompt.graphdp import graphdp as graphdp
from .graphs.concatenation import concatenate as concatenate
from .graphs.datasets import load_dataset as load_dataset
from .graphs.graph_set import GraphSet as GraphSet
from .graphs.limits import Limits as Limits
from .graphs.read import read_graphs as read_graphs
from .graphs.read import read_report as read_report
from .graphs.readers.json_lines import write_json_lines as write_json_lines
from .graphs.readers.networkx import to_networkx as to_networkx
from .graphs.readers.parquet import write_parquet as write_parquet
from .privacy.private_summary import PrivateSummary as PrivateSummary
from .privacy.private_summary import merge as merge
from .privacy.release.ledger import Ledger as Ledger
from .privacy.release.publish import release as release
from .structure.profile import StructureProfile as StructureProfile
from .structure.profile import profile as profile

__version__: str
