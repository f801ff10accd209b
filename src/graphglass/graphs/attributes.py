"""Attributes of nodes and edges as columns that channels read."""

from __future__ import annotations

from functools import cache
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from graphglass.graphs.graph_schema import counted_names, with_edge_attributes
from graphglass.graphs.graph_set import GraphSet
from graphglass.kernel import kernel

Real = TypeVar("Real", np.float32, np.float64)

WIDEST = 64  # columns that are read one by one; more are mixed into this many


def attribute_columns(graphs: GraphSet) -> NDArray[np.float64]:
    """The attributes of every node, (nodes, at most WIDEST); no columns if the graphs have none."""
    if graphs.attributes is None:
        return np.zeros((graphs.node_count, 0))
    return narrow(graphs.attributes.astype(np.float64))


def edge_numbers(graphs: GraphSet) -> NDArray[np.float64]:
    """The attributes of every stored end, ``count`` last, (ends, attributes); every edge has a count, 1 by default.

    No columns for an undirected set without edge attributes.
    """
    names = counted_names(graphs)
    if not names:
        return np.zeros((len(graphs.neighbours), 0))
    return np.asarray(with_edge_attributes(graphs, names).edge_attributes)


def narrow(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mix more than WIDEST columns into WIDEST, by orthonormal directions that depend on nothing but their number.

    Distances between nodes keep their order of size; covariances of hundreds of columns, which a few hundred graphs
    cannot estimate anyway, are never formed.
    """
    width = values.shape[1]
    return values if width <= WIDEST else rows_times(values, _directions(width))


@cache
def _directions(width: int) -> NDArray[np.float64]:
    """(width, WIDEST), scaled so squared lengths are kept on average."""
    basis = np.linalg.qr(np.random.default_rng(width).standard_normal((width, WIDEST)))[0]
    return np.ascontiguousarray(basis * (width / WIDEST) ** 0.5)


@kernel
def rows_times(table: NDArray[Real], matrix: NDArray[Real]) -> NDArray[Real]:
    """The product, every row by itself: a library product may round a row differently in another batch."""
    out = np.zeros((len(table), matrix.shape[1]), table.dtype)
    inner = matrix.shape[0]
    whole = inner - inner % 4
    for i in range(len(table)):
        for j in range(0, whole, 4):  # four terms for each time that a sum is loaded and stored
            one, two, three, four = table[i, j], table[i, j + 1], table[i, j + 2], table[i, j + 3]
            for c in range(matrix.shape[1]):
                total = out[i, c] + one * matrix[j, c]
                total = total + two * matrix[j + 1, c]
                total = total + three * matrix[j + 2, c]
                out[i, c] = total + four * matrix[j + 3, c]
        for j in range(whole, inner):
            for c in range(matrix.shape[1]):
                out[i, c] += table[i, j] * matrix[j, c]
    return out
