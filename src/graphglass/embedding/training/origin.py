"""The origin of a trained number: initial weights and settings, as one digest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from torch import nn


def training_origin(untrained: nn.Module, settings: Mapping[str, Any]) -> str:
    """sha256 over the initial weights and everything else that decides how they are trained.

    A record that carries it can be checked without training: code that draws other weights for the same seed, or trains
    them with other settings, gives another digest.

    Parameters
    ----------
    untrained : Module
        The network before the first step.
    settings : mapping
        Plain JSON values.
    """
    total = hashlib.sha256(json.dumps(settings, sort_keys=True).encode())
    for name, value in sorted(untrained.state_dict().items()):
        total.update(name.encode())
        total.update(np.ascontiguousarray(value.detach().cpu().numpy()).tobytes())
    return total.hexdigest()
