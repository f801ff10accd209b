"""What the graph encoder reads: node features in public columns, adjacency and spectral sketch as flat tensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from graphglass.embedding.network.schema import FeatureSchema
from graphglass.errors import SchemaError
from graphglass.graphs.graph_set import GraphSet
from graphglass.structure.profile import StructureProfile

__all__ = ["FeatureSchema", "GraphInputs", "graph_inputs", "join_inputs", "standardise_within"]


@dataclass(frozen=True, eq=False)
class GraphInputs:
    """Many graphs as the network reads them.

    Attributes
    ----------
    features : float32 (nodes, used)
        Normalised node features; only columns that the schema fills are stored.
    columns : int64 (used,)
        The public column of each stored feature. Columns not listed are zero, which is the paper's zero padding
        without paying for the zeros.
    node_offsets : int64 (graphs + 1,)
    neighbour_offsets : int64 (nodes + 1,)
    neighbours : int32 (2 * edges,)
        Neighbour indices counted inside each graph, so that any selection of graphs is a few gathers.
    sketch : float32 (graphs, 11)
        Spectral sketch of eq:spectral_sketch.
    """

    features: Tensor
    columns: Tensor
    node_offsets: Tensor
    neighbour_offsets: Tensor
    neighbours: Tensor
    sketch: Tensor

    def __len__(self) -> int:
        return len(self.node_offsets) - 1

    @property
    def sizes(self) -> Tensor:
        """Nodes per graph, (graphs,)."""
        return self.node_offsets.diff()

    @property
    def ends(self) -> Tensor:
        """Stored neighbour entries (twice the edges) per graph, (graphs,)."""
        return self.neighbour_offsets[self.node_offsets].diff()

    def take(self, graphs: Tensor) -> GraphInputs:
        """The chosen graphs in the given order."""
        sizes = self.sizes[graphs]
        nodes = _ranges(self.node_offsets[:-1][graphs], sizes)
        degrees = self.neighbour_offsets.diff()[nodes]
        starts = self.neighbour_offsets[self.node_offsets[:-1][graphs]]
        return GraphInputs(
            features=self.features[nodes],
            columns=self.columns,
            node_offsets=_offsets(sizes),
            neighbour_offsets=_offsets(degrees),
            neighbours=self.neighbours[_ranges(starts, self.ends[graphs])],
            sketch=self.sketch[graphs],
        )

    def double(self) -> GraphInputs:
        """The same inputs in double precision."""
        return replace(self, features=self.features.double(), sketch=self.sketch.double())

    def to(self, device: torch.device | str) -> GraphInputs:
        """The same inputs on another device."""
        return GraphInputs(
            self.features.to(device),
            self.columns.to(device),
            self.node_offsets.to(device),
            self.neighbour_offsets.to(device),
            self.neighbours.to(device),
            self.sketch.to(device),
        )


def graph_inputs(graphs: GraphSet, profile: StructureProfile, schema: FeatureSchema) -> GraphInputs:
    """Canonical node features of eq:canon before the MLP, with what the rest of the network reads.

    Per node the vector [LTD; one-hot node label; attributes] is normalised as the schema says and placed in the
    schema's public columns.
    """
    if len(graphs) != len(profile) or not np.array_equal(graphs.node_offsets, profile.node_offsets):
        raise SchemaError(
            f"The structure profile must describe the same graphs: found {len(graphs)} graphs with "
            f"{graphs.node_count} nodes and a profile of {len(profile)} graphs. Profile these graphs first."
        )
    layout = schema.layout(graphs)
    labels, attributes = schema.one_hot(graphs), schema.attribute_values(graphs)
    views: list[NDArray[np.float32]] = []
    columns: list[NDArray[np.int64]] = []
    if schema.normalisation in ("graph", "both"):
        raw = np.concatenate([profile.descriptors, labels, attributes], axis=1)
        views.append(standardise_within(raw, graphs.node_offsets).astype(np.float32))
        columns.append(layout.all)
    if schema.normalisation in ("reference", "both"):
        second = schema.width if schema.normalisation == "both" else 0
        views.append(schema.reference_view(profile.descriptors, labels, attributes).astype(np.float32))
        columns.append(layout.reference + second)
    return GraphInputs(
        features=torch.from_numpy(np.concatenate(views, axis=1)),
        columns=torch.from_numpy(np.concatenate(columns)),
        node_offsets=torch.from_numpy(graphs.node_offsets.copy()),
        neighbour_offsets=torch.from_numpy(graphs.neighbour_offsets.copy()),
        neighbours=torch.from_numpy(graphs.neighbours.copy()),
        sketch=torch.from_numpy(profile.sketch.astype(np.float32)),
    )


def join_inputs(parts: Sequence[GraphInputs]) -> GraphInputs:
    """Inputs of several domains as one set; each domain keeps its public columns, the others read zero there."""
    if len(parts) == 1:
        return parts[0]
    columns = torch.unique(torch.cat([part.columns for part in parts]))
    features = []
    for part in parts:
        wide = part.features.new_zeros(len(part.features), len(columns))
        wide[:, torch.searchsorted(columns, part.columns)] = part.features
        features.append(wide)
    return GraphInputs(
        features=torch.cat(features),
        columns=columns,
        node_offsets=_offsets(torch.cat([part.sizes for part in parts])),
        neighbour_offsets=_offsets(torch.cat([part.neighbour_offsets.diff() for part in parts])),
        neighbours=torch.cat([part.neighbours for part in parts]),
        sketch=torch.cat([part.sketch for part in parts]),
    )


def standardise_within(values: NDArray[np.float64], node_offsets: NDArray[np.int64]) -> NDArray[np.float64]:
    """znorm_G of eq:canon: zero mean, unit deviation over the nodes of each graph; a constant column becomes zero."""
    if len(values) == 0:
        return values
    starts, sizes = node_offsets[:-1], np.diff(node_offsets)
    mean = np.add.reduceat(values, starts, axis=0) / sizes[:, None]
    centred = values - np.repeat(mean, sizes, axis=0)
    deviation = np.sqrt(np.add.reduceat(centred**2, starts, axis=0) / sizes[:, None])
    # Rounding leaves a constant column with a deviation of about 1e-16 of its size; that is not a signal.
    constant = deviation <= 1e-9 * (1.0 + np.abs(mean))
    scale = np.where(constant, 0.0, 1.0 / np.where(constant, 1.0, deviation))
    centred *= np.repeat(scale, sizes, axis=0)
    return centred


def _offsets(lengths: Tensor) -> Tensor:
    return torch.cat([lengths.new_zeros(1), lengths.cumsum(0)])


def _ranges(starts: Tensor, lengths: Tensor) -> Tensor:
    """The integers of many half-open ranges, one after another."""
    shift = starts - lengths.cumsum(0) + lengths
    total = int(lengths.sum())
    return torch.arange(total, device=starts.device) + torch.repeat_interleave(shift, lengths, output_size=total)
