"""The values that edges carry, and the in-, out- and net strength of nodes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.channel import State
from graphglass.channels.profiled_graphs import ProfiledGraphs
from graphglass.channels.tables.feature_maps import FeatureMap
from graphglass.channels.unmatched import Nearest, Unmatched, beyond, with_ends
from graphglass.graphs.attributes import edge_numbers
from graphglass.graphs.graph_set import EdgeList, GraphSet
from graphglass.graphs.labels import frequent

Table = NDArray[np.float64]

COMMON_LABELS = 8  # edge labels whose edges are summarised by themselves
WIDEST = 16  # attributes that are read; more would outnumber the references
LARGEST = 1e150  # what attributes are cut off at: sums and squares over a hundred million edges stay finite
STRENGTH = 0.2  # of a node, next to its edges, which make it
MIN_SCALE = 0.1  # least unit of a column, in deviations of the value over the references' edges or nodes


class EdgeValueMap(FeatureMap):
    """Mean, deviation, lowest and highest value of every edge attribute, also by edge label, and strengths of nodes.

    Attributes enter as they are, for times, and by their signed logarithm, for amounts. The strength of a node is the
    sum over its edges, in a directed set over those that leave and those that enter. No columns for an undirected set
    without edge attributes.
    """

    def __init__(self) -> None:
        self._labels = np.zeros(0, np.int64)
        self._usual = np.zeros(0)  # the value of a label's columns in a graph that lacks the label
        self._min_scales = np.zeros(0)

    def fit(self, references: ProfiledGraphs) -> None:
        graphs = references.graphs
        edges = listed_edges(graphs)
        if edges is None:
            self._min_scales = np.zeros(0)
            return
        values, strengths = edge_values(edges), strength_table(graphs, edges)
        self._labels = np.zeros(0, np.int64)
        if edges.labels is not None:
            self._labels = frequent([edges.labels], COMMON_LABELS)
        chosen = [edges.labels == code for code in self._labels]
        self._usual = np.concatenate([values[rows].mean(axis=0) for rows in chosen] or [np.zeros(0)])
        deviation = values.std(axis=0) if len(values) else np.zeros(values.shape[1])
        flow = strengths.std(axis=0) if len(strengths) else np.zeros(strengths.shape[1])
        self._min_scales = MIN_SCALE * np.concatenate([np.tile(deviation, 4 + len(self._labels)), np.tile(flow, 3)])

    def table(self, profiled: ProfiledGraphs) -> Table:
        graphs = profiled.graphs
        edges = listed_edges(graphs)
        if not len(self._min_scales) or edges is None:
            return np.zeros((len(graphs), 0))
        values, strengths = edge_values(edges), strength_table(graphs, edges)
        graph_of = graphs.node_graph[edges.sources]
        parts = list(summary(values, graph_of, len(graphs)))
        width = values.shape[1]
        for place, code in enumerate(self._labels.tolist()):
            rows = np.zeros(len(values), bool) if edges.labels is None else edges.labels == code
            mean = summary(values[rows], graph_of[rows], len(graphs))[0]
            usual = self._usual[place * width : (place + 1) * width]
            parts.append(np.where(np.bincount(graph_of[rows], minlength=len(graphs))[:, None] > 0, mean, usual))
        mean, deviation, _, highest = summary(strengths, graphs.node_graph, len(graphs))
        return np.concatenate([*parts, mean, deviation, highest], axis=1)

    def unmatched(self, query: ProfiledGraphs, near: Nearest, past: Table, short: Table) -> Unmatched:
        """Edges whose values, and nodes whose strengths, leave the range of the nearest references."""
        graphs, normal = query.graphs, near.graphs.graphs
        edges, others = listed_edges(graphs), listed_edges(normal)
        if edges is None or others is None:
            return Unmatched.whole(graphs)
        own, strengths = edge_values(edges), strength_table(graphs, edges)
        logs = slice(own.shape[1] // 2, own.shape[1])  # the values as they are say the same twice
        weights = beyond(own[:, logs], edge_values(others)[:, logs], self._min_scales[logs] / MIN_SCALE)
        flow = self._min_scales[-strengths.shape[1] :] / MIN_SCALE
        return with_ends(STRENGTH * beyond(strengths, strength_table(normal, others), flow), edges, weights)

    def min_scales(self, columns: int) -> Table:
        return self._min_scales[:columns]

    def state(self) -> State:
        return {"labels": self._labels, "usual": self._usual, "room": self._min_scales}

    def restore(self, state: State) -> None:
        self._labels, self._usual, self._min_scales = state["labels"], state["usual"], state["room"]


def listed_edges(graphs: GraphSet) -> EdgeList | None:
    """Each edge once with its attributes and its count; None for an undirected set without edge attributes."""
    numbers = edge_numbers(graphs)
    return replace(graphs, edge_attributes=numbers, edge_attribute_names=()).edge_list() if numbers.shape[1] else None


def edge_values(edges: EdgeList) -> Table:
    """Attributes of listed edges as they are and by their signed logarithm, (edges, 2 attributes)."""
    given = _bounded(edges)
    return np.concatenate([given, signed_log(given)], axis=1)


def _bounded(edges: EdgeList) -> Table:
    return np.asarray(np.clip(np.asarray(edges.attributes)[:, -WIDEST:], -LARGEST, LARGEST))


def strength_table(graphs: GraphSet, edges: EdgeList) -> Table:
    """Logarithms of what leaves, what enters and what stays of every attribute at every node, (nodes, columns)."""
    given = _bounded(edges)
    columns = []
    for value in given.T:
        out, into = (np.bincount(ends, value, graphs.node_count) for ends in (edges.sources, edges.targets))
        columns += [out, into, out - into] if graphs.directed else [out + into]
    return signed_log(np.stack(columns, axis=1))


def signed_log(values: Table) -> Table:
    return np.sign(values) * np.log1p(np.abs(values))


def summary(values: Table, graph_of: NDArray[np.int64], graphs: int) -> tuple[Table, Table, Table, Table]:
    """Mean, deviation, lowest and highest of the rows of every graph, each (graphs, columns); 0 without rows."""
    count = np.maximum(np.bincount(graph_of, minlength=graphs), 1)[:, None]
    shape = (graphs, values.shape[1])
    total, squares = np.zeros(shape), np.zeros(shape)
    low, high = np.full(shape, np.inf), np.full(shape, -np.inf)
    np.add.at(total, graph_of, values)
    mean = total / count
    np.add.at(squares, graph_of, (values - mean[graph_of]) ** 2)
    np.minimum.at(low, graph_of, values)
    np.maximum.at(high, graph_of, values)
    empty = ~np.isfinite(low)
    return mean, np.sqrt(squares / count), np.where(empty, 0.0, low), np.where(empty, 0.0, high)
