"""Adjacency matrices: SciPy sparse, or square NumPy arrays."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy import sparse

from graphglass.errors import GraphError
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.readers.options import ReadOptions
from graphglass.graphs.readers.record import Record


def read_matrices(matrices: Iterable[tuple[int, Any]], options: ReadOptions) -> GraphSet:
    """Every entry other than zero is an edge; its value is not used. Graphs are called ``graph-0``, ``graph-1``, ..."""
    records = options.records()
    for position, matrix in matrices:
        name = f"graph-{position}"
        try:
            records.add(_record(matrix, position, name, options))
        except GraphError as error:
            options.log.add(position, name, str(error))
    return records.build()


def _record(matrix: Any, position: int, name: str, options: ReadOptions) -> Record:
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise GraphError(f"an adjacency matrix is square, found shape {tuple(matrix.shape)}")
    if excess := options.limits.graph_excess(matrix.shape[0], getattr(matrix, "nnz", 0)):
        raise GraphError(excess)
    entries = sparse.coo_array(matrix)
    if not np.isfinite(entries.data).all():
        raise GraphError("the adjacency matrix holds NaN or infinite entries")
    some = entries.data != 0
    sources, targets = (ends[some].astype(np.int64) for ends in entries.coords)
    return Record(position, name, matrix.shape[0], sources, targets, directed=True)
