"""A training run on disk: one safetensors file that is either the old state or the new one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from graphglass.embedding.training.config import TrainingConfig
from graphglass.embedding.training.history import TrainingHistory
from graphglass.errors import ArtifactError
from graphglass.storage.atomic import replacing

FILE = "training-checkpoint.safetensors"
FORMAT = 1


@dataclass(frozen=True)
class Checkpoint:
    """Everything that a run needs to go on after its last completed epoch.

    Random choices are functions of the seed and the epoch, so the epoch is the random state.

    Attributes
    ----------
    epoch : int
        Completed epochs.
    tensors : mapping of str to Tensor
        Encoder, prototypes and optimiser moments.
    config : TrainingConfig
    history : TrainingHistory
    data : str
        sha256 of the training inputs and anchors.
    """

    epoch: int
    tensors: Mapping[str, Tensor]
    config: TrainingConfig
    history: TrainingHistory
    data: str


def gather(
    encoder: torch.nn.Module, prototypes: torch.nn.Module, optimiser: torch.optim.Optimizer
) -> dict[str, Tensor]:
    """Copies of all state as named tensors, on the CPU."""
    tensors = {f"encoder.{name}": value for name, value in encoder.state_dict().items()}
    tensors |= {f"prototypes.{name}": value for name, value in prototypes.state_dict().items()}
    for index, moments in optimiser.state_dict()["state"].items():
        tensors |= {f"optimiser.{index}.{name}": value for name, value in moments.items()}
    return {name: value.detach().cpu().clone().contiguous() for name, value in tensors.items()}


def scatter(
    tensors: Mapping[str, Tensor],
    encoder: torch.nn.Module,
    prototypes: torch.nn.Module,
    optimiser: torch.optim.Optimizer,
) -> None:
    """Put gathered state back."""
    try:
        encoder.load_state_dict(_under(tensors, "encoder."))
        prototypes.load_state_dict(_under(tensors, "prototypes."))
    except RuntimeError as error:
        raise ArtifactError(f"The checkpoint does not fit this network: {error}") from error
    moments: dict[int, dict[str, Tensor]] = {}
    for name, value in _under(tensors, "optimiser.").items():
        index, key = name.split(".", 1)
        moments.setdefault(int(index), {})[key] = value
    optimiser.load_state_dict({"state": moments, "param_groups": optimiser.state_dict()["param_groups"]})


def write(folder: str | Path, checkpoint: Checkpoint) -> Path:
    """Write a checkpoint in one step: a crash or a full disk leaves the previous one intact."""
    path = Path(folder) / FILE
    header = {
        "format": FORMAT,
        "epoch": checkpoint.epoch,
        "config": checkpoint.config.to_json(),
        "history": checkpoint.history.to_json(),
        "data": checkpoint.data,
    }
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as temporary:
            save_file(dict(checkpoint.tensors), temporary, metadata={"graphglass": json.dumps(header)})
    except (OSError, SafetensorError) as error:
        raise ArtifactError(
            f"The checkpoint {path} could not be written: {error}. Check space and permissions."
        ) from error
    return path


def read(folder: str | Path) -> Checkpoint | None:
    """The checkpoint of a folder, or None if there is none yet."""
    path = Path(folder) / FILE
    if not path.exists():
        return None
    try:
        with safe_open(path, framework="pt") as file:
            header: dict[str, Any] = json.loads(file.metadata()["graphglass"])
            tensors = {name: file.get_tensor(name) for name in file.keys()}
        if header["format"] != FORMAT:
            raise ArtifactError(
                f"The checkpoint {path} has format {header['format']}, expected {FORMAT}. Train again without resume."
            )
        return Checkpoint(
            epoch=int(header["epoch"]),
            tensors=tensors,
            config=TrainingConfig.from_json(header["config"]),
            history=TrainingHistory.from_json(header["history"]),
            data=str(header["data"]),
        )
    except (OSError, SafetensorError, KeyError, TypeError, ValueError) as error:
        if isinstance(error, ArtifactError):
            raise
        raise ArtifactError(f"The checkpoint {path} cannot be read ({error}). Remove it and train again.") from error


def _under(tensors: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}
