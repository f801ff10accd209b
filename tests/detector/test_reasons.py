"""Labels and attributes in the words of an explanation."""

import numpy as np
import pytest

from graphglass import GraphGlass, read_graphs
from graphglass.channels.profiled_graphs import ProfiledGraphs
from graphglass.detector.reasons import _carried, field_deviations
from graphglass.graphs.canonical import canonical_graph_set
from graphglass.graphs.concatenation import concatenate
from graphglass.structure.profile import profile

PATH = ([0, 1, 2], [1, 2, 3])  # four nodes in a row


def path(name, labels=None, edges=None, values=None, sources=PATH[0], targets=PATH[1]):
    return canonical_graph_set(
        [4], sources, targets, ids=[name],
        node_labels=labels, edge_labels=edges, attributes=None if values is None else np.array(values)[:, None],
        label_names={1: "C", 2: "N", 9: "Br", 5: "single", 6: "double"},
    )  # fmt: skip


def deviations(query, references):
    return field_deviations(*(ProfiledGraphs(part, profile(part), {}) for part in (query, references)))


@pytest.fixture
def references():
    return concatenate(path(f"r{i}", [1, 1, 2, 1], [5, 5, 5], [0.0, 1.0, 2.0, 1.0 + i]) for i in range(6))


def test_shares_are_those_counted_by_hand(references):
    found = {column.name: column for column in _carried(path("q", [9, 1, 2, 2], [6, 5, 6], [5, 1, 2, 0]), references)}
    assert {name: column.value for name, column in found.items() if column.share_of == "nodes"} == {
        "label C": 0.25, "label N": 0.5, "label Br": 0.25,
    }  # fmt: skip
    assert found["label C"].normal == pytest.approx([0.75] * 6)
    assert found["edge C–Br (double)"].value == pytest.approx(1 / 3)
    assert not found["edge C–Br (double)"].normal.any()
    assert found["edge C–N (single)"].normal == pytest.approx([2 / 3] * 6)
    assert found["highest attribute_0"].value == 5
    assert found["highest attribute_0"].normal == pytest.approx([2, 2, 3, 4, 5, 6])
    assert found["mean attribute_0"].normal[0] == pytest.approx(1.0)


def test_unseen_labels_come_first_and_are_named(references):
    rows = deviations(path("q", [9, 1, 2, 1], [5, 5, 5], [0, 1, 2, 1]), references)
    assert rows[0].name in ("label Br", "edge C–Br (single)")
    assert rows[0].cause == rows[1].cause
    assert "label Br makes up 25% of the nodes; no normal graph has it" in [r.words for r in rows]


def test_a_label_that_is_missing_is_named(references):
    words = [row.words for row in deviations(path("q", [1, 1, 1, 1], [5, 5, 5], [0, 1, 2, 1]), references)]
    assert any(text.startswith("label N makes up 0% of the nodes, lower than usual") for text in words)


def test_usual_labels_are_not_listed(references):
    names = [row.name for row in deviations(references[3], references)]
    assert not any(name.startswith(("label", "edge ", "mean", "highest")) for name in names)


def test_graphs_without_labels_attributes_or_edges_have_no_such_words(references):
    bare = concatenate(path(f"r{i}") for i in range(3))
    assert list(_carried(bare[0], bare)) == []
    lone = path("lone", [1, 1, 2, 1], [], [0, 1, 2, 1], sources=[], targets=[])
    assert not any(column.share_of == "edges" for column in _carried(lone, references))


def test_coordinates_have_no_usual_value():
    generator = np.random.default_rng(0)
    places = [np.cumsum([[1.0, 0], [0, 1], [1, 0], [0, 1]], axis=0) + generator.normal(size=2) for _ in range(3)]
    drawn = concatenate(
        canonical_graph_set([4], *PATH, ids=[f"r{i}"], attributes=place) for i, place in enumerate(places)
    )
    assert list(_carried(drawn[0], drawn)) == []


def test_atoms_and_bonds_are_called_by_their_names(tmp_path):
    pytest.importorskip("rdkit")
    normals, queries = tmp_path / "n.smi", tmp_path / "q.smi"
    normals.write_text("CCO\nCCCO\nCCN\nCCCC\nCC(C)O\nCCCCO\nCC(C)N\nCCOC\n")
    queries.write_text("CC(Br)N=NC\n")
    told = GraphGlass().fit(read_graphs(normals)).explain(read_graphs(queries), nodes=False)
    names = [field.name for field in told.fields]
    assert "label Br" in names[:3]
    assert "edge N–N (double)" in names[:3]


def test_equal_attributes_are_not_unusual():
    """The query's mean in single and the references' in double precision would differ in the last digits."""
    same = concatenate(path(f"r{i}", values=[0.7] * 4) for i in range(5))
    assert all(column.value == column.normal[0] for column in _carried(same[0], same))


def test_many_labels_cost_no_pass_each():
    generator = np.random.default_rng(0)
    many = concatenate(path(f"r{i}", generator.integers(0, 10**6, 4)) for i in range(200))
    assert len([c for c in _carried(many[0], many) if c.share_of == "nodes"]) <= 4


def test_text_that_looks_like_another_label_is_marked(references):
    other = canonical_graph_set([4], *PATH, ids=["q"], node_labels=[1, 1, 77, 1], edge_labels=[5, 5, 5],
                                attributes=np.zeros((4, 1)), label_names={77: "N", 1: "C", 5: "single"})  # fmt: skip
    names = [column.name for column in _carried(other, references)]
    assert "label N (text)" in names
    assert "label N" in names


def test_descriptors_of_a_molecule_are_told_in_the_words_of_a_chemist(molecules):
    greasy = read_graphs(["CCCCCCCCCCCCCCCCCCCC"], format="smi")
    found = {row.name: row for row in deviations(greasy, molecules[:19])}
    assert found["logP"].value == pytest.approx(8.05, abs=0.01)
    assert found["logP"].words.startswith("logP is 8.05, higher than usual: normal graphs have ")
    assert found["molecular weight"].cause == "size"
    assert "formal charge" not in found  # as usual
