"""A profile as named columns, as tables and files show it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphglass.structure.profile import AGGREGATE_NAMES, SKETCH_NAMES, StructureProfile

COUNTS = frozenset({"nodes", "edges", "components", "core_max"})


def profile_columns(ids: Sequence[str], measured: StructureProfile) -> dict[str, Any]:
    """Columns id, aggregates, sketch and estimated, in this order; counts are integers."""
    columns: dict[str, Any] = {"id": list(ids)}
    for name, values in zip(AGGREGATE_NAMES, measured.aggregates.T, strict=True):
        columns[name] = values.astype(np.int64) if name in COUNTS else values
    columns |= dict(zip(SKETCH_NAMES, measured.sketch.T, strict=True))
    return columns | {"estimated": measured.estimated}
