"""Explanations name the edge that carries an unusual value."""

import networkx
import numpy as np
import pytest

from graphglass import GraphGlass, read_graphs


def flows(seed, *, change=None, directed=True):
    """A ring of transfers between named accounts, with amounts from 3 to 900."""
    rng = np.random.default_rng(seed)
    graph = (networkx.DiGraph if directed else networkx.Graph)()
    names = [f"account{i}" for i in range(6)]
    for one, two in zip(names, [*names[1:], names[0]], strict=True):
        graph.add_edge(one, two, amount=float(rng.integers(3, 901)))
    if change is not None:
        graph["account2"]["account3"]["amount"] = change
    return graph


@pytest.fixture(scope="module", params=[True, False])
def directed(request):
    return request.param


@pytest.fixture(scope="module")
def detector(directed):
    return GraphGlass().fit(read_graphs([flows(seed, directed=directed) for seed in range(80)]))


def test_the_edge_its_value_and_the_usual_range_are_named_first(detector, directed):
    told = detector.explain(read_graphs([flows(99, change=1e6, directed=directed)]))
    arrow = "->" if directed else "–"
    assert told.reasons[0].startswith(f"Edge account2 {arrow} account3: amount 1,000,000; normal edges have ")
    low, high = told.reasons[0].split("normal edges have ")[1].split(" (")[0].split(" to ")
    assert 3 <= float(low) < float(high) <= 900
    assert told.reasons[0].endswith(" (80 normal graphs).")
    edge = told.causes[0].edges[0]
    assert [told.node_names[end] for end in edge] == ["account2", "account3"]
    assert tuple(told.to_json()["causes"][0]["edges"][0]) == edge


def test_usual_amounts_are_not_named(detector, directed):
    told = detector.explain(read_graphs([flows(7, directed=directed)]))
    own = list(networkx.get_edge_attributes(flows(7), "amount").values())
    values = np.concatenate([list(networkx.get_edge_attributes(flows(s), "amount").values()) for s in range(80)])
    outside = min(own) < values.min() or max(own) > values.max()
    assert any("(80 normal graphs)" in text and "amount" in text for text in told.reasons) == outside


def test_a_strange_sum_at_a_node_is_told(tmp_path):
    """Amounts that are usual each, all of them into one account."""

    def star(name, payers):
        graph = networkx.DiGraph(name=name)
        for place in range(8):
            ends = (f"person{place}", "account") if place < payers else ("account", f"person{place}")
            graph.add_edge(*ends, amount=100.0 + place)
        return graph

    detector = GraphGlass().fit(read_graphs([star(f"g{i}", 3 + i % 3) for i in range(40)]))
    told = detector.explain(read_graphs([star("odd", 8)]))
    words = [text for text in told.reasons if "sum of amount" in text]
    assert words, told.reasons
    assert "the five nearest normal graphs have" in words[0]
