"""Items of a request are read together, and each as if it came alone."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphglass.errors import LimitError, SchemaError
from graphglass.graphs.chemistry import CONTRIBUTIONS, ENVIRONMENTS
from graphglass.graphs.graph_set import GraphSet
from graphglass.serve import schemas
from graphglass.serve.request_graphs import (
    ServeLimits,
    check_work,
    estimated_seconds,
    item_names,
    read_items,
    request_items,
)

LIMITS = ServeLimits(nodes=50).reading
PATH = {"nodes": 3, "edges": [[0, 1], [1, 2]]}
LABELLED = {"nodes": [{"id": 0, "label": "C"}, {"id": 1, "label": "O"}], "edges": [[0, 1]]}
CHEMISTRY = {"environments": [[1] * ENVIRONMENTS] * 2, "contributions": [[0.5] * len(CONTRIBUTIONS)] * 2}
ITEMS = [
    PATH, LABELLED, {**LABELLED, "chemistry": CHEMISTRY}, {**LABELLED, "smiles": "a column of the caller"},
    {"nodes": 2, "edges": [[0, 9]]}, {"nodes": -1}, {}, {"nodes": 51},
    {"nodes": [{"id": 0, "attributes": {"q": 1.5}}]}, {"nodes": [{"id": "\ud800"}]},
    {"smiles": "CCO"}, {"smiles": "C(("},
]  # fmt: skip


def as_is(graphs):
    return graphs


def labelled_only(graphs):
    if graphs.node_labels is None:
        raise SchemaError("Queries must carry node labels.")
    return graphs


def hashes(sets):
    return {
        int(graph.ids[0]): (graph.content_hashes(), graph.atom_environments is None)
        for graphs in sets
        for graph in graphs
    }


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(st.sampled_from(ITEMS), max_size=9), st.sampled_from([as_is, labelled_only, GraphSet.structure_only]))
def test_every_item_is_read_or_rejected_as_if_it_came_alone(items, accept):
    sets, rejected = read_items(items, LIMITS, accept)
    found = hashes(sets)
    assert found.keys() | rejected.keys() == set(range(len(items)))
    assert not found.keys() & rejected.keys()
    for place, item in enumerate(items):
        alone, alone_rejected = read_items([item], LIMITS, accept)
        assert (place in rejected) == bool(alone_rejected)
        if place in rejected:
            assert rejected[place] == alone_rejected[0]
        else:
            assert found[place] == hashes(alone)[0]


def test_names_stay_apart_even_from_names_like_ours():
    assert item_names([{"id": name} for name in ("x", "x", "x (2)", "x")]) == ("x", "x (3)", "x (2)", "x (4)")
    assert item_names([{"smiles": "CCO"}, {}, {"id": 7}, {"id": True}]) == ("CCO", "graph-1", "7", "graph-3")


def test_work_is_bounded_by_its_estimate_before_anything_is_read():
    bounds = ServeLimits(work_seconds=1, graphs=300)
    assert check_work(schemas.ScoreRequest(smiles=["CCO"] * 20), bounds) < bounds.quick_seconds
    for huge in ({"nodes": 90_000, "edges": []}, {"nodes": 90_000, "smiles": "C"}):
        with pytest.raises(LimitError, match="seconds of work"):
            check_work(schemas.ScoreRequest(graphs=[huge]), bounds)
    with pytest.raises(LimitError, match="300 graphs, found 301"):
        check_work(schemas.ScoreRequest(smiles=["C"] * 301), bounds)
    for odd in ({"nodes": "many"}, {"nodes": None, "edges": 3}, {"nodes": 10**400}, {"nodes": -5}):
        assert np.isfinite(estimated_seconds(odd, LIMITS))


def test_a_molecule_that_is_too_long_costs_nothing_whichever_way_it_comes():
    long = "C" * 120_000
    bounds = ServeLimits()
    for request in (schemas.ScoreRequest(graphs=[{"smiles": long}]), schemas.ScoreRequest(smiles=[long, "CCO"])):
        assert check_work(request, bounds) < 0.01
        start = time.process_time()
        sets, rejected = read_items(request_items(request), bounds.reading, as_is)
        assert time.process_time() - start < 5  # parsed, it takes more than a minute
        assert rejected == {0: "a SMILES string of 120,000 characters, the limit max_smiles_characters is 4,000"}
        assert sum(map(len, sets)) == len(request.smiles[1:])


def test_a_long_molecule_is_estimated_by_what_it_takes():
    """Measured: 0.37 seconds for a chain of 4,000 atoms. A usual molecule takes one or two thousandths."""
    bounds = ServeLimits().reading
    assert estimated_seconds({"smiles": "C" * 4000}, bounds) > 0.37
    assert estimated_seconds({"smiles": "C" * 24}, bounds) < 0.0025


def test_an_explanation_is_estimated_with_its_deletions():
    graph = {"nodes": 1000, "edges": [[i, i + 1] for i in range(999)]}
    score, explain = (
        check_work(kind(graphs=[graph]), ServeLimits()) for kind in (schemas.ScoreRequest, schemas.ExplainRequest)
    )
    assert explain > 50 * score
