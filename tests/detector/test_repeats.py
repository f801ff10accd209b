"""Copies among the references, and repeats that are observations."""

from dataclasses import replace

import numpy as np
import pytest

from graphglass import GraphGlass, ReferenceDetector, concatenate, read_graphs
from graphglass.detector.reference_sets import distinct_places, equal_places
from graphglass.errors import ParameterError

SMILES = ["C" * size + end for size in range(2, 14) for end in ("O", "N", "", "F", "Cl", "S")]


@pytest.fixture(scope="module")
def molecules():
    return read_graphs(SMILES, format="smi")


def twice(graphs, times=2):
    return concatenate([replace(graphs, ids=tuple(f"{i}/{name}" for name in graphs.ids)) for i in range(times)])


def test_the_first_of_equal_graphs_is_found_whatever_the_order_of_nodes():
    graphs = read_graphs(
        ["CCO", "CCN", "OCC", "C1CCC2CCCCC2C1", "NCC", "C1CCCC1C1CCCC1", "C12CCCCC1CCCC2"], format="smi"
    )
    assert distinct_places(graphs).tolist() == [0, 1, 3, 5]


def test_references_that_are_all_equal_are_all_kept_and_told():
    detector = GraphGlass().fit(read_graphs(["CCO"] * 12, format="smi"))
    assert (detector.scorer_.reference_count, detector.scorer_.repeated) == (12, 0)
    assert detector.repeats_notice() == "All 12 references are equal, which ranks nothing."


@pytest.mark.parametrize("times", [2, 3])
def test_copies_of_molecules_change_nothing(molecules, times):
    references, queries = molecules[:40], molecules[40:]
    once, copied = GraphGlass().fit(references), GraphGlass().fit(twice(references, times))
    assert np.array_equal(copied.p_values(queries), once.p_values(queries))
    assert np.array_equal(copied.decision_scores_, once.decision_scores_)
    assert copied.repeats_notice() == f"{40 * (times - 1)} of {40 * times} references equal another one and count once."
    kept = GraphGlass(repeats="keep").fit(twice(references, times))
    assert kept.p_values(queries).mean() < once.p_values(queries).mean() / 2


def test_repeats_without_real_values_are_observations(caplog):
    paths = read_graphs([{"nodes": n, "edges": [[i, i + 1] for i in range(n - 1)]} for n in [4, 4, 4, 5, 5, 6, 7, 8]])
    detector = GraphGlass().fit(paths)
    assert len(detector.references_) == 8
    assert "each counts as an observation" in caplog.text
    assert "repeats='once'" in caplog.text
    assert len(GraphGlass(repeats="once").fit(paths).references_) == 5


def test_the_choice_is_saved_and_told(molecules, tmp_path):
    GraphGlass().fit(twice(molecules[:10])).save(tmp_path / "model")
    loaded = ReferenceDetector.load(tmp_path / "model")
    assert loaded.scorer_.repeated == 10
    assert "repeats: once; 10 left out" in (tmp_path / "model" / "README.md").read_text()


def test_a_copy_that_counts_once_is_still_a_reference(molecules):
    copied = twice(molecules[:20])
    detector = GraphGlass().fit(copied)
    table = detector.score_table(copied)
    assert table.reference.all()
    assert np.array_equal(table.scores, np.tile(detector.decision_scores_, 2))
    assert (equal_places(copied, detector.references_.graphs) >= 0).all()


def test_another_word_is_refused(molecules):
    with pytest.raises(ParameterError, match="'repeats' parameter of GraphGlass must be one of auto, once, keep"):
        GraphGlass(repeats="twice").fit(molecules)
