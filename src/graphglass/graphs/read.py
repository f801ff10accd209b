"""read_graphs: one way in for every format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from graphglass.errors import FormatError
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.limits import DEFAULT_LIMITS, Limits
from graphglass.graphs.rejects import ReadResult, logger
from graphglass.graphs.tu import read_tu_report


def read_graphs(source: Any, *, strict: bool = False, limits: Limits = DEFAULT_LIMITS, cache: bool = True) -> GraphSet:
    """Read graphs from a path or from objects in memory; see :func:`read_report`."""
    result = read_report(source, strict=strict, limits=limits, cache=cache)
    if result.rejects:
        logger.warning("%s", result.summary())
    return result.graphs


def read_report(
    source: Any, *, strict: bool = False, limits: Limits = DEFAULT_LIMITS, cache: bool = True
) -> ReadResult:
    """As :func:`read_graphs`, with the records that were left out."""
    if isinstance(source, GraphSet):
        return ReadResult(source)
    path = Path(source)
    if not path.exists():
        raise FormatError(f"{path} does not exist.")
    return read_tu_report(path, strict=strict, limits=limits, cache=cache)
