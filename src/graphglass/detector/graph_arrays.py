"""Graphs as arrays and names in a model file, and checks before compiled code, which checks no bounds, reads them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.profiled_graphs import ProfiledGraphs
from graphglass.errors import ArtifactError
from graphglass.graphs.graph_set import GraphSet
from graphglass.kernel import kernel
from graphglass.structure.profile import AGGREGATE_NAMES, LTD_NAMES, SKETCH_NAMES

Arrays = Mapping[str, NDArray[Any]]
# Type and number of dimensions of every array of a graph set and its profile.
GRAPH_ARRAYS = {
    "node_offsets": ("i8", 1), "neighbour_offsets": ("i8", 1), "neighbours": ("i4", 1), "node_labels": ("i8", 1),
    "attributes": ("f4", 2), "edge_labels": ("i8", 1), "edge_attributes": ("f8", 2), "outgoing": ("?", 1),
    "removed": ("i8", 2), "atom_environments": ("i8", 2), "atom_contributions": ("f8", 2),
}  # fmt: skip
PROFILE_ARRAYS = {"descriptors": ("f8", 2), "aggregates": ("f8", 2), "sketch": ("f8", 2), "estimated": ("?", 1)}


def stored_arrays(graphs: GraphSet) -> dict[str, NDArray[Any]]:
    return {name: value for name in GRAPH_ARRAYS if (value := getattr(graphs, name)) is not None}


def stored_names(graphs: GraphSet) -> dict[str, object]:
    return {
        "ids": list(graphs.ids),
        "attributes": list(graphs.attribute_names),
        "edge_attributes": list(graphs.edge_attribute_names),
        "labels": {str(code): name for code, name in graphs.label_names.items()},
        "codes": {owner: list(names.items()) for owner, names in graphs.code_names.items()},
        "nodes": None if graphs.node_names is None else graphs.node_names.tolist(),
    }


def restored(arrays: Mapping[str, NDArray[Any]], names: Mapping[str, Any]) -> GraphSet:
    """The set of :func:`stored_arrays` and :func:`stored_names`; only the lengths of arrays are checked."""
    columns: dict[str, Any] = {name: arrays[name] for name in GRAPH_ARRAYS if name in arrays}
    return GraphSet(
        **columns,
        ids=tuple(names["ids"]),
        attribute_names=tuple(names["attributes"]),
        edge_attribute_names=tuple(names["edge_attributes"]),
        label_names={int(code): name for code, name in names["labels"].items()},
        code_names={owner: dict(map(tuple, pairs)) for owner, pairs in names.get("codes", {}).items()},
        node_names=None if names["nodes"] is None else np.asarray(names["nodes"], dtype=np.str_),
    )


def check_types(arrays: Arrays) -> None:
    """Refuse arrays of another type or number of dimensions than a saved graph set has."""
    for name, (kind, dimensions) in (GRAPH_ARRAYS | PROFILE_ARRAYS).items():
        if name in arrays:
            found = arrays[name]
            _require(found.dtype == np.dtype(kind) and found.ndim == dimensions, name)


def check_graphs(graphs: GraphSet) -> None:
    """Refuse offsets and neighbours that lead out of their arrays."""
    _require(len(graphs) > 0, "node_offsets")
    check_offsets("node_offsets", graphs.node_offsets, graphs.node_count)
    check_offsets("neighbour_offsets", graphs.neighbour_offsets, len(graphs.neighbours))
    _require(bool((graphs.sizes > 0).all()), "node_offsets")
    _require(_ascending(graphs.node_offsets, graphs.neighbour_offsets, graphs.neighbours), "neighbours")
    for name in ("removed", "atom_environments"):
        table = getattr(graphs, name)
        _require(table is None or table.shape[1] == 3, name)


@kernel
def _ascending(
    node_offsets: NDArray[np.int64], neighbour_offsets: NDArray[np.int64], neighbours: NDArray[np.int32]
) -> bool:
    """Whether the neighbours of every node are nodes of its graph, in ascending order."""
    for graph in range(len(node_offsets) - 1):
        first, size = node_offsets[graph], node_offsets[graph + 1] - node_offsets[graph]
        for node in range(first, first + size):
            before = -1
            for place in range(neighbour_offsets[node], neighbour_offsets[node + 1]):
                if not before < neighbours[place] < size:
                    return False
                before = neighbours[place]
    return True


def check_profile(profiled: ProfiledGraphs) -> None:
    """Refuse measurements of another number of graphs or nodes."""
    graphs, profile = profiled.graphs, profiled.profile
    shapes = {
        "descriptors": (graphs.node_count, len(LTD_NAMES)),
        "aggregates": (len(graphs), len(AGGREGATE_NAMES)),
        "sketch": (len(graphs), len(SKETCH_NAMES)),
        "estimated": (len(graphs),),
    }
    for name, shape in shapes.items():
        _require(getattr(profile, name).shape == shape, name)
    for name, rows in profiled.codes.items():
        _require(rows.dtype == np.float32 and rows.ndim == 2 and len(rows) == len(graphs), name)


def check_channels(arrays: Arrays, calibrated: int, references: int) -> None:
    """Refuse channel arrays that are not of so many references; only `calibrated` ones have a leave-one-out score."""
    for name, array in arrays.items():
        part = name.rpartition("/")[2]
        if part in ("left_out", "spacing", "reference_scores"):
            _require(array.dtype == np.float64 and array.shape == (calibrated,), name)
        elif part == "units":
            _require(array.dtype == np.float64 and array.shape == (references,) and bool((array > 0).all()), name)
        elif part == "calibrated":
            _require(array.dtype == np.int64 and array.shape == (calibrated,), name)
            _require(bool(((array >= 0) & (array < references)).all()), name)
        elif part.startswith("offsets_"):
            keys, values = (arrays[name.replace("offsets_", stem)] for stem in ("keys_", "values_"))
            _require(array.dtype == np.int64 and array.shape == (references + 1,), name)
            _require(keys.dtype == np.int64 and keys.ndim == 1 and values.shape == keys.shape, name)
            _require(values.dtype == np.float32 and bool((values >= 1).all()), name.replace("offsets_", "values_"))
            check_offsets(name, array, len(keys))
        elif part == "table":
            _require(array.dtype in (np.float32, np.float64) and array.ndim == 2 and len(array) == references, name)


def check_offsets(name: str, offsets: NDArray[np.int64], end: int) -> None:
    """Refuse offsets that do not rise from 0 to the end."""
    _require(len(offsets) > 0 and offsets[0] == 0 and offsets[-1] == end and bool((np.diff(offsets) >= 0).all()), name)


def _require(sound: bool, name: str) -> None:
    if not sound:
        raise ArtifactError(f"The array {name!r} of the model is not one that was saved. Fit and save the model again.")
