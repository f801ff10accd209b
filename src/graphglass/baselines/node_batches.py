"""Flat tensors of many graphs, and the sparse batches the deep baselines train on."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from graphglass.baselines.walks import return_probabilities
from graphglass.errors import SchemaError
from graphglass.graphs.graph_set import GraphSet

DEGREE_BUCKETS = 32
NODES_PER_BATCH = 30_000  # when scoring; bounds memory whatever the graphs' sizes


@dataclass(frozen=True)
class InputSchema:
    """What a node looks like to a network, learned from the training graphs.

    Node labels are one-hot with one spare column for labels not seen in training. Without labels, attributes are
    standardised; without both, a node is its degree bucket or the constant 1 (the choice of the original method).
    """

    labels: tuple[int, ...] | None
    centre: tuple[float, ...] = ()
    scale: tuple[float, ...] = ()
    unlabelled: Literal["degree", "constant"] = "degree"
    walks: int = 0

    @classmethod
    def of(cls, graphs: GraphSet, unlabelled: Literal["degree", "constant"], walks: int) -> Self:
        if graphs.node_labels is not None:
            return cls(tuple(int(v) for v in np.unique(graphs.node_labels)), (), (), unlabelled, walks)
        if graphs.attributes is None:
            return cls(None, (), (), unlabelled, walks)
        values = graphs.attributes.astype(np.float64)
        centre, spread = values.mean(axis=0), values.std(axis=0)
        scale = np.where(spread > 1e-9 * (1 + np.abs(centre)), spread, 1.0)
        return cls(None, tuple(map(float, centre)), tuple(map(float, scale)), unlabelled, walks)

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Self:
        labels = None if value["labels"] is None else tuple(value["labels"])
        return cls(labels, tuple(value["centre"]), tuple(value["scale"]), value["unlabelled"], value["walks"])

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def width(self) -> int:
        """Columns of the feature view."""
        if self.labels is not None:
            return len(self.labels) + 1
        if self.centre:
            return len(self.centre)
        return DEGREE_BUCKETS if self.unlabelled == "degree" else 1

    @property
    def structure_width(self) -> int:
        """Columns of the structural view: return probabilities and degree buckets, 0 where it is not used."""
        return self.walks + DEGREE_BUCKETS if self.walks else 0

    def features(self, graphs: GraphSet) -> Tensor:
        """The feature view, (nodes, width)."""
        if self.labels is not None:
            if graphs.node_labels is None:
                raise SchemaError("The method was fitted on graphs with node labels; these graphs have none.")
            known = np.asarray(self.labels)
            place = np.searchsorted(known, graphs.node_labels).clip(max=len(known) - 1)
            return _one_hot(np.where(known[place] == graphs.node_labels, place, len(known)), self.width)
        if self.centre:
            found = 0 if graphs.attributes is None else graphs.attributes.shape[1]
            if graphs.attributes is None or found != len(self.centre):
                raise SchemaError(f"The method was fitted on {len(self.centre)} attributes per node, found {found}.")
            return torch.from_numpy(((graphs.attributes - self.centre) / self.scale).astype(np.float32))
        if self.unlabelled == "constant":
            return torch.ones(graphs.node_count, 1)
        return _one_hot(degree_bucket(np.diff(graphs.neighbour_offsets)), DEGREE_BUCKETS)


def degree_bucket(degrees: NDArray[np.int64]) -> NDArray[np.int64]:
    """Degrees below 16 as they are, larger ones in half octaves, the last bucket open, so that hubs stay finite."""
    octave = 16 + np.floor(2 * np.log2(np.maximum(degrees, 16) / 16)).astype(np.int64)
    return np.where(degrees < 16, degrees, np.minimum(octave, DEGREE_BUCKETS - 1))


def _one_hot(codes: NDArray[np.int64], width: int) -> Tensor:
    out = torch.zeros(len(codes), width)
    out[torch.arange(len(codes)), torch.from_numpy(codes)] = 1.0
    return out


@dataclass(frozen=True)
class Batch:
    """Some graphs as one block-diagonal sparse graph.

    Attributes
    ----------
    features : (nodes, width)
    structure : (nodes, structure_width) or None
    offsets : int64 (graphs + 1,)
    rows, columns : int64 (ends,)
        Both directions of every edge, sorted by row.
    starts : int32 (nodes + 1,)
        Row starts of ``columns``: the CSR form of the adjacency matrix.
    """

    features: Tensor
    structure: Tensor | None
    offsets: Tensor
    rows: Tensor
    columns: Tensor
    starts: Tensor

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @cached_property
    def sizes(self) -> Tensor:
        return self.offsets.diff()

    @cached_property
    def graph_of(self) -> Tensor:
        """The graph of every node, (nodes,)."""
        return torch.repeat_interleave(torch.arange(len(self)), self.sizes)

    @cached_property
    def degrees(self) -> Tensor:
        return self.starts.diff().to(torch.float32)

    @cached_property
    def adjacency(self) -> Tensor:
        """A, sparse (nodes, nodes)."""
        return self.matrix(torch.ones(len(self.columns)))

    @cached_property
    def normalised(self) -> Tensor:
        """The off-diagonal part of (D+I)^-1/2 (A+I) (D+I)^-1/2; its diagonal is 1 / (degree + 1)."""
        root = (self.degrees + 1).rsqrt()
        return self.matrix(root[self.rows] * root[self.columns])

    def matrix(self, values: Tensor) -> Tensor:
        """The sparse matrix with ``values`` (ends,) where A has its ones."""
        return csr(self.starts, self.columns, values, len(self.degrees))

    def keep_edges(self, kept: Tensor) -> Batch:
        """The batch with only the ends where ``kept`` (ends,) is true; the caller keeps both directions or none."""
        count = torch.bincount(self.rows[kept], minlength=len(self.degrees))
        starts = torch.cat([torch.zeros(1, dtype=torch.int64), count.cumsum(0)]).to(torch.int32)
        return Batch(self.features, self.structure, self.offsets, self.rows[kept], self.columns[kept], starts)


def csr(starts: Tensor, columns: Tensor, values: Tensor, width: int) -> Tensor:
    """A sparse matrix of shape (len(starts) - 1, width)."""
    with warnings.catch_warnings():
        # torch calls its CSR layout beta; only the matrix product is used here.
        warnings.filterwarnings("ignore", message=".*[Ss]parse.*")
        return torch.sparse_csr_tensor(
            starts, columns.to(starts.dtype), values, size=(len(starts) - 1, width), check_invariants=False
        )


class Inputs:
    """Every graph of a set as flat arrays, from which batches are cut by index without a loop over graphs."""

    def __init__(self, graphs: GraphSet, schema: InputSchema) -> None:
        self.node_offsets = graphs.node_offsets
        self.starts = graphs.neighbour_offsets
        self.neighbours = graphs.neighbours
        self.features = schema.features(graphs)
        self.structure: Tensor | None = None
        if schema.walks:
            walks = return_probabilities(graphs.node_offsets, graphs.neighbour_offsets, graphs.neighbours, schema.walks)
            buckets = _one_hot(degree_bucket(np.diff(graphs.neighbour_offsets)), DEGREE_BUCKETS)
            self.structure = torch.cat([torch.from_numpy(walks), buckets], dim=1)

    def __len__(self) -> int:
        return len(self.node_offsets) - 1

    def batch(self, chosen: NDArray[np.int64]) -> Batch:
        """The graphs at ``chosen``, in that order."""
        sizes = np.diff(self.node_offsets)[chosen]
        nodes = _ranges(self.node_offsets[chosen], sizes)
        degrees = np.diff(self.starts)[nodes]
        ends = _ranges(self.starts[nodes], degrees)
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        rows = np.repeat(np.arange(len(nodes)), degrees)
        shift = np.repeat(np.repeat(offsets[:-1], sizes), degrees)
        where = torch.from_numpy(nodes)
        return Batch(
            features=self.features[where],
            structure=None if self.structure is None else self.structure[where],
            offsets=torch.from_numpy(offsets.astype(np.int64)),
            rows=torch.from_numpy(rows),
            columns=torch.from_numpy(self.neighbours[ends] + shift),
            starts=torch.from_numpy(np.concatenate([[0], np.cumsum(degrees)]).astype(np.int32)),
        )

    def in_order(self) -> Iterator[Batch]:
        """All graphs in their order, in batches of bounded size."""
        return self.some(np.arange(len(self)))

    def some(self, chosen: NDArray[np.int64]) -> Iterator[Batch]:
        """The graphs at ``chosen``, as many at a time as hold :data:`NODES_PER_BATCH` nodes, at least one."""
        ends = np.cumsum(np.diff(self.node_offsets)[chosen])
        first, before = 0, 0
        while first < len(chosen):
            last = max(first + 1, int(np.searchsorted(ends, before + NODES_PER_BATCH, side="right")))
            yield self.batch(chosen[first:last])
            first, before = last, int(ends[last - 1])


def _ranges(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """The integers of many half-open ranges, one after another."""
    ends = np.cumsum(lengths)
    return np.arange(ends[-1] if len(ends) else 0) + np.repeat(starts - (ends - lengths), lengths)
