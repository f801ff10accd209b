"""The loss curves of a training run as a value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

CURVES = ("loss", "alignment", "gram", "prototype", "prototype_weight", "learning_rate")


@dataclass(frozen=True)
class TrainingHistory:
    """One number per completed epoch and curve.

    Attributes
    ----------
    loss, alignment, gram, prototype : tuple of float
        Mean over the graphs of an epoch; ``loss`` is the weighted sum of the other three (eq:train_obj).
    prototype_weight, learning_rate : tuple of float
        The schedules as they were applied.
    seconds : tuple of float
        Wall time of each epoch; left out when two histories are compared.
    """

    loss: tuple[float, ...] = ()
    alignment: tuple[float, ...] = ()
    gram: tuple[float, ...] = ()
    prototype: tuple[float, ...] = ()
    prototype_weight: tuple[float, ...] = ()
    learning_rate: tuple[float, ...] = ()
    seconds: tuple[float, ...] = field(default=(), compare=False)

    def __len__(self) -> int:
        return len(self.loss)

    def extended(self, **epoch: float) -> TrainingHistory:
        """A history with one more epoch."""
        return replace(self, **{name: (*getattr(self, name), epoch[name]) for name in (*CURVES, "seconds")})

    def to_json(self) -> dict[str, list[float]]:
        """Plain values for JSON."""
        return {name: list(values) for name, values in asdict(self).items()}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> TrainingHistory:
        """The history that :meth:`to_json` wrote."""
        return cls(**{name: tuple(float(number) for number in value[name]) for name in (*CURVES, "seconds")})
