"""What a picture shows, read back from its SVG."""

import re
from collections import Counter
from xml.etree import ElementTree

import numpy as np
import pytest

from graphglass import load_dataset, read_graphs
from graphglass.drawing import molecule_svg
from graphglass.drawing.graph_svg import MOST_NODES, draw_graph, drawing_style, frequent_labels
from graphglass.drawing.molecule_svg import atom_name, depict
from graphglass.errors import MissingExtraError
from graphglass.graphs.canonical import canonical_graph_set

SVG = "{http://www.w3.org/2000/svg}"


def classes(picture, name="circle"):
    return [element.get("class") for element in ElementTree.fromstring(picture.svg).iter(SVG + name)]


def texts(picture):
    return ["".join(element.itertext()) for element in ElementTree.fromstring(picture.svg).iter(SVG + "text")]


def atoms(picture):
    """The symbols of the atoms that have letters, one for every letter or sign."""
    return [name.split()[1] for name in classes(picture, "path") if name.startswith("atom ")]


def test_molecules_have_bond_orders_charges_and_hydrogens():
    picture = draw_graph(read_graphs(["OCC#N.[Na+].C[N+](=O)[O-]"], format="smi"))
    letters = Counter(atoms(picture))
    assert set(letters) == {"O", "N", "Na"}
    assert letters["O"] == 2 + 1 + 2  # OH, O and O with its sign
    titles = [title.text for title in ElementTree.fromstring(picture.svg).iter(SVG + "title")]
    assert titles[4:] == ["Na4, charge +1", "C5", "N6, charge +1", "O7", "O8, charge -1"]
    assert "style=" not in picture.svg
    assert "#" not in picture.svg  # colours are the page's


def test_rings_are_drawn_with_alternating_bonds():
    joints = 6  # RDKit rounds the corners of a ring with a path each
    lines = classes(draw_graph(read_graphs(["c1ccccc1"], format="smi")), "path")
    assert lines == ["bond"] * (9 + joints)  # six bonds, three of them double


def test_bonds_of_small_molecules_are_no_longer_than_those_of_large_ones():
    short, long = (depict(read_graphs([smiles], format="smi"), 300, 24) for smiles in ("CO", "C" * 30))
    assert long.length < short.length <= 34
    for paper in (short, long):
        assert (paper.places > 0).all()
        assert (paper.places < (300, paper.height)).all()


def test_responsible_atoms_and_the_bond_between_them_are_highlighted():
    attribution = np.array([0.0, 0.9, 1.0, 0.0, 0.05])
    picture = draw_graph(read_graphs(["CCOCC"], format="smi"), attribution)
    assert classes(picture).count("halo hot") == 2
    assert "cold" not in picture.svg
    assert classes(picture, "line").count("halo hot") == 1


def test_without_rdkit_a_molecule_is_drawn_as_a_graph(monkeypatch):
    graphs = read_graphs(["CCO"], format="smi")

    def missing():
        raise MissingExtraError("Reading molecules", "chem")

    monkeypatch.setattr(molecule_svg, "rdkit_chemistry", missing)
    assert classes(draw_graph(graphs), "line") == ["edge"] * 2


@pytest.mark.parametrize("labels", [["C", "N", "C", "X9"], ["B", "F", "B", "F"]])
def test_labels_that_are_no_molecule_are_left_alone(labels):
    nodes = [{"id": i, "label": label} for i, label in enumerate(labels)]
    picture = draw_graph(read_graphs([{"nodes": nodes, "edges": [[0, 1], [1, 2], [2, 3]]}]))
    assert classes(picture, "line") == ["edge"] * 3


def test_a_label_has_one_colour_in_all_pictures_of_a_set():
    many = [{"id": str(i), "nodes": [{"id": 0, "label": "b"}, {"id": 1, "label": "b"}], "edges": []} for i in range(3)]
    odd = {
        "id": "odd",
        "nodes": [{"id": 0, "label": "a"}, {"id": 1, "label": "a"}, {"id": 2, "label": "b"}],
        "edges": [],
    }
    graphs = read_graphs([*many, odd])
    assert frequent_labels(graphs) == ("b", "a")
    picture = draw_graph(graphs[3], coloured=frequent_labels(graphs))
    assert classes(picture) == ["node c1", "node c1", "node c0", "node c0", "node c1"]  # the last two are the legend
    assert texts(picture)[-2:] == ["b", "a"]
    assert "node rest" in classes(draw_graph(graphs[3], coloured=("b",)))


def test_directed_edges_have_heads_where_they_point_to():
    nodes = [{"id": i} for i in range(3)]
    record = {"id": "a", "directed": True, "nodes": nodes, "edges": [[0, 1], [2, 1]]}
    picture = draw_graph(read_graphs([record], directed=True))
    root = ElementTree.fromstring(picture.svg)
    tips = [tuple(map(float, head.get("points").split()[0].split(","))) for head in root.iter(SVG + "polygon")]
    spots = [np.array([float(c.get("cx")), float(c.get("cy"))]) for c in root.iter(SVG + "circle")]
    assert [int(np.argmin([np.linalg.norm(np.array(tip) - spot) for spot in spots])) for tip in tips] == [1, 1]


def test_edges_of_large_amounts_are_thick():
    edges = [{"source": i, "target": i + 1, "attributes": {"time": 9 - i, "amount": 10**i}} for i in range(3)]
    graph = read_graphs([{"nodes": 4, "edges": edges}])
    lines = ElementTree.fromstring(draw_graph(graph).svg).iter(SVG + "line")
    widths = [float(line.get("stroke-width")) for line in lines]
    assert widths == sorted(widths)
    assert widths[-1] == pytest.approx(4 * widths[0], abs=0.3)


def test_hot_edges_are_drawn_where_both_ends_are_shown():
    graph = read_graphs([{"nodes": 3, "edges": [[0, 1], [1, 2]], "directed": True}])
    assert classes(draw_graph(graph), "line").count("halo hot") == 0
    parts = np.zeros(3), np.array([1.0, 0.0])
    assert classes(draw_graph(graph, parts[0], None, parts[1]), "line").count("halo hot") == 1
    path = canonical_graph_set(np.array([400]), np.arange(399), np.arange(1, 400))
    both = np.zeros(399)
    both[[0, 398]] = 1.0
    assert classes(draw_graph(path, np.zeros(400), None, both), "line").count("halo hot") < 2


def test_foreign_labels_have_their_own_colour_and_name():
    nodes = [{"id": str(i), "label": label} for i, label in enumerate(("shop", "shop", "casino"))]
    graph = read_graphs([{"nodes": nodes, "edges": [["0", "1"], ["1", "2"]]}])
    picture = draw_graph(graph, coloured=("shop",), foreign=("casino",))
    assert classes(picture).count("node foreign") == 2  # the node and the legend
    assert texts(picture).count("casino") == 2
    assert "other" not in texts(picture)


def test_names_and_amounts_are_written_where_they_fit():
    nodes = [{"id": name, "label": "account"} for name in ("ada", "bob", "cleo")]
    edges = [{"source": "ada", "target": "bob", "attributes": {"amount": 12800}},
             {"source": "bob", "target": "cleo", "attributes": {"amount": 7}}]  # fmt: skip
    written = texts(draw_graph(read_graphs([{"nodes": nodes, "edges": edges}])))
    assert {"ada", "bob", "cleo", "12,800", "7"} <= set(written)
    crowd = [{"id": f"person {i}"} for i in range(100)]
    many = read_graphs([{"nodes": crowd, "edges": [["person 0", f"person {i}"] for i in range(1, 100)]}])
    assert len(texts(draw_graph(many))) < 60


def test_what_another_graph_lacks_has_a_dashed_ring():
    graph = read_graphs(["CCO"], format="smi")
    assert classes(draw_graph(graph, lacking=np.array([0.0, 0.2, 1.0]))).count("lacking") == 1


def test_tu_molecules_are_drawn_with_their_elements_and_bonds():
    graph = load_dataset("MUTAG")[0]
    picture = draw_graph(graph)
    assert atoms(picture).count("O") == 2  # a nitro group
    assert atom_name(graph, 0) is None  # charges are not known


def test_of_a_large_graph_the_part_around_the_strongest_node_is_drawn():
    size = 4 * MOST_NODES
    path = canonical_graph_set([size], range(size - 1), range(1, size))
    attribution = np.zeros(size)
    attribution[size - 1] = 1.0
    picture = draw_graph(path, attribution)
    assert (picture.shown, picture.total) == (MOST_NODES, size)
    assert f"node {size - 1}, " in picture.svg
    assert "node 0," not in picture.svg
    assert f"{MOST_NODES} of {size} nodes" in picture.svg


def test_names_are_escaped_and_nothing_is_styled_in_place():
    graphs = read_graphs(
        [{"id": "<script>", "nodes": [{"id": "<b>", "label": "<i>"}, {"id": 1, "label": "x"}], "edges": []}]
    )
    picture = draw_graph(graphs, np.array([0.0, 1.0]))
    ElementTree.fromstring(picture.svg)
    assert "<script" not in picture.svg
    assert "style=" not in picture.svg
    used = {name for text in re.findall(r'class="([^"]+)"', picture.svg) for name in text.split()}
    assert not {name for name in used - {"graph"} if f".{name}" not in drawing_style()}


def test_an_attribute_of_any_name_is_written_at_its_edges_before_the_count():
    edges = [
        {"source": 0, "target": 1, "attributes": {"chf": 1400.5}},
        {"source": 1, "target": 2, "attributes": {"chf": 60}},
    ]
    nodes = [{"id": place} for place in range(3)]
    graph = read_graphs([{"id": "g", "directed": True, "nodes": nodes, "edges": edges}])
    written = re.findall(r'class="amount"[^>]*>([^<]*)<', draw_graph(graph).svg)
    assert written == ["1,400", "60"]
