"""Many graphs as flat tensors: the batch that the paper's network and the deep baselines both read."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from graphglass.graphs.graph_set import GraphSet


@dataclass(frozen=True, eq=False)
class GraphBatch:
    """Some graphs as one block-diagonal graph."""

    # (nodes, width): node features. Where ``columns`` is given, only the columns that a schema fills are stored.
    features: Tensor
    node_offsets: Tensor  # (graphs + 1,)
    neighbour_offsets: Tensor  # (nodes + 1,)
    # (2 * edges,): neighbour indices counted inside each graph, so any selection of graphs is a few gathers.
    neighbours: Tensor
    # The public column of each stored feature. Columns not listed are zero, which is the paper's zero padding without
    # paying for the zeros.
    columns: Tensor | None = None
    sketch: Tensor | None = None  # spectral sketch of eq:spectral_sketch
    structure: Tensor | None = None  # a second set of node features, of methods that compare two views of a graph

    @classmethod
    def of(cls, graphs: GraphSet, features: Tensor, **parts: Any) -> GraphBatch:
        """The graphs of a set with these features; memory is not shared with the set."""
        offsets, starts, ends = graphs.node_offsets, graphs.neighbour_offsets, graphs.neighbours
        return cls(features, *(torch.from_numpy(array.copy()) for array in (offsets, starts, ends)), **parts)

    def __len__(self) -> int:
        return len(self.node_offsets) - 1

    @cached_property
    def sizes(self) -> Tensor:
        """Nodes per graph, (graphs,)."""
        return self.node_offsets.diff()

    @cached_property
    def ends(self) -> Tensor:
        """Stored neighbour entries (twice the edges) per graph, (graphs,)."""
        return self.neighbour_offsets[self.node_offsets].diff()

    @cached_property
    def degrees(self) -> Tensor:
        """Neighbours per node, int64 (nodes,)."""
        return self.neighbour_offsets.diff()

    @cached_property
    def graph_of(self) -> Tensor:
        """The graph of every node, (nodes,)."""
        return torch.repeat_interleave(self.sizes, output_size=len(self.features))

    @cached_property
    def sources(self) -> Tensor:
        """First node of every stored edge end, ascending, (ends,)."""
        return torch.repeat_interleave(self.degrees, output_size=len(self.neighbours))

    @cached_property
    def targets(self) -> Tensor:
        """Second node of every stored edge end, (ends,)."""
        starts = torch.repeat_interleave(self.node_offsets[:-1], self.ends, output_size=len(self.neighbours))
        return self.neighbours + starts

    @cached_property
    def adjacency(self) -> Tensor:
        """A, block-diagonal sparse CSR (nodes, nodes), entries 1."""
        ones = torch.ones(len(self.neighbours), dtype=self.features.dtype, device=self.features.device)
        return self.matrix(ones)

    @cached_property
    def normalised(self) -> Tensor:
        """The off-diagonal part of (D+I)^-1/2 (A+I) (D+I)^-1/2; its diagonal is 1 / (degree + 1)."""
        root = (self.degrees.to(self.features.dtype) + 1).rsqrt()
        return self.matrix(root[self.sources] * root[self.targets])

    def matrix(self, values: Tensor) -> Tensor:
        """The sparse matrix with ``values`` (ends,) where A has its ones."""
        return csr(self.neighbour_offsets, self.targets, values, len(self.features))

    def take(self, graphs: Tensor) -> GraphBatch:
        """The chosen graphs in the given order."""
        sizes = self.sizes[graphs]
        nodes = _ranges(self.node_offsets[:-1][graphs], sizes)
        starts = self.neighbour_offsets[self.node_offsets[:-1][graphs]]
        return GraphBatch(
            features=self.features[nodes],
            node_offsets=_offsets(sizes),
            neighbour_offsets=_offsets(self.degrees[nodes]),
            neighbours=self.neighbours[_ranges(starts, self.ends[graphs])],
            columns=self.columns,
            sketch=None if self.sketch is None else self.sketch[graphs],
            structure=None if self.structure is None else self.structure[nodes],
        )

    def keep_edges(self, kept: Tensor) -> GraphBatch:
        """The batch with only the ends where ``kept`` (ends,) is true; the caller keeps both directions or none."""
        count = torch.bincount(self.sources[kept], minlength=len(self.features))
        return replace(self, neighbour_offsets=_offsets(count), neighbours=self.neighbours[kept])

    def double(self) -> GraphBatch:
        """The same graphs in double precision."""
        sketch = None if self.sketch is None else self.sketch.double()
        return replace(self, features=self.features.double(), sketch=sketch)

    def to(self, device: torch.device | str) -> GraphBatch:
        """The same graphs on another device."""
        parts = {item.name: getattr(self, item.name) for item in fields(self)}
        return replace(self, **{name: part.to(device) for name, part in parts.items() if part is not None})

    def cost(self) -> NDArray[np.int64]:
        """Rows of work per graph: its nodes plus both ends of its edges, (graphs,)."""
        return (self.sizes + self.ends).cpu().numpy()

    def pieces(self, budget: int, chosen: NDArray[np.int64] | None = None) -> Iterator[tuple[Tensor, GraphBatch]]:
        """All graphs, or the chosen ones, in order: their indices and batches of bounded cost."""
        order = np.arange(len(self)) if chosen is None else chosen
        for part in budget_batches(order, self.cost(), graphs=1024, budget=budget):
            graphs = torch.from_numpy(part).to(self.features.device)
            yield graphs, self.take(graphs)


def join_batches(parts: Sequence[GraphBatch]) -> GraphBatch:
    """Graphs of several domains as one set; each domain keeps its public columns, the others are zero there."""
    if len(parts) == 1:
        return parts[0]
    columns = torch.unique(torch.cat([part.columns for part in parts if part.columns is not None]))
    features = []
    for part in parts:
        assert part.columns is not None
        wide = part.features.new_zeros(len(part.features), len(columns))
        wide[:, torch.searchsorted(columns, part.columns)] = part.features
        features.append(wide)
    return GraphBatch(
        features=torch.cat(features),
        node_offsets=_offsets(torch.cat([part.sizes for part in parts])),
        neighbour_offsets=_offsets(torch.cat([part.degrees for part in parts])),
        neighbours=torch.cat([part.neighbours for part in parts]),
        columns=columns,
        sketch=torch.cat([part.sketch for part in parts if part.sketch is not None]),
    )


def csr(starts: Tensor, columns: Tensor, values: Tensor, width: int) -> Tensor:
    """A sparse matrix of shape (len(starts) - 1, width)."""
    with warnings.catch_warnings():
        # torch announces once per process that its CSR layout may change.
        warnings.filterwarnings("ignore", message=".*[Ss]parse.*")
        rows, columns = starts.to(torch.int32), columns.to(torch.int32)
        size = (len(starts) - 1, width)
        return torch.sparse_csr_tensor(rows, columns, values, size=size, check_invariants=False)


def budget_batches(
    order: NDArray[np.int64], cost: NDArray[np.int64], *, graphs: int, budget: int
) -> list[NDArray[np.int64]]:
    """Cut an order of graphs into runs of at most ``graphs`` graphs and ``budget`` cost.

    A graph that exceeds the budget forms its own run, so memory is bounded by the budget or the largest graph.
    """
    reached = np.cumsum(cost[order])
    batches, start = [], 0
    while start < len(order):
        spent = reached[start - 1] if start else 0
        stop = int(np.searchsorted(reached, spent + budget, side="right"))
        stop = max(start + 1, min(stop, start + graphs))
        batches.append(order[start:stop])
        start = stop
    return batches


def epoch_batches(
    cost: NDArray[np.int64], *, graphs: int, budget: int, seed: int, epoch: int
) -> list[NDArray[np.int64]]:
    """The shuffled batches of one epoch.

    The shuffle is a function of (seed, epoch) alone, so training resumes at any epoch without stored random state. A
    last batch of a single graph joins the one before it: batch statistics need more than one graph.
    """
    order = np.random.default_rng([seed, epoch]).permutation(len(cost))
    batches = budget_batches(order, cost, graphs=graphs, budget=budget)
    if len(batches) > 1 and len(batches[-1]) == 1 and cost[batches[-1]].sum() + cost[batches[-2]].sum() <= 2 * budget:
        last = batches.pop()
        batches[-1] = np.concatenate([batches[-1], last])
    return batches


def _offsets(lengths: Tensor) -> Tensor:
    return torch.cat([lengths.new_zeros(1), lengths.cumsum(0)])


def _ranges(starts: Tensor, lengths: Tensor) -> Tensor:
    """The integers of many half-open ranges, one after another."""
    shift = starts - lengths.cumsum(0) + lengths
    total = int(lengths.sum())
    return torch.arange(total, device=starts.device) + torch.repeat_interleave(shift, lengths, output_size=total)
