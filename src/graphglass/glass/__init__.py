"""The GLASS paper: prompts, text encoders, and the graph encoder that is trained against them."""

from typing import TYPE_CHECKING

from graphglass.lazy_names import lazy_names

if TYPE_CHECKING:
    from graphglass.glass.embedder import Embedder
    from graphglass.glass.encoders.text_encoder import TextEncoder, load_encoder
    from graphglass.glass.prompt.graphdp import GraphDP, graphdp

_HOMES = {
    "Embedder": "embedder",
    "GraphDP": "prompt.graphdp",
    "TextEncoder": "encoders.text_encoder",
    "graphdp": "prompt.graphdp",
    "load_encoder": "encoders.text_encoder",
}

__all__ = ["Embedder", "GraphDP", "TextEncoder", "graphdp", "load_encoder"]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
