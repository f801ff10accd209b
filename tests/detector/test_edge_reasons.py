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
    told = detector.explain(read_graphs([flows(99, change=1e6, directed=directed)]), nodes=False)
    arrow = "->" if directed else "–"
    assert told.reasons[0].startswith(f"Edge account2 {arrow} account3: amount 1,000,000; normal edges have ")
    low, high = told.reasons[0].split("normal edges have ")[1].rstrip(".").split(" to ")
    assert 3 <= float(low) < float(high) <= 900
    assert [told.node_names[end] for end in told.edges[0]] == ["account2", "account3"]
    assert told.to_json()["fields"][0]["edge"] == told.edges[0]


def test_one_cause_is_one_line_and_contributions_sum_to_the_score(detector, directed):
    graph = flows(99, change=1e6, directed=directed)
    graph["account0"]["account1"]["amount"] = 5e5
    told = detector.explain(read_graphs([graph]), nodes=False)
    about = [line for line in told.reasons if "amount" in line and line.startswith("Edge")]
    assert len(about) == 1
    assert "1 more edge is unusual" in about[0]
    assert sum(told.contributions.values()) == pytest.approx(told.score)
    assert sum(told.shares.values()) == pytest.approx(100)


def test_usual_edges_are_not_named(detector, directed):
    usual = read_graphs([flows(7, directed=directed)])
    edges = detector.explain(usual, nodes=False).edges
    values = np.concatenate([list(networkx.get_edge_attributes(flows(s), "amount").values()) for s in range(80)])
    own = list(networkx.get_edge_attributes(flows(7), "amount").values())
    low, high = np.percentile(values, (0.5, 99.5))
    assert bool(edges) == bool(min(own) < low or max(own) > high)
