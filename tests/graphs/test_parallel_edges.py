"""Parallel edges become one: against a plain dictionary, whatever the order, the direction and the names of nodes."""

from __future__ import annotations

from collections import defaultdict
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphglass.errors import ParameterError, SchemaError
from graphglass.graphs.canonical import canonical_graph_set
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.parallel_edges import merge_rule
from graphglass.graphs.read import read_graphs

NODES = 5
EDGE = st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1), st.integers(-20, 20))
EDGES = st.lists(EDGE.filter(lambda edge: edge[0] != edge[1]), min_size=1, max_size=20)
RULES = {"sum": sum, "mean": fmean, "min": min, "max": max}


def build(edges: list[tuple[int, int, int]], *, directed: bool, **settings: object) -> GraphSet:
    sources, targets, amounts = np.array(edges).T
    return canonical_graph_set(
        [NODES], sources, targets, edge_attributes=amounts[:, None].astype(float), edge_attribute_names=("amount",),
        directed=directed, **settings,  # type: ignore[arg-type]
    )  # fmt: skip


def as_dictionary(graphs: GraphSet) -> dict[tuple[int, int], list[float]]:
    listed = graphs.edge_list()
    assert listed.attributes is not None
    pairs = zip(listed.sources.tolist(), listed.targets.tolist(), strict=True)
    return dict(zip(pairs, listed.attributes.tolist(), strict=True))


@given(EDGES, st.sampled_from(sorted(RULES)))
@settings(max_examples=80, deadline=None)
def test_directed_edges_combine_by_the_rule(edges: list[tuple[int, int, int]], rule: str) -> None:
    groups = defaultdict(list)
    for source, target, amount in edges:
        groups[source, target].append(amount)
    repeated = any(len(group) > 1 for group in groups.values())
    expected = {
        pair: [float(RULES[rule](group)), *([float(len(group))] if repeated else [])] for pair, group in groups.items()
    }
    found = as_dictionary(build(edges, directed=True, merge={"amount": rule}))
    assert found == {pair: pytest.approx(values) for pair, values in expected.items()}


@given(EDGES)
@settings(max_examples=80, deadline=None)
def test_undirected_edges_listed_both_ways_take_the_mean(edges: list[tuple[int, int, int]]) -> None:
    groups = defaultdict(lambda: ([], []))
    for source, target, amount in edges:
        groups[min(source, target), max(source, target)][source > target].append(amount)
    expected = {pair: fmean([sum(way) for way in ways if way]) for pair, ways in groups.items()}
    found = {pair: values[0] for pair, values in as_dictionary(build(edges, directed=False)).items()}
    assert found == {pair: pytest.approx(value) for pair, value in expected.items()}


@given(EDGES)
@settings(max_examples=50, deadline=None)
def test_reversing_all_edges_of_an_undirected_set_changes_nothing(edges: list[tuple[int, int, int]]) -> None:
    back = [(target, source, amount) for source, target, amount in edges]
    assert build(edges, directed=False).content_hashes() == build(back, directed=False).content_hashes()


@given(EDGES, st.permutations(range(NODES)), st.booleans())
@settings(max_examples=50, deadline=None)
def test_relabelling_nodes_changes_only_their_names(edges: list, names: list[int], directed: bool) -> None:
    renamed = build([(names[source], names[target], amount) for source, target, amount in edges], directed=directed)

    def pair(source: int, target: int) -> tuple[int, int]:
        one, two = names[source], names[target]
        return (one, two) if directed else (min(one, two), max(one, two))

    expected = {pair(*ends): values for ends, values in as_dictionary(build(edges, directed=directed)).items()}
    assert as_dictionary(renamed) == expected


def test_rules_by_name() -> None:
    summed = ("amount", "total_amount", "amount_eur", "edge_weight", "Weights", "counts")
    assert {merge_rule(name, {}) for name in summed} == {"sum"}
    assert {merge_rule(name, {}) for name in ("time", "distance", "accountant", "weighted")} == {"mean"}
    assert merge_rule("amount", {"amount": "max"}) == "max"
    with pytest.raises(ParameterError, match="sum, mean, min, max"):
        read_graphs([{"nodes": 1}], merge={"amount": "median"})


@pytest.mark.parametrize("rule", ["sum", "mean"])
def test_merged_amounts_stay_finite(rule: str) -> None:
    merged = canonical_graph_set(
        [2], [0, 0], [1, 1], edge_attributes=[[1e308], [1e308]], edge_attribute_names=("amount",), directed=True,
        merge={"amount": rule},
    )  # fmt: skip
    assert np.isfinite(merged.edge_attributes).all()


def test_a_rule_for_an_attribute_that_no_edge_has_is_refused() -> None:
    record = {"nodes": 2, "edges": [{"source": 0, "target": 1, "attributes": {"amount": 3}}]}
    expected = r"has no edge attribute 'amout' to merge\. Edge attributes found: amount"
    with pytest.raises(SchemaError, match=expected):
        read_graphs([record], merge={"amount": "max", "amout": "max"})
    assert len(read_graphs([record], merge={"amount": "max", "count": "max"})) == 1
    assert len(read_graphs([{"nodes": 2}], merge={"amount": "max"})) == 1  # no edges, so no attributes either


def test_a_given_count_is_summed_and_a_missing_one_is_one() -> None:
    edges = [
        {"source": 0, "target": 1, "attributes": {"count": 3}},
        {"source": 0, "target": 1, "attributes": {}},
    ]
    graphs = read_graphs([{"nodes": 2, "edges": edges, "directed": True}])
    assert as_dictionary(graphs) == {(0, 1): [4.0]}
