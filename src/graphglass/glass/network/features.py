"""What the paper's network reads: node features in public columns, adjacency and spectral sketch."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from graphglass.errors import SchemaError
from graphglass.glass.network.graph_batch import GraphBatch
from graphglass.glass.network.schema import FeatureSchema
from graphglass.graphs.graph_set import GraphSet
from graphglass.structure.profile import StructureProfile


def graph_inputs(graphs: GraphSet, profile: StructureProfile, schema: FeatureSchema) -> GraphBatch:
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
    scaled: list[NDArray[np.float32]] = []
    columns: list[NDArray[np.int64]] = []
    if schema.normalisation in ("graph", "both"):
        raw = np.concatenate([profile.descriptors, labels, attributes], axis=1)
        scaled.append(standardise_within(raw, graphs.node_offsets).astype(np.float32))
        columns.append(layout.all)
    if schema.normalisation in ("reference", "both"):
        second = schema.width if schema.normalisation == "both" else 0
        scaled.append(schema.reference_view(profile.descriptors, labels, attributes).astype(np.float32))
        columns.append(layout.reference + second)
    return GraphBatch.of(
        graphs,
        torch.from_numpy(np.concatenate(scaled, axis=1)),
        columns=torch.from_numpy(np.concatenate(columns)),
        sketch=torch.from_numpy(profile.sketch.astype(np.float32)),
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
