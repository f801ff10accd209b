"""What is normal, counted once over the references of a scorer, for the sentences of explanations."""

from __future__ import annotations

from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.channel import AnyChannel
from graphglass.channels.profiled_graphs import ProfiledGraphs
from graphglass.channels.tables.edge_kinds import edge_kinds
from graphglass.channels.tables.edge_values import listed_edges
from graphglass.detector.scorer import ReferenceScorer
from graphglass.drawing.graph_svg import frequent_labels
from graphglass.graphs.chemistry import DESCRIPTORS, descriptors
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.molecules import node_label_text
from graphglass.structure.profile import AGGREGATE_NAMES

Range = tuple[NDArray[np.float64], NDArray[np.float64]]  # lowest and highest of every column


class NormalFacts:
    """Counts and ranges over the references."""

    def __init__(self, references: ProfiledGraphs) -> None:
        self.references = references

    def __len__(self) -> int:
        return len(self.references)

    @cached_property
    def frequent_labels(self) -> tuple[str, ...]:
        """The labels that have colours of their own in drawings."""
        return frequent_labels(self.references.graphs)

    def foreign_labels(self, graph: GraphSet) -> tuple[str, ...]:
        """The labels of a graph that no reference has."""
        codes = [] if graph.node_labels is None else np.unique(graph.node_labels).tolist()
        return tuple(node_label_text(graph, code) for code in codes if code not in self.label_holders)

    @cached_property
    def label_holders(self) -> dict[int, int]:
        """How many references have each node label."""
        graphs = self.references.graphs
        return {} if graphs.node_labels is None else _holders(graphs.node_labels, graphs.node_graph)

    @cached_property
    def kind_holders(self) -> dict[int, int]:
        """How many references have each kind of edge: the labels of its ends and its own."""
        graphs = self.references.graphs
        edges = graphs.edge_list()
        return _holders(edge_kinds(graphs, edges), graphs.node_graph[edges.sources])

    @cached_property
    def attribute_range(self) -> Range:
        """Of every node attribute over all nodes."""
        return _range(self.references.graphs.attributes)

    @cached_property
    def edge_range(self) -> Range:
        """Of every edge attribute over all edges, ``count`` last."""
        edges = listed_edges(self.references.graphs)
        return _range(None if edges is None else edges.attributes)

    @cached_property
    def fields(self) -> dict[str, NDArray[np.float64]]:
        """Numbers of whole graphs: aggregates of the structure, and descriptors of molecules."""
        table = dict(zip(AGGREGATE_NAMES, self.references.profile.aggregates.T, strict=True))
        return table | dict(zip(DESCRIPTORS, descriptors(self.references.graphs).T, strict=False))

    @cached_property
    def usual(self) -> dict[str, tuple[float, float, float]]:
        """The 5% and 95% quantiles of every field, and the unit of deviations from them."""
        found = {}
        for name, values in self.fields.items():
            low, middle, high = (float(cut) for cut in np.percentile(values, (5, 50, 95), method="nearest"))
            found[name] = low, high, max(float(values.std()), 1e-3, 0.05 * abs(middle))
        return found


_FACTS: WeakKeyDictionary[AnyChannel, NormalFacts] = WeakKeyDictionary()


def normal_facts(scorer: ReferenceScorer) -> NormalFacts:
    """The facts of a scorer's references, kept as long as its channels, which marks of anomalies leave as they are."""
    facts = _FACTS.get(scorer.channels[0])
    if facts is None or facts.references is not scorer.references:
        facts = _FACTS[scorer.channels[0]] = NormalFacts(scorer.references)
    return facts


def _holders(codes: NDArray[np.int64], graph_of: NDArray[np.int64]) -> dict[int, int]:
    kinds, place = np.unique(codes, return_inverse=True)
    pairs = np.unique(graph_of * len(kinds) + place)
    return dict(zip(kinds.tolist(), np.bincount(pairs % len(kinds), minlength=len(kinds)).tolist(), strict=True))


def _range(table: NDArray[Any] | None) -> Range:
    if table is None or not len(table):
        return np.zeros(0), np.zeros(0)
    return table.min(axis=0).astype(np.float64), table.max(axis=0).astype(np.float64)
