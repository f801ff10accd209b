"""One 64-bit hash for all kernels, and random-looking numbers that follow a node's role, not its index."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from graphglass.kernel import Counts, Ends, kernel

ROUNDS = 3


@kernel
def spread_bits(x: np.uint64) -> np.uint64:
    """A bijection of 64-bit words in which every input bit changes about half of the output (splitmix64 finaliser)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def spread_all(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """:func:`spread_bits` of every word of an array, without compiling anything."""
    return cast(NDArray[np.uint64], cast(Any, spread_bits).function(words))


@kernel
def mix(value: np.uint64) -> np.uint64:
    """A 64-bit value that looks random, the same for equal inputs."""
    return spread_bits(value * np.uint64(0x9E3779B97F4A7C15) + np.uint64(0x632BE59BD9B4E019))


@kernel
def empty_table(n: int) -> Counts:
    """Room for ``n`` entries of :func:`find`, at most half full; 0 is a free place."""
    size = 2
    while size < 2 * n:
        size *= 2
    return np.zeros(size, np.int64)


@kernel
def find(table: Counts, keys: NDArray[np.uint64], v: int) -> int:
    """The first node entered with the key of ``v``; enters ``v`` if there is none."""
    mask = len(table) - 1
    place = np.int64(keys[v] >> np.uint64(1)) & mask
    while table[place] > 0 and keys[table[place] - 1] != keys[v]:
        place = (place + 1) & mask
    if table[place] == 0:
        table[place] = v + 1
    return int(table[place] - 1)


@kernel
def structural_keys(indptr: Counts, neighbours: Ends) -> NDArray[np.uint64]:
    """A distinct random-looking key per node from degrees around it (three rounds of colour refinement).

    Renumbering the nodes permutes the keys. Only nodes that refinement cannot distinguish are ordered by their index,
    so whatever is drawn from the keys has the same law in any order, and the same value where all nodes differ.
    """
    n = len(indptr) - 1
    key, seen = np.empty(n, np.uint64), np.empty(n, np.uint64)
    for v in range(n):
        key[v] = mix(np.uint64(indptr[v + 1] - indptr[v]))
    for _ in range(ROUNDS):
        key, seen = seen, key
        for v in range(n):
            total = seen[v] * np.uint64(3)
            for e in range(indptr[v], indptr[v + 1]):
                total += mix(seen[neighbours[e]])
            key[v] = mix(total)
    table = empty_table(n)
    alike = np.zeros(n, np.uint64)
    for v in range(n):
        first = find(table, key, v)
        seen[v] = mix(key[v] + alike[first])
        alike[first] += np.uint64(1)
    return seen
