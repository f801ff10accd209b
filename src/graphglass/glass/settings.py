"""The settings of GLASS, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from graphglass.errors import ParameterError
from graphglass.glass.prompt.graphdp import VERSIONS
from graphglass.glass.scoring_rules import SCORERS
from graphglass.glass.training.config import AUTHORS

FEATURES = ("kept", "structure")


def _preferred_encoder() -> str:
    from graphglass.glass.encoders.catalogue import preferred_encoder

    return preferred_encoder()


@dataclass(frozen=True)
class GlassSettings:
    """Every choice of the method; :class:`graphglass.GLASS` says what each means."""

    encoder: str = field(default_factory=_preferred_encoder)
    slices: tuple[int, ...] = (64, 128, 256, 512)
    k: int = 5
    scorer: str = "reliability"
    calibration: str = "leave-one-out"
    normalisation: str = "graph"
    epochs: int = 150
    learning_rate: float = 5e-5
    prototypes: bool = True
    prompt: int = 1
    details: tuple[str, ...] = ("training-mode",)
    features: str = "kept"
    device: str = "cpu"

    @classmethod
    def of(cls, parameters: Mapping[str, Any]) -> GlassSettings:
        """The settings among the parameters of an estimator; no encoder stands for the preferred one."""
        chosen = {item.name: parameters[item.name] for item in fields(cls)}
        chosen |= {name: tuple(chosen[name]) for name in ("slices", "details")}
        return cls(**{name: value for name, value in chosen.items() if name != "encoder" or value is not None})

    def __post_init__(self) -> None:
        if self.scorer not in SCORERS:
            raise ParameterError("GLASS", "scorer", f"one of {', '.join(SCORERS)}", self.scorer)
        if self.prompt not in VERSIONS:
            raise ParameterError("GLASS", "prompt", "1 or 2", self.prompt)
        if not set(self.details) <= set(AUTHORS):
            raise ParameterError("GLASS", "details", f"names among {', '.join(AUTHORS)}", self.details)
        if self.features not in FEATURES:
            raise ParameterError("GLASS", "features", f"one of {', '.join(FEATURES)}", self.features)
        if not isinstance(self.k, int) or self.k < 1:
            raise ParameterError("GLASS", "k", "a positive integer", self.k)
        if not self.slices or any(not isinstance(size, int) or size < 2 for size in self.slices):
            raise ParameterError("GLASS", "slices", "integers of at least 2", self.slices)
