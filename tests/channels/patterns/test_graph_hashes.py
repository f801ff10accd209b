"""Hashes that follow a graph through any order of its nodes, and notice everything it carries."""

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from graphglass.channels.patterns.wl import graph_hashes
from graphglass.graphs.canonical import canonical_graph_set


def labelled(order, sources, targets):
    """One graph whose node i is called order[i]; labels and attributes travel with the nodes."""
    n = len(order)
    place = np.argsort(order)
    graph = canonical_graph_set(np.array([n]), np.asarray(order)[sources], np.asarray(order)[targets])
    values = np.arange(n, dtype=np.float32)[place][:, None]
    return replace(graph, node_labels=(np.arange(n) % 3)[place], attributes=values, attribute_names=("a",))


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 9).flatmap(lambda n: st.tuples(st.permutations(range(n)), st.integers(0, 10**6))))
def test_node_order_does_not_matter(drawn):
    order, seed = drawn
    n = len(order)
    ends = np.random.default_rng(seed).integers(0, n, (2, 2 * n))
    ends = ends[:, ends[0] != ends[1]]
    assert graph_hashes(labelled(order, *ends)) == graph_hashes(labelled(range(n), *ends))


def test_everything_a_graph_carries_counts():
    graph = labelled(range(4), np.array([0, 1, 2]), np.array([1, 2, 3]))
    ends = len(graph.neighbours)
    variants = [
        graph,
        replace(graph, node_labels=graph.node_labels + 1),
        replace(graph, attributes=graph.attributes + 1),
        replace(graph, edge_labels=np.ones(ends, np.int64)),
        replace(graph, edge_attributes=np.ones((ends, 1)), edge_attribute_names=("w",)),
        replace(graph, outgoing=np.arange(ends) % 2 == 0),
        labelled(range(4), np.array([0, 1, 2, 3]), np.array([1, 2, 3, 0])),
    ]
    assert len({graph_hashes(variant)[0] for variant in variants}) == len(variants)
