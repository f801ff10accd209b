import math
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphglass.structure.descriptors import _variance, neighbour_degrees
from graphglass.structure.kernels.motifs import COUNTING, EXACT_WORK
from graphglass.structure.profile import LTD_NAMES, profile


@st.composite
def graphs(draw: st.DrawFn, most: int = 24) -> nx.Graph:
    n = draw(st.integers(1, most))
    return nx.gnp_random_graph(n, draw(st.floats(0, 1)), seed=draw(st.integers(0, 2**20)))


def four_cycles(graph: nx.Graph) -> list[int]:
    """By listing: each unordered pair of neighbours of v with each further common neighbour is one cycle through v."""
    found = []
    for v in graph:
        around, count = list(graph[v]), 0
        for i, a in enumerate(around):
            for b in around[:i]:
                count += len((set(graph[a]) & set(graph[b])) - {v})
        found.append(count)
    return found


@settings(max_examples=50, deadline=None)
@given(graphs())
def test_every_descriptor_equals_networkx_or_listing(build, graph):
    got = dict(zip(LTD_NAMES, profile(build(graph)).descriptors.T, strict=True))
    around = [[graph.degree(u) for u in graph[v]] or [0] for v in graph]
    assert got["degree"].tolist() == [graph.degree(v) for v in graph]
    assert got["neighbour_degree_min"].tolist() == [min(a) for a in around]
    assert got["neighbour_degree_max"].tolist() == [max(a) for a in around]
    np.testing.assert_allclose(got["neighbour_degree_mean"], [np.mean(a) for a in around], atol=1e-12)
    np.testing.assert_allclose(got["neighbour_degree_std"], [np.std(a) for a in around], atol=1e-7)
    np.testing.assert_allclose(got["clustering"], list(nx.clustering(graph).values()), atol=1e-12)
    assert got["core"].tolist() == list(nx.core_number(graph).values())
    assert got["triangles"].tolist() == list(nx.triangles(graph).values())
    assert got["four_cycles"].tolist() == four_cycles(graph)


def hub_deviation(leaves: int, first: bool) -> np.ndarray:
    """The neighbour-degree deviation of two joined hubs with so many leaves each, the hubs before or after them."""
    hubs = np.array([0, 1]) if first else np.array([2 * leaves, 2 * leaves + 1])
    others = np.arange(2 * leaves) + (2 if first else 0)
    around = [hubs[1:], others[:leaves], hubs[:1], others[leaves:]]
    ends = np.repeat(hubs, leaves)
    degrees = np.ones(2 * leaves + 2, np.int64)
    degrees[hubs] = leaves + 1
    out = np.zeros((len(degrees), 5))
    neighbours = np.concatenate([*around, ends] if first else [ends, *around]).astype(np.int32)
    neighbour_degrees(np.concatenate([[0], np.cumsum(degrees)]), neighbours, out)
    assert not out[others, 4].any()
    return out[hubs, 4]


def test_hubs_joined_to_hubs_have_a_finite_deviation_in_any_order():
    leaves = 2_200_000  # products of the sums pass 2**63
    exact = math.sqrt(Fraction(leaves**3, (leaves + 1) ** 2))  # of one value leaves + 1 and `leaves` ones
    found = [*hub_deviation(leaves, True), *hub_deviation(leaves, False)]
    assert found == [found[0]] * 4
    assert found[0] == pytest.approx(exact, rel=1e-14)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(1, 2**31 - 1), min_size=2, max_size=40))
def test_variance_of_large_degrees_equals_exact_arithmetic(values):
    total, squares = sum(values), sum(value**2 for value in values)
    if squares < 2**63:
        exact = Fraction(len(values) * squares - total**2, len(values) ** 2)
        assert _variance(len(values), total, squares) == pytest.approx(float(exact), rel=1e-12)


@settings(max_examples=30, deadline=None)
@given(graphs(most=90))
def test_both_exact_counts_agree(build, graph):
    one = build(graph)
    flat = np.zeros(1, np.int64), one.node_offsets, one.neighbour_offsets, one.neighbours, EXACT_WORK
    ordered, bits = np.zeros((2, one.node_count, 2))
    for count, out in zip(COUNTING[:2], (ordered, bits), strict=True):
        count(*flat, out)
    assert ordered.tolist() == bits.tolist()
    assert bits[:, 1].sum() == 4 * np.sum(four_cycles(graph)) / 4


@pytest.mark.parametrize(("n", "triangles", "cycles"), [(3, 1, 0), (4, 3, 3), (7, 15, 60)])
def test_clique_counts_in_closed_form(build, n, triangles, cycles):
    got = profile(build(nx.complete_graph(n))).descriptors
    assert set(got[:, 7]) == {triangles}
    assert set(got[:, 8]) == {cycles}
