"""Adjacency matrices: SciPy sparse, or square NumPy arrays."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from graphglass.errors import GraphError
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.readers.options import ReadOptions
from graphglass.graphs.readers.record import Record, read_each


def read_matrices(matrices: Iterable[tuple[int, Any]], options: ReadOptions) -> GraphSet:
    """Every entry other than zero is an edge from its row to its column, and its value the edge attribute ``weight``.

    A matrix that is not symmetric is directed, unless `directed` says otherwise. Weights that are all 1 are left out.
    Graphs are called ``graph-0``, ``graph-1``, ...
    """

    def record(matrix: Any, position: int, name: str) -> Record:
        if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
            raise GraphError(f"an adjacency matrix is square, found shape {tuple(matrix.shape)}")
        if excess := options.limits.graph_excess(matrix.shape[0], getattr(matrix, "nnz", 0)):
            raise GraphError(excess)
        entries = sparse.coo_array(matrix)
        if not np.isfinite(entries.data).all():
            raise GraphError("the adjacency matrix holds NaN or infinite entries")
        some = entries.data != 0
        sources, targets = (ends[some].astype(np.int64) for ends in entries.coords)
        weights = entries.data[some].astype(np.float64)[:, None]
        square = sparse.csr_array((weights[:, 0], (sources, targets)), shape=matrix.shape)
        symmetric = not (square != square.T).nnz
        return Record(
            position, name, matrix.shape[0], sources, targets,
            edge_attributes=weights, edge_attribute_names=("weight",), directed=not symmetric, listed_once=False,
        )  # fmt: skip

    built = read_each(matrices, lambda matrix: None, record, options)
    if built.edge_attribute_names == ("weight",) and (built.edge_attributes == 1).all():  # type: ignore[union-attr]
        return replace(built, edge_attributes=None, edge_attribute_names=())
    return built
