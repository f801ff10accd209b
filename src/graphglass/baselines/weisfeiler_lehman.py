"""Weisfeiler-Lehman colours as stable 64-bit codes, so that a graph's histogram never depends on other graphs."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from graphglass.graphs import GraphSet

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_START = np.uint64(0xD1B54A32D192ED03)
_S30, _S27, _S31 = np.uint64(30), np.uint64(27), np.uint64(31)


def start_codes(graphs: GraphSet, start: str = "labels") -> NDArray[np.uint64]:
    """The code of each node before the first round, (nodes,).

    Parameters
    ----------
    start : {"labels", "degree", "constant"}
        Node labels where the set has them ("labels" falls back to a constant), the degree, or one code for all.
    """
    if start == "labels" and graphs.node_labels is not None:
        return graphs.node_labels.astype(np.int64).view(np.uint64)
    if start == "degree":
        return np.diff(graphs.neighbour_offsets).astype(np.int64).view(np.uint64)
    return np.zeros(graphs.node_count, np.uint64)


def colours(graphs: GraphSet, rounds: int = 3, start: str = "labels") -> NDArray[np.uint64]:
    """Weisfeiler-Lehman colours after 0..rounds refinements, (rounds + 1, nodes).

    A round gives each node a hash of its colour and of the multiset of its neighbours' colours; two nodes share a code
    exactly when their depth-`rounds` subtrees agree, up to 64-bit collisions. Rounds are salted, so their codes differ.
    """
    return _refine(graphs.neighbour_offsets, graphs.global_neighbours, start_codes(graphs, start), rounds)


@njit(cache=True, inline="always")
def _mix(value):  # type: ignore[no-untyped-def]
    """The finaliser of splitmix64: a bijection on 64-bit words that scatters every input bit."""
    value = (value ^ (value >> _S30)) * _FIRST
    value = (value ^ (value >> _S27)) * _SECOND
    return value ^ (value >> _S31)


@njit(cache=True)
def _refine(offsets, neighbours, start, rounds):  # type: ignore[no-untyped-def]
    nodes = len(start)
    result = np.empty((rounds + 1, nodes), np.uint64)
    for v in range(nodes):
        result[0, v] = _mix(start[v] ^ _START)  # apart from every salt below, or a label could cancel one
    scattered = np.empty(nodes, np.uint64)
    for r in range(1, rounds + 1):
        salt = _mix(np.uint64(r) * _GOLDEN)
        for v in range(nodes):
            scattered[v] = _mix(result[r - 1, v] ^ salt)
        for v in range(nodes):
            # A sum modulo 2^64 of scattered codes identifies the multiset whatever the order of the neighbours.
            total = np.uint64(0)
            for e in range(offsets[v], offsets[v + 1]):
                total += scattered[neighbours[e]]
            result[r, v] = _mix(_mix(result[r - 1, v] + salt) * _GOLDEN + total)
    return result
