"""Return probabilities of random walks: the structural view of the GOOD-D lineage."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphglass.kernel import kernel

_BLOCK = 16  # start nodes walked together, so that the inner loop runs over contiguous memory


def return_probabilities(
    node_offsets: NDArray[np.int64],
    neighbour_offsets: NDArray[np.int64],
    neighbours: NDArray[np.int32],
    steps: int,
) -> NDArray[np.float32]:
    r"""The chance that a random walk is back at its start after 1..``steps`` steps, (nodes, steps).

    With :math:`P = D^{-1} A`, column :math:`k` is :math:`\operatorname{diag}(P^k)`. The symmetric
    :math:`N = D^{-1/2} A D^{-1/2}` has the same diagonal, and
    :math:`(N^{a+b})_{ii} = \langle N^a e_i, N^b e_i \rangle`, so half the steps are enough.
    Exact for every graph; memory is that of one graph's block of walks.
    """
    scale = 1.0 / np.sqrt(np.maximum(np.diff(neighbour_offsets), 1))
    return np.asarray(_walk(node_offsets, neighbour_offsets, neighbours, scale, steps), dtype=np.float32)


@kernel
def _walk(node_offsets: Any, neighbour_offsets: Any, neighbours: Any, scale: Any, steps: int) -> Any:
    out = np.zeros((node_offsets[-1], steps))
    for graph in range(len(node_offsets) - 1):
        first, last = node_offsets[graph], node_offsets[graph + 1]
        size = last - first
        here, there = np.zeros((size, _BLOCK)), np.zeros((size, _BLOCK))
        for start in range(0, size, _BLOCK):
            block = min(_BLOCK, size - start)
            here[:] = 0.0
            for b in range(block):
                here[start + b, b] = 1.0
            for half in range((steps + 1) // 2):
                for node in range(size):
                    row = first + node
                    total = there[node]
                    total[:] = 0.0
                    for end in range(neighbour_offsets[row], neighbour_offsets[row + 1]):
                        other = neighbours[end]
                        weight = scale[row] * scale[first + other]
                        source = here[other]
                        for b in range(_BLOCK):
                            total[b] += weight * source[b]
                odd, even = 2 * half, 2 * half + 1  # columns of walks with 2 half + 1 and 2 half + 2 steps
                for node in range(size):
                    for b in range(block):
                        out[first + start + b, odd] += here[node, b] * there[node, b]
                        if even < steps:
                            out[first + start + b, even] += there[node, b] * there[node, b]
                here, there = there, here
    return out
