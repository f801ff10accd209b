"""TrainingConfig: every number that decides how an encoder is trained."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from graphglass.embedding.network.gin import AGGREGATIONS, Aggregation
from graphglass.embedding.network.schema import NORMALISATIONS, Normalisation
from graphglass.errors import ParameterError


@dataclass(frozen=True)
class TrainingConfig:
    """Settings of one training run; the defaults are the paper's unless said otherwise.

    Parameters
    ----------
    epochs : int
        Training ends after exactly this many epochs; no epoch is chosen by a score. 0 keeps the initial weights.
    learning_rate, final_learning_rate : float
        AdamW's rate falls from the first to the second along a cosine.
    weight_decay : float
    batch_size : int
        Most graphs of one step.
    edge_budget : int
        Most nodes plus edge ends of one step, so that a batch of large graphs is cut before it fills the memory.
    slices : tuple of int
        Text slices to align with; those beyond the anchors' dimension become that dimension.
    hidden, layers : int
        Width H and depth of the GIN.
    aggregation : {"sum", "mean"}
    normalisation : {"graph", "reference", "both"}
        How node features are standardised. The paper's ``graph`` removes absolute scale; ``both`` keeps it beside.
    gram_weight : float
        Weight of the Gram penalty.
    prototype_weight : float
        Weight of the prototype loss at the end of its ramp; 0 switches prototypes and perturbations off.
    prototypes : int
        K per slice.
    prototype_momentum : float
    margin : float
        Energy gap asked between a graph and its perturbation.
    warmup_epochs, ramp_epochs : int
        Epochs of alignment alone, then epochs over which the prototype weight grows linearly.
    perturbation_strength : float
        Share of a graph's edges (or of its feature deviation) that a perturbation changes.
    seed : int
    device : str
    checkpoint_every : int
        Epochs between checkpoints when a checkpoint folder is given.
    """

    epochs: int = 150
    learning_rate: float = 5e-5
    final_learning_rate: float = 1e-6
    weight_decay: float = 1e-4
    batch_size: int = 64
    edge_budget: int = 1_000_000
    slices: tuple[int, ...] = (64, 128, 256, 512)
    hidden: int = 128
    layers: int = 3
    aggregation: Aggregation = "sum"
    normalisation: Normalisation = "both"
    gram_weight: float = 0.01
    prototype_weight: float = 0.3
    prototypes: int = 8
    prototype_momentum: float = 0.999
    margin: float = 1.0
    warmup_epochs: int = 20
    ramp_epochs: int = 20
    perturbation_strength: float = 0.2
    seed: int = 0
    device: str = "cpu"
    checkpoint_every: int = 10

    def __post_init__(self) -> None:
        object.__setattr__(self, "slices", tuple(self.slices))
        counts = ("batch_size", "edge_budget", "hidden", "layers", "prototypes", "checkpoint_every")
        for name in (*counts, "epochs", "warmup_epochs", "ramp_epochs", "seed"):
            value, lowest = getattr(self, name), int(name in counts)
            if isinstance(value, bool) or not isinstance(value, int) or value < lowest:
                raise ParameterError("TrainingConfig", name, f"an integer of at least {lowest}", value)
        for name in ("weight_decay", "gram_weight", "prototype_weight", "margin", "final_learning_rate"):
            if not 0 <= getattr(self, name) < float("inf"):
                raise ParameterError("TrainingConfig", name, "a finite number of at least 0", getattr(self, name))
        if not self.final_learning_rate <= self.learning_rate < float("inf") or self.learning_rate <= 0:
            expected = f"positive and at least final_learning_rate ({self.final_learning_rate})"
            raise ParameterError("TrainingConfig", "learning_rate", expected, self.learning_rate)
        if not 0 <= self.prototype_momentum < 1:
            raise ParameterError("TrainingConfig", "prototype_momentum", "in [0, 1)", self.prototype_momentum)
        if not 0 < self.perturbation_strength <= 1:
            raise ParameterError("TrainingConfig", "perturbation_strength", "in (0, 1]", self.perturbation_strength)
        if not self.slices or any(
            isinstance(size, bool) or not isinstance(size, int) or size < 2 for size in self.slices
        ):
            raise ParameterError("TrainingConfig", "slices", "a tuple of dimensions of at least 2", self.slices)
        if len(set(self.slices)) != len(self.slices) or tuple(sorted(self.slices)) != self.slices:
            raise ParameterError("TrainingConfig", "slices", "strictly increasing", self.slices)
        for name, allowed in (("aggregation", AGGREGATIONS), ("normalisation", NORMALISATIONS)):
            if getattr(self, name) not in allowed:
                raise ParameterError("TrainingConfig", name, f"one of {allowed}", getattr(self, name))

    @property
    def uses_prototypes(self) -> bool:
        """Whether any epoch of this run has a prototype loss."""
        return self.prototype_weight > 0 and self.epochs > self.warmup_epochs

    def to_json(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {**asdict(self), "slices": list(self.slices)}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> TrainingConfig:
        """The configuration that :meth:`to_json` wrote; unknown names are refused."""
        known = {item.name for item in fields(cls)}
        unknown = sorted(set(value) - known)
        if unknown:
            raise ParameterError("TrainingConfig", unknown[0], f"one of {sorted(known)}", unknown[0])
        return cls(**{**value, "slices": tuple(value["slices"])} if "slices" in value else dict(value))
