"""The two presets, and how a caller's own choices override them."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

from graphglass.embedding.network.schema import Normalisation
from graphglass.embedding.training.config import TrainingConfig
from graphglass.errors import ParameterError


@dataclass(frozen=True)
class Settings:
    """Every choice the detector makes, resolved.

    Attributes
    ----------
    encoder : str
        Text encoder name, directory or endpoint (see :func:`graphglass.load_encoder`).
    slices : tuple of int
        Matryoshka prefix sizes shared by graph and text codes.
    k : int
        Neighbours per spherical channel.
    scorer : {"ensemble", "reliability", "fixed"}
        ``ensemble`` averages the calibrated spherical, descriptor and pattern channels; the other two are the
        paper's rules.
    normalisation : {"graph", "reference", "both"}
        How node features are scaled before the network reads them (eq:canon is ``graph``).
    epochs : int or None
        Passes over the references; the last one is always the one used. None asks for about :data:`STEPS` batches.
    learning_rate, prototypes
        Graph-side training.
    """

    encoder: str
    slices: tuple[int, ...]
    k: int
    scorer: str
    normalisation: Normalisation
    epochs: int | None
    learning_rate: float
    prototypes: bool

    def __post_init__(self) -> None:
        if self.scorer not in SCORERS:
            raise ParameterError("GLASS", "scorer", f"one of {', '.join(SCORERS)}", self.scorer)
        if not isinstance(self.k, int) or self.k < 1:
            raise ParameterError("GLASS", "k", "a positive integer", self.k)
        if not self.slices or any(not isinstance(size, int) or size < 2 for size in self.slices):
            raise ParameterError("GLASS", "slices", "integers of at least 2", self.slices)

    def epochs_for(self, references: int) -> int:
        """Passes over this many references: small sets need more passes for the same number of gradient steps."""
        if self.epochs is not None:
            return self.epochs
        batches = -(-references // TrainingConfig.batch_size)
        return min(MOST_EPOCHS, max(FEWEST_EPOCHS, round(STEPS / batches)))


# Without a fixed number of epochs, training makes about this many steps, within these bounds on the epochs.
STEPS = 300
FEWEST_EPOCHS, MOST_EPOCHS = 5, 60
SCORERS = ("ensemble", "reliability", "fixed")

PRESETS = {
    "paper": Settings(
        encoder="numeric",
        slices=(64, 128, 256, 512),
        k=5,
        scorer="reliability",
        normalisation="graph",
        epochs=150,
        learning_rate=5e-5,
        prototypes=True,
    ),
    "default": Settings(
        encoder="numeric",
        slices=(64, 128, 256, 512),
        k=3,
        scorer="ensemble",
        normalisation="both",
        epochs=None,
        learning_rate=1e-3,
        prototypes=False,
    ),
}


def resolve(preset: str, **choices: Any) -> Settings:
    """The preset with every choice that is not None put in its place."""
    if preset not in PRESETS:
        raise ParameterError("GLASS", "preset", f"one of {', '.join(PRESETS)}", preset)
    known = {item.name for item in fields(Settings)}
    chosen = {name: value for name, value in choices.items() if name in known and value is not None}
    if "slices" in chosen:
        chosen["slices"] = tuple(chosen["slices"])
    return replace(PRESETS[preset], **chosen)
