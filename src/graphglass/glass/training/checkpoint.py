"""A training run so far: its loss curves, and its state on disk, an artifact that is either the old one or the new."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from graphglass.errors import ArtifactError, GlassError
from graphglass.files.load import load_artifact
from graphglass.files.save import save_artifact
from graphglass.glass.training.config import TrainingConfig

FOLDER = "training-checkpoint"
KIND = "graphglass-training-checkpoint"


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
        return replace(self, **{name: (*getattr(self, name), value) for name, value in epoch.items()})

    def to_json(self) -> dict[str, list[float]]:
        """Plain values for JSON."""
        return {name: list(values) for name, values in asdict(self).items()}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> TrainingHistory:
        """The history that :meth:`to_json` wrote."""
        return cls(**{curve.name: tuple(map(float, value[curve.name])) for curve in fields(cls)})


@dataclass(frozen=True)
class Checkpoint:
    """Everything that a run needs to continue after its last complete epoch.

    Random choices are functions of the seed and the epoch, so the length of the history is the random state.

    Attributes
    ----------
    tensors : mapping of str to Tensor
        Encoder, prototypes and optimiser moments.
    config : TrainingConfig
    history : TrainingHistory
    data : str
        sha256 of the training inputs and anchors.
    """

    tensors: Mapping[str, Tensor]
    config: TrainingConfig
    history: TrainingHistory
    data: str

    @classmethod
    def of(
        cls,
        modules: Mapping[str, torch.nn.Module],
        optimiser: torch.optim.Optimizer,
        config: TrainingConfig,
        history: TrainingHistory,
        data: str,
    ) -> Checkpoint:
        """Copies of all state as named tensors, on the CPU."""
        tensors = {
            f"{role}.{name}": value for role, module in modules.items() for name, value in module.state_dict().items()
        }
        for index, moments in optimiser.state_dict()["state"].items():
            tensors |= {f"optimiser.{index}.{name}": value for name, value in moments.items()}
        copies = {name: value.detach().cpu().clone().contiguous() for name, value in tensors.items()}
        return cls(copies, config, history, data)

    def restore(self, modules: Mapping[str, torch.nn.Module], optimiser: torch.optim.Optimizer) -> None:
        """Put the state back."""
        try:
            for role, module in modules.items():
                module.load_state_dict(self._under(f"{role}."))
        except RuntimeError as error:
            raise ArtifactError(f"The checkpoint does not fit this network: {error}") from error
        moments: dict[int, dict[str, Tensor]] = {}
        for name, value in self._under("optimiser.").items():
            index, key = name.split(".", 1)
            moments.setdefault(int(index), {})[key] = value
        optimiser.load_state_dict({"state": moments, "param_groups": optimiser.state_dict()["param_groups"]})

    def _under(self, prefix: str) -> dict[str, Tensor]:
        return {name.removeprefix(prefix): value for name, value in self.tensors.items() if name.startswith(prefix)}


def write(folder: str | Path, checkpoint: Checkpoint) -> None:
    """Write a checkpoint; a crash or a full disk leaves the previous one intact."""
    run = {
        "config": checkpoint.config.to_json(),
        "history": checkpoint.history.to_json(),
        "data": checkpoint.data,
    }
    state = {name: value.numpy() for name, value in checkpoint.tensors.items()}
    save_artifact(Path(folder) / FOLDER, KIND, tensors={"state": state}, documents={"run": run})


def read(folder: str | Path) -> Checkpoint | None:
    """The checkpoint of a folder, or None if there is none yet."""
    path = Path(folder) / FOLDER
    if not path.exists():
        return None
    try:
        artifact = load_artifact(path, KIND)
        run = artifact.documents["run"]
        return Checkpoint(
            tensors={name: torch.from_numpy(value.copy()) for name, value in artifact.tensors["state"].items()},
            config=TrainingConfig.from_json(run["config"]),
            history=TrainingHistory.from_json(run["history"]),
            data=str(run["data"]),
        )
    except (GlassError, KeyError, TypeError, ValueError) as error:
        raise ArtifactError(f"The checkpoint {path} cannot be read ({error}). Remove it and train again.") from error
