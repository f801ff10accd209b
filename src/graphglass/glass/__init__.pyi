from .embedder import Embedder as Embedder
from .encoders.text_encoder import TextEncoder as TextEncoder
from .encoders.text_encoder import load_encoder as load_encoder
from .prompt.graphdp import GraphDP as GraphDP
from .prompt.graphdp import graphdp as graphdp
