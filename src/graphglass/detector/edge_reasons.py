"""Single edges of a graph beside all edges of the references: amounts, durations, counts and times, in words."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.tables.edge_values import listed_edges, signed_log
from graphglass.detector.reasons import FieldDeviation
from graphglass.graphs.concatenation import counted_names
from graphglass.graphs.graph_set import EdgeList, GraphSet

RANGE = (0.5, 99.5)  # percentiles of the references' edges between which a value is usual


def edge_deviations(query: GraphSet, references: GraphSet) -> Iterator[FieldDeviation]:
    """For every edge attribute the edge farthest outside the usual range, if there is one.

    Distances are taken between signed logarithms, so that amounts of any size compare.
    """
    own, known = listed_edges(query), listed_edges(references)
    if own is None or known is None or not len(own.sources) or not len(known.sources):
        return
    for place, name in enumerate(counted_names(references)):
        row = _farthest(query, own, name, _column(own, place), _column(known, place))
        if row is not None:
            yield row


def _column(edges: EdgeList, place: int) -> NDArray[np.float64]:
    return np.asarray(edges.attributes)[:, place]


def _farthest(
    query: GraphSet, edges: EdgeList, name: str, values: NDArray[np.float64], normal: NDArray[np.float64]
) -> FieldDeviation | None:
    low, median, high = (float(cut) for cut in np.percentile(normal, (RANGE[0], 50, RANGE[1])))
    outside = (values < low) | (values > high)
    if not outside.any():
        return None
    logs = signed_log(normal)
    middle = np.median(logs)
    unit = max(1.4826 * float(np.median(np.abs(logs - middle))), 0.5 * float(logs.std()), 1e-3)
    deviations = (signed_log(values) - middle) / unit
    edge = int(np.where(outside, np.abs(deviations), -1.0).argmax())
    value, more = float(values[edge]), int(outside.sum()) - 1
    one, two = int(edges.sources[edge]), int(edges.targets[edge])
    arrow = "->" if query.directed else "–"
    others = f" ({more} more {'edge is' if more == 1 else 'edges are'} unusual)" if more else ""
    unseen = bool(value < normal.min() or value > normal.max())
    ends_of_range = (float(normal.min()), float(normal.max())) if unseen else (low, high)
    usual = " to ".join(dict.fromkeys(_amount(end) for end in ends_of_range))
    ends = f"{_node(query, one)} {arrow} {_node(query, two)}"
    words = f"edge {ends}: {name} {_amount(value)}; {'' if unseen else 'almost all '}normal edges have {usual}{others}"
    percentile = float((normal < value).mean() + (normal <= value).mean()) / 2
    return FieldDeviation(
        f"{name} of an edge", f"edge {name}", value, median, low, high, percentile, float(deviations[edge]), unseen,
        words, (one, two),
    )  # fmt: skip


def _node(graph: GraphSet, place: int) -> str:
    return str(place if graph.node_names is None else graph.node_names[place])


def _amount(value: float) -> str:
    whole = value == round(value) or abs(value) >= 1000
    return f"{value:,.0f}" if whole and abs(value) < 1e15 else f"{value:,.4g}"
