"""The settings of GLASS, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from graphglass.errors import ParameterError
from graphglass.glass.network.schema import NORMALISATIONS
from graphglass.glass.prompt.graphdp import VERSIONS
from graphglass.glass.scoring_rules import CALIBRATIONS, SCORERS
from graphglass.glass.training.config import AUTHORS

FEATURES = ("kept", "structure")
TRAINING = ("slices", "normalisation", "epochs", "learning_rate", "prototypes", "prompt", "details")


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
        if isinstance(details := chosen["details"], str):
            raise ParameterError("GLASS", "details", f"a sequence of names, such as ({details!r},)", details)
        chosen |= {name: tuple(chosen[name]) for name in ("slices", "details")}
        return cls(**{name: value for name, value in chosen.items() if name != "encoder" or value is not None})

    def __post_init__(self) -> None:
        if self.scorer not in SCORERS:
            raise ParameterError("GLASS", "scorer", f"one of {', '.join(SCORERS)}", self.scorer)
        if self.calibration not in CALIBRATIONS:
            raise ParameterError("GLASS", "calibration", f"one of {', '.join(CALIBRATIONS)}", self.calibration)
        if self.normalisation not in NORMALISATIONS:
            raise ParameterError("GLASS", "normalisation", f"one of {', '.join(NORMALISATIONS)}", self.normalisation)
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


def refuse_training_settings(parameters: Mapping[str, Any]) -> None:
    """Refuse what would have to be trained, of a detector whose encoder comes with the package."""
    usual = {item.name: item.default for item in fields(GlassSettings)}
    for name in TRAINING:
        given = parameters[name]
        if (tuple(given) if isinstance(usual[name], tuple) else given) != usual[name]:
            raise ParameterError("GLASS", name, "left out, because a pretrained encoder is not trained again", given)
