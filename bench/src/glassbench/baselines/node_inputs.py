"""What a node looks like to a deep baseline: labels, attributes, degrees, and the structural view."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from graphglass.errors import SchemaError
from graphglass.glass.network.graph_batch import GraphBatch
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.labels import columns_of
from graphglass.kernel import kernel

DEGREE_BUCKETS = 32
_BLOCK = 16  # start nodes of walks taken together: the inner loop then runs over contiguous memory


@dataclass(frozen=True)
class InputSchema:
    """What a node looks like to a network, learned from the training graphs.

    Node labels are one-hot with one spare column for labels not seen in training. Without labels, attributes are
    standardised; without both, a node is its degree bucket or the constant 1 (the choice of the original method).
    Methods with ``joined`` read labels and attributes side by side.
    """

    labels: tuple[int, ...] | None
    centre: tuple[float, ...] = ()
    scale: tuple[float, ...] = ()
    unlabelled: Literal["degree", "constant"] = "degree"
    walks: int = 0

    @classmethod
    def of(
        cls, graphs: GraphSet, unlabelled: Literal["degree", "constant"], walks: int, *, joined: bool = False
    ) -> Self:
        labels = None
        if graphs.node_labels is not None:
            labels = tuple(int(v) for v in np.unique(graphs.node_labels))
        if graphs.attributes is None or (labels is not None and not joined):
            return cls(labels, (), (), unlabelled, walks)
        values = graphs.attributes.astype(np.float64)
        centre, spread = values.mean(axis=0), values.std(axis=0)
        scale = np.where(spread > 1e-9 * (1 + np.abs(centre)), spread, 1.0)
        return cls(labels, tuple(map(float, centre)), tuple(map(float, scale)), unlabelled, walks)

    @property
    def width(self) -> int:
        """Columns of the feature view."""
        if self.labels is None and not self.centre:
            return DEGREE_BUCKETS if self.unlabelled == "degree" else 1
        return len(self.centre) + (0 if self.labels is None else len(self.labels) + 1)

    @property
    def structure_width(self) -> int:
        """Columns of the structural view: return probabilities and degree buckets, 0 where it is not used."""
        return self.walks + DEGREE_BUCKETS if self.walks else 0

    def features(self, graphs: GraphSet) -> Tensor:
        """The feature view, (nodes, width)."""
        parts = []
        if self.labels is not None:
            if graphs.node_labels is None:
                raise SchemaError("The method was fitted on graphs with node labels; these graphs have none.")
            parts.append(_one_hot(columns_of(graphs.node_labels, np.asarray(self.labels)), len(self.labels) + 1))
        if self.centre:
            found = 0 if graphs.attributes is None else graphs.attributes.shape[1]
            if graphs.attributes is None or found != len(self.centre):
                raise SchemaError(f"The method was fitted on {len(self.centre)} attributes per node, found {found}.")
            parts.append(torch.from_numpy(((graphs.attributes - self.centre) / self.scale).astype(np.float32)))
        if parts:
            return torch.cat(parts, dim=1)
        if self.unlabelled == "constant":
            return torch.ones(graphs.node_count, 1)
        return _one_hot(degree_bucket(np.diff(graphs.neighbour_offsets)), DEGREE_BUCKETS)


def degree_bucket(degrees: NDArray[np.int64]) -> NDArray[np.int64]:
    """Degrees below 16 as they are, larger ones in half octaves, the last bucket open: hubs stay finite."""
    octave = 16 + np.floor(2 * np.log2(np.maximum(degrees, 16) / 16)).astype(np.int64)
    return np.where(degrees < 16, degrees, np.minimum(octave, DEGREE_BUCKETS - 1))


def _one_hot(codes: NDArray[np.int64], width: int) -> Tensor:
    out = torch.zeros(len(codes), width)
    out[torch.arange(len(codes)), torch.from_numpy(codes)] = 1.0
    return out


def graph_batch(graphs: GraphSet, schema: InputSchema) -> GraphBatch:
    """All graphs of a set as the networks read them."""
    structure = None
    if schema.walks:
        walks = return_probabilities(graphs.node_offsets, graphs.neighbour_offsets, graphs.neighbours, schema.walks)
        buckets = _one_hot(degree_bucket(np.diff(graphs.neighbour_offsets)), DEGREE_BUCKETS)
        structure = torch.cat([torch.from_numpy(walks), buckets], dim=1)
    return GraphBatch.of(graphs, schema.features(graphs), structure=structure)


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
