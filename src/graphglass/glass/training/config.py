"""Every number that decides how an encoder is trained."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar

from graphglass.errors import ParameterError
from graphglass.glass.network.schema import NORMALISATIONS, Normalisation

# What the authors' public code does where the paper's text says nothing, each switchable to measure what it is worth.
AUTHORS = (
    "training-mode",  # perturbed graphs are read with the statistics of their batch, and enter the running ones
    "concentration",  # prototypes start at 2.4 and stay below 50, instead of 1 without a bound
    "margin",  # 0.5 instead of 1
    "perturbations",  # rewire, mask or shuffle, instead of rewire, add, remove or noise
    "canonicalisation",  # 64 wide, normalised and cut at zero after both maps, instead of 128 and one ReLU
    "gin",  # normalised and cut at zero after every layer, dropout between them, instead of inside the layers alone
    "sketch-relu",  # after the spectral projection
    "clipping",  # of the gradient's length, at 1
    "one-batch",  # of all references where there are at most 256
    "farthest-point",  # initial prototypes, instead of spherical k-means
)

LONGEST_GRADIENT = 1.0  # with "clipping"
LARGEST_SINGLE_BATCH = 256  # with "one-batch"; with "farthest-point" the references that place the prototypes


@dataclass(frozen=True)
class TrainingConfig:
    """Settings of one training run. The class attributes are the paper's fixed values.

    Parameters
    ----------
    epochs : int
        Training ends after exactly this many epochs; no epoch is chosen by a score. 0 keeps the initial weights.
    learning_rate : float
        AdamW's first rate; it falls to ``final_learning_rate`` along a cosine.
    slices : tuple of int
        Text slices to align with; those beyond the anchors' dimension become that dimension.
    normalisation : {"graph", "reference", "both"}
        How node features are standardised. The paper's ``graph`` removes absolute scale; ``both`` keeps it as well.
    prototype_weight : float
        Weight of the prototype loss at the end of its ramp; 0 switches prototypes and perturbations off.
    authors : tuple of str
        Which details of :data:`AUTHORS` are taken; the others are ours.
    seed : int
    device : str
        Where to train, such as ``cpu`` or ``cuda``; the trained encoder is returned on the CPU.
    """

    epochs: int = 150
    learning_rate: float = 5e-5
    slices: tuple[int, ...] = (64, 128, 256, 512)
    normalisation: Normalisation = "both"
    prototype_weight: float = 0.3
    authors: tuple[str, ...] = ()
    seed: int = 0
    device: str = "cpu"

    final_learning_rate: ClassVar[float] = 1e-6
    weight_decay: ClassVar[float] = 1e-4  # on every parameter
    batch_size: ClassVar[int] = 64  # graphs of one step
    edge_budget: ClassVar[int] = 1_000_000  # nodes plus edge ends of one step, which bounds the memory
    hidden: ClassVar[int] = 128  # width H of the GIN
    layers: ClassVar[int] = 3
    gram_weight: ClassVar[float] = 0.01
    prototypes: ClassVar[int] = 8  # K per slice
    prototype_momentum: ClassVar[float] = 0.999
    warmup_epochs: ClassVar[int] = 20  # alignment alone
    ramp_epochs: ClassVar[int] = 20  # over which the prototype weight then grows linearly
    perturbation_strength: ClassVar[float] = 0.2  # share of a graph's edges, or of its feature deviation
    checkpoint_every: ClassVar[int] = 10  # epochs

    def __post_init__(self) -> None:
        object.__setattr__(self, "slices", tuple(self.slices))
        object.__setattr__(self, "authors", tuple(self.authors))

        def check(name: str, ok: bool, expected: str) -> None:
            if not ok:
                raise ParameterError("TrainingConfig", name, expected, getattr(self, name))

        for name in ("epochs", "seed"):
            check(name, _is_integer(getattr(self, name)) and getattr(self, name) >= 0, "an integer of at least 0")
        least = self.final_learning_rate
        check("learning_rate", least <= self.learning_rate < float("inf"), f"finite and at least {least}")
        check("prototype_weight", 0 <= self.prototype_weight < float("inf"), "a finite number of at least 0")
        check("normalisation", self.normalisation in NORMALISATIONS, f"one of {NORMALISATIONS}")
        check("authors", set(self.authors) <= set(AUTHORS), f"names among {AUTHORS}")
        sizes = all(_is_integer(size) and size >= 2 for size in self.slices)
        check("slices", bool(self.slices) and sizes, "a tuple of dimensions of at least 2")
        check("slices", tuple(sorted(set(self.slices))) == self.slices, "strictly increasing")

    @property
    def uses_prototypes(self) -> bool:
        """Whether any epoch of this run has a prototype loss."""
        return self.prototype_weight > 0 and self.epochs > self.warmup_epochs

    @property
    def margin(self) -> float:
        """Energy gap between a graph and its perturbation (eq:proto_loss)."""
        return 0.5 if "margin" in self.authors else 1.0

    def graphs_per_step(self, graphs: int) -> int:
        """Graphs of one step in a training set of this size."""
        whole = "one-batch" in self.authors and graphs <= LARGEST_SINGLE_BATCH
        return graphs if whole else self.batch_size

    def to_json(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {**asdict(self), "slices": list(self.slices), "authors": list(self.authors)}

    def every_setting(self) -> dict[str, Any]:
        """The settings together with the fixed values, without the device."""
        fixed = {
            name: getattr(self, name) for name, kind in type(self).__annotations__.items() if "ClassVar" in str(kind)
        }
        values = {**self.to_json(), **fixed, "margin": self.margin}
        # Records made before a detail could be chosen have none of the authors' and do not say so.
        return {name: value for name, value in values.items() if name != "device" and (name != "authors" or value)}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> TrainingConfig:
        """The configuration that :meth:`to_json` wrote; unknown names are refused."""
        known = {item.name for item in fields(cls)}
        unknown = sorted(set(value) - known)
        if unknown:
            raise ParameterError("TrainingConfig", unknown[0], f"one of {sorted(known)}", unknown[0])
        return cls(**value)


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
