"""A GraphSet as arrays and a JSON document of names, the form that models and the parse cache keep."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphglass.graphs.graph_set import GraphSet

ARRAYS = (
    "node_offsets", "neighbour_offsets", "neighbours", "node_labels", "attributes", "edge_labels", "edge_attributes",
    "outgoing", "removed", "atom_environments", "atom_contributions",
)  # fmt: skip


def stored_arrays(graphs: GraphSet) -> dict[str, NDArray[Any]]:
    return {name: value for name in ARRAYS if (value := getattr(graphs, name)) is not None}


def stored_names(graphs: GraphSet) -> dict[str, Any]:
    return {
        "ids": list(graphs.ids),
        "attributes": list(graphs.attribute_names),
        "edge_attributes": list(graphs.edge_attribute_names),
        "labels": {str(code): name for code, name in graphs.label_names.items()},
        "codes": {owner: list(names.items()) for owner, names in graphs.code_names.items()},
        "nodes": None if graphs.node_names is None else graphs.node_names.tolist(),
    }


def restored(arrays: Mapping[str, NDArray[Any]], names: Mapping[str, Any], labels: Any = None) -> GraphSet:
    """The set of :func:`stored_arrays` and :func:`stored_names`; only the lengths of arrays are checked."""
    columns: dict[str, Any] = {name: arrays[name] for name in ARRAYS if name in arrays}
    return GraphSet(
        **columns,
        labels=labels,
        ids=tuple(names["ids"]),
        attribute_names=tuple(names["attributes"]),
        edge_attribute_names=tuple(names["edge_attributes"]),
        label_names={int(code): name for code, name in names["labels"].items()},
        code_names={owner: dict(map(tuple, pairs)) for owner, pairs in names.get("codes", {}).items()},
        node_names=None if names["nodes"] is None else np.asarray(names["nodes"], dtype=np.str_),
    )
