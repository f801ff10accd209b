"""The GLASS paper: prompts, text and graph encoders, training, and the codes they give. Needs the extra ``paper``."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graphglass.embedding.embedder import Embedder
    from graphglass.embedding.encoders.text_encoder import load_encoder
    from graphglass.embedding.prompt.graphdp import graphdp
    from graphglass.embedding.trained_encoder import TrainedEncoder, encode_graphs
    from graphglass.embedding.training.config import TrainingConfig
    from graphglass.embedding.training.trainer import Domain, train, train_domains

# Public name -> module, loaded on first use: prompts and text encoders do without torch.
_HOMES = {
    "Domain": "training.trainer",
    "Embedder": "embedder",
    "TrainedEncoder": "trained_encoder",
    "TrainingConfig": "training.config",
    "encode_graphs": "trained_encoder",
    "graphdp": "prompt.graphdp",
    "load_encoder": "encoders.text_encoder",
    "train": "training.trainer",
    "train_domains": "training.trainer",
}

__all__ = [
    "Domain",
    "Embedder",
    "TrainedEncoder",
    "TrainingConfig",
    "encode_graphs",
    "graphdp",
    "load_encoder",
    "train",
    "train_domains",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"graphglass.embedding.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'graphglass.embedding' has no attribute {name!r}")
