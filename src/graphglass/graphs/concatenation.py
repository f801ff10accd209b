"""Several graph sets as one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from graphglass.errors import GraphError, SchemaError
from graphglass.graphs.graph_schema import GraphSchema, with_edge_attributes
from graphglass.graphs.graph_set import COUNT, ROWS, GraphSet
from graphglass.graphs.ragged import offsets
from graphglass.graphs.user_columns import own_column


def concatenate(sets: Iterable[GraphSet]) -> GraphSet:
    """Join graph sets of one schema, in order.

    If one set is directed, all become directed; a set without the edge attribute ``count`` gets the value 1 where
    others have it. Class labels, node names and what molecules carry beyond labels and attributes stay only if all sets
    have them; columns stay if any set has them.

    Raises
    ------
    GraphError
        If a graph id occurs in more than one of them, or twice in one.
    SchemaError
        If some carry labels or attributes that others lack.

    Examples
    --------
    >>> from graphglass import concatenate, load_dataset
    >>> molecules = load_dataset("MUTAG")
    >>> len(concatenate([molecules[:10], molecules[100:105]]))
    15
    """
    parts = list(sets)
    if not parts:
        return GraphSet(np.zeros(1, np.int64), np.zeros(1, np.int64), np.zeros(0, np.int32), ())
    if len(parts) == 1:
        return parts[0]
    filled = [part for part in parts if len(part)] or parts[:1]
    if any(part.directed for part in filled):
        filled = [part.as_directed() for part in filled]
    widest = max((part.edge_attribute_names for part in filled), key=len)
    if COUNT in widest:
        filled = [with_edge_attributes(part, widest) for part in filled]
    schemas = {GraphSchema.of(part) for part in filled}
    if len(schemas) > 1:
        raise SchemaError(
            "Graph sets can be joined only if they carry the same node labels, edge labels and attributes. "
            f"Found {', and '.join(sorted(schema.described() for schema in schemas))}."
        )
    ids = tuple(identifier for part in filled for identifier in part.ids)
    if len(set(ids)) < len(ids):
        twice = Counter(ids).most_common(1)[0][0]
        raise GraphError(
            f"Graph ids must be unique in the joined set; {twice!r} occurs more than once. Rename graphs first, for "
            "example with the name of their set in front: dataclasses.replace(graphs, ids=...)."
        )

    def joined(name: str) -> Any:
        values = [getattr(part, name) for part in filled]
        if any(value is None for value in values):
            return None  # class labels, node names and chemistry are optional per part
        return np.concatenate(values)

    return GraphSet(
        node_offsets=offsets(np.concatenate([part.sizes for part in filled])),
        neighbour_offsets=offsets(np.concatenate([np.diff(part.neighbour_offsets) for part in filled])),
        neighbours=joined("neighbours"),
        ids=ids,
        attribute_names=filled[0].attribute_names,
        edge_attribute_names=filled[0].edge_attribute_names,
        label_names={code: name for part in filled for code, name in part.label_names.items()},
        code_names={
            owner: {code: name for part in filled for code, name in part.code_names.get(owner, {}).items()}
            for owner in {owner for part in filled for owner in part.code_names}
        },
        **{name: joined(name) for name in ROWS},
        columns={
            name: own_column([value for part in filled for value in part.columns.get(name, [None] * len(part))])
            for name in dict.fromkeys(name for part in filled for name in part.columns)
        },
        rejected=tuple(
            replace(reject, before=reject.before + start)
            for part, start in zip(parts, offsets(np.array([len(part) for part in parts])), strict=False)
            for reject in part.rejected
        ),
        reading=filled[0].reading if all(part.reading == filled[0].reading for part in filled) else None,
    )
