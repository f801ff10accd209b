"""Nodes and edges that carry named properties (JSON, GraphML, NetworkX, igraph) as labels and attribute columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphglass.errors import GraphError
from graphglass.graphs.label_codes import label_codes

Properties = Mapping[str, Any]


@dataclass(frozen=True)
class PropertyNames:
    """Which property means what.

    Attributes
    ----------
    node_label, edge_label : str
        Properties that hold the discrete label.
    attributes : tuple of str or None
        Numeric node properties to keep; None keeps every one.
    """

    node_label: str = "label"
    edge_label: str = "label"
    attributes: tuple[str, ...] | None = None


def property_labels(items: Sequence[Properties], key: str, names: dict[int, str]) -> NDArray[np.int64] | None:
    """The label code of every item, or None if none has one."""
    values = [item.get(key) for item in items]
    return None if all(value is None for value in values) else label_codes(values, names)


def property_table(
    nodes: Sequence[Properties], *, skip: str | None = None, wanted: tuple[str, ...] | None = None
) -> tuple[NDArray[np.float32] | None, tuple[str, ...]]:
    """Numeric properties as columns, (nodes, width) with NaN where a node has none; a list makes a column per place.

    Text properties are not attributes and are skipped, unless they are among the `wanted` or other nodes have numbers
    there: then they are refused.
    """
    columns: dict[str, int] = {}
    rows: list[int] = []
    places: list[int] = []
    values: list[float] = []
    texts: dict[str, str] = {}
    for row, node in enumerate(nodes):
        for key, value in _numeric(node, skip, wanted, texts):
            rows.append(row)
            places.append(columns.setdefault(key, len(columns)))
            values.append(value)
    for key in columns.keys() & texts.keys():
        raise GraphError(f"attribute {key!r} must be a number, found the text {texts[key]!r:.60}")
    if not columns:
        return None, ()
    table = np.full((len(nodes), len(columns)), np.nan)
    table[rows, places] = values
    return to_float32(table), tuple(columns)


def _numeric(
    node: Properties, skip: str | None, wanted: tuple[str, ...] | None, texts: dict[str, str]
) -> Iterator[tuple[str, float]]:
    """The numbers of one node by column; what is text is noted in `texts`."""
    for key, value in node.items():
        if key == skip or (wanted is not None and key not in wanted):
            continue
        if isinstance(value, Real):
            yield str(key), _finite(value, key)
        elif isinstance(value, list | tuple | np.ndarray):
            for place, item in enumerate(value):
                if not isinstance(item, Real):
                    raise GraphError(f"attribute {key!r} must hold numbers, found {item!r}")
                yield f"{key}_{place}", _finite(item, key)
        elif wanted is not None and value is not None:
            raise GraphError(f"attribute {key!r} must be a number, found {value!r}")
        elif isinstance(value, str):
            texts.setdefault(str(key), value)


def _finite(value: Real, key: object) -> float:
    try:
        number = float(value)
    except OverflowError:
        number = np.inf
    if not np.isfinite(number):
        raise GraphError(f"attribute {key!r} is NaN or infinite")
    return number


def to_float32(values: NDArray[Any]) -> NDArray[np.float32]:
    """Narrow to float32; what does not fit becomes infinite, for the caller to refuse."""
    with np.errstate(over="ignore"):
        return values.astype(np.float32)


def node_names(names: Sequence[Any]) -> tuple[dict[Any, int], list[str] | None]:
    """Rows by node id, and the ids as text unless they are 0, 1, 2, ... in order.

    Raises
    ------
    GraphError
        If two nodes have the same id, also if they differ only in type (1 and "1").
    """
    rows = {name: row for row, name in enumerate(names)}
    if all(type(name) is int and name == row for row, name in enumerate(names)):
        return rows, None
    texts = [str(name) for name in names]
    if len(set(texts)) != len(texts):
        seen: set[str] = set()
        for text in texts:
            if text in seen:
                raise GraphError(f"node id {text!r} stands more than once")
            seen.add(text)
    return rows, texts


def edge_rows(pairs: Sequence[tuple[Any, Any]], rows: Mapping[Any, int]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Source and target rows of edges given by node ids."""
    try:
        ends = np.fromiter((rows[end] for pair in pairs for end in pair), np.int64, 2 * len(pairs))
    except (KeyError, TypeError) as error:
        for number, pair in enumerate(pairs):
            for end in pair:
                if not isinstance(end, str | int) or end not in rows:
                    raise GraphError(f"edge {number} names node {end!r}, which the graph does not have") from error
        raise
    return ends[0::2], ends[1::2]
