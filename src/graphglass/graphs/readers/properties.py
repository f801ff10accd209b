"""Nodes and edges that carry named properties (JSON, GraphML, GEXF, NetworkX, igraph) as labels and columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphglass.errors import GraphError
from graphglass.graphs.labels import label_codes
from graphglass.graphs.readers.options import ReadOptions
from graphglass.graphs.readers.record import Record, too_sparse
from graphglass.graphs.readers.rejects import RejectLog

Properties = Mapping[str, Any]
_NUMBERS = (Real, Decimal, np.bool_)


def property_record(
    position: int,
    name: str,
    ids: Sequence[Any],
    nodes: Sequence[Properties],
    pairs: Sequence[tuple[Any, Any]],
    edges: Sequence[Properties],
    options: ReadOptions,
    *,
    facts: Properties,
    directed: bool,
) -> Record:
    """A graph whose nodes and edges have flat properties, of which the options say what is the label.

    `facts` is what the input says about the graph as a whole: its class and the caller's columns.
    """
    rows, names = node_names(ids)
    sources, targets = edge_rows(pairs, rows)
    node_label, edge_label = options.label_key("node", nodes), options.label_key("edge", edges)
    label_names: dict[int, str] = {}
    return Record(
        position, name, len(nodes), sources, targets,
        label=facts.get(options.label_column or "label"),
        **described("node", nodes, nodes, label_names, options.log, node_label, options.attributes),
        **described("edge", edges, edges, label_names, options.log, edge_label, options.edge_attributes),
        node_names=names,
        label_names=label_names,
        directed=directed,
        listed_once=not directed,
        columns=options.kept({key: value for key, value in facts.items() if key not in ("id", "label")}),
    )  # fmt: skip


def described(
    owner: str,
    items: Sequence[Properties],
    properties: Sequence[Properties],
    names: dict[int, str],
    log: RejectLog,
    label: str = "label",
    wanted: Sequence[str] | None = None,
) -> dict[str, Any]:
    """What a Record holds of its nodes or edges (`owner`): label codes, attributes and the names of these.

    `items` hold the labels and `properties` the attributes; `names` is filled with the texts of labels. Where no item
    has a label but all have a type, the type is the label, and an attribute that no item of a type has is 0 there.
    """
    typed = None
    if items is properties and label == "label" and items and not any(label in item for item in items):
        keys = (f"{owner}_type", "type")
        typed = next((key for key in keys if all(isinstance(item.get(key), str) for item in items)), None)
    label = typed or label
    values, columns = _table(properties, owner, log, skip=label if items is properties else None, wanted=wanted)
    texts = [item.get(label) for item in items]
    codes = None if all(text is None for text in texts) else label_codes(texts, names)
    if typed and values is not None and codes is not None:
        for code in np.unique(codes):
            rows = codes == code
            values[np.ix_(rows, np.isnan(values[rows]).all(axis=0))] = 0.0
    table = "attribute" if owner == "node" else "edge_attribute"
    return {
        f"{owner}_labels": codes,
        f"{owner}_typed": typed is not None,
        f"{table}s": values,
        f"{table}_names": columns,
    }


def _table(
    items: Sequence[Properties],
    owner: str,
    log: RejectLog,
    *,
    skip: str | None = None,
    wanted: Sequence[str] | None = None,
) -> tuple[NDArray[np.float64] | None, tuple[str, ...]]:
    """Numeric properties as columns, (items, width) with NaN where an item has none; a list makes a column per place.

    Other properties are not attributes and are reported as unused, unless they are among the `wanted` or other items
    have numbers there: then they are refused.
    """
    columns: dict[str, int] = {}
    rows: list[int] = []
    places: list[int] = []
    values: list[float] = []
    others: dict[str, Any] = {}
    for row, item in enumerate(items):
        if not item:
            continue
        for key, value in _numeric(item, skip, wanted, others, log.dates):
            rows.append(row)
            places.append(columns.setdefault(key, len(columns)))
            values.append(value)
    for key, value in others.items():
        text = isinstance(value, str)
        if key in columns:
            raise GraphError(f"attribute {key!r} must be a number, found {'the text ' if text else ''}{value!r:.60}")
        if text:
            log.texts.setdefault(owner, {})[key] = None
        else:
            log.advise(f"{owner} property {key!r} is of type {type(value).__name__} and was not used")
    if not columns:
        return None, ()
    if too_sparse(len(items), len(columns), len(values)):
        raise GraphError(
            f"{len(columns)} attributes of {len(items)} {owner}s would be {len(items) * len(columns):,} numbers, found "
            f"{len(values):,}; give every {owner} the same attributes"
        )
    table = np.full((len(items), len(columns)), np.nan)
    table[rows, places] = values
    return table, tuple(columns)


def _numeric(
    item: Properties, skip: str | None, wanted: Sequence[str] | None, others: dict[str, object], dates: set[str]
) -> Iterator[tuple[str, float]]:
    """The numbers of one node or edge by column, times (noted in `dates`) as seconds; `others` gets what is none."""
    for key, value in item.items():
        if key == skip or (wanted is not None and key not in wanted):
            continue
        if isinstance(value, _NUMBERS):
            yield str(key), _finite(value, key)
        elif isinstance(value, date):
            dates.add(str(key))
            yield str(key), _finite(_seconds(value), key)
        elif isinstance(value, list | tuple | np.ndarray):
            for place, one in enumerate(value):
                if not isinstance(one, _NUMBERS):
                    raise GraphError(f"attribute {key!r} must hold numbers, found {one!r:.60}")
                yield f"{key}_{place}", _finite(one, key)
        elif wanted is not None and value is not None:
            raise GraphError(f"attribute {key!r} must be a number, found {value!r:.60}")
        elif value is not None:
            others.setdefault(str(key), value)


def _seconds(moment: date) -> float:
    """Seconds since 1970 as edge tables have them, in whole microseconds; without a time zone it is UTC."""
    if not isinstance(moment, datetime):
        moment = datetime(moment.year, moment.month, moment.day)
    return (moment - datetime(1970, 1, 1, tzinfo=moment.tzinfo and UTC)) // timedelta(microseconds=1) / 1e6


def _finite(value: Any, key: object) -> float:
    try:
        number = float(value)
    except (OverflowError, ValueError):  # a signalling NaN of a Decimal is a ValueError
        number = np.inf
    if not np.isfinite(number):
        raise GraphError(f"attribute {key!r} is NaN or infinite")
    return number


def node_names(names: Sequence[Any]) -> tuple[dict[Any, int], list[str] | None]:
    """Rows by node id, and the ids as text unless they are 0, 1, 2, ... in order; 1 and "1" are the same id."""
    for name in names:
        if isinstance(name, Real) and not np.isfinite(float(name)):
            raise GraphError(f"a node is called {name!r}; an id must be finite")
    rows = {name: row for row, name in enumerate(names)}
    if all(type(name) is int and name == row for row, name in enumerate(names)):
        return rows, None
    texts = [str(name) for name in names]
    if len(set(texts)) != len(texts):
        raise GraphError(f"node id {Counter(texts).most_common(1)[0][0]!r:.60} occurs more than once")
    return rows, texts


def edge_rows(pairs: Sequence[tuple[object, object]], rows: Mapping[object, int]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Source and target rows of edges given by node ids."""
    try:
        ends = np.fromiter((rows[end] for pair in pairs for end in pair), np.int64, 2 * len(pairs))
    except (KeyError, TypeError) as error:
        for number, pair in enumerate(pairs):
            for end in pair:
                if not isinstance(end, str | int) or end not in rows:
                    raise GraphError(f"edge {number} names node {end!r:.60}, which the graph does not have") from error
        raise
    return ends[0::2], ends[1::2]
