"""Causes of a score in sentences, in the words of the domain."""

import re
from dataclasses import replace

import numpy as np
import pytest

from graphglass import GraphGlass, read_graphs
from graphglass.detector.reasons import amount
from graphglass.graphs.concatenation import concatenate

DRUGS = ["CC(=O)Oc1ccccc1C(=O)O", "CC(=O)Nc1ccc(O)cc1", "CC(C)Cc1ccc(cc1)C(C)C(=O)O", "OC(=O)c1ccccc1O",
         "CCOC(=O)c1ccc(N)cc1", "CCN(CC)CCOC(=O)c1ccc(N)cc1", "CCN(CC)CC(=O)Nc1c(C)cccc1C", "NCCc1ccc(O)c(O)c1",
         "COc1ccccc1OCC(O)CO", "CC(N)Cc1ccccc1", "NC(=O)c1cccnc1", "COc1ccc2cc(ccc2c1)C(C)C(=O)O"]  # fmt: skip


@pytest.fixture(scope="module")
def drugs():
    pytest.importorskip("rdkit")
    return GraphGlass().fit(read_graphs(DRUGS, format="smi"))


def explained(detector, smiles):
    return detector.explain(read_graphs([smiles], format="smi"))


def test_the_metal_of_cisplatin_is_the_hottest_atom_and_the_first_sentence(drugs):
    told = explained(drugs, "N[Pt](N)(Cl)Cl")
    assert told.node_attribution.argmax() == 1
    assert told.reasons[0] == "Contains platinum (Pt1); none of 12 normal molecules has platinum."
    assert "hottest nodes: Pt1 (" in str(told)


@pytest.mark.parametrize(
    ("smiles", "name", "atoms"),
    [
        ("CC(=O)Nc1ccc(N=[N+]=[N-])cc1", "an azide", {8, 9, 10}),
        ("OC(=O)c1ccccc1OO", "a hydroperoxide", {9, 10}),
        ("CC(=O)Nc1ccc([N+]#[C-])cc1", "an isocyanide", {8, 9}),
        ("CC(C)OP(C)(=O)F", "a phosphoryl fluoride", {4, 6, 7}),
        ("CCOC(=O)c1ccc(B(O)O)cc1", "a boronic acid", {9, 10, 11}),
        ("CC(=O)Nc1ccc(S(=O)(=O)F)cc1", "a sulfonyl halide", {8, 9, 10, 11}),
        ("CC(=O)Nc1ccc([Si](Cl)(Cl)Cl)cc1", "a chlorosilane", {8}),
        ("CC(=O)Nc1ccc(N(C)(C)=O)cc1", "an N-oxide", {8, 11}),
        ("CC(=O)Nc1ccc(OCl(=O)(=O)=O)cc1", "a perchlorate", {8, 9, 10, 11, 12}),
        ("CC(=O)Nc1ccc(C=C=C)cc1", "an allene", {8, 9, 10}),
        ("CC(C)c1ccc(cc1)NC(=O)N(C)C", "a urea", {9, 10, 11, 12}),
    ],
)
def test_functional_groups_are_named_and_hot(drugs, smiles, name, atoms):
    told = explained(drugs, smiles)
    sentence = next(cause for cause in told.causes if cause.words.startswith("Contains"))
    assert sentence.words.startswith(f"Contains {name} (")
    assert sentence.words.endswith("; none of the five nearest normal molecules does.")
    assert set(sentence.nodes) == atoms
    assert int(told.node_attribution.argmax()) in atoms


def test_heavy_hydrogen_is_named(drugs):
    told = explained(drugs, "[2H]C([2H])([2H])Oc1ccccc1OCC(O)CO")
    assert told.reasons[0].startswith("Contains deuterium or tritium (H0, H2, H3); none of 12 normal molecules has ")
    assert told.node_attribution.argmax() in (0, 2, 3)
    bridge = read_graphs(["[H][H]"], format="smi")
    assert "deuterium" not in " ".join(drugs.explain(bridge).reasons)


def test_what_no_field_tells_is_told_by_the_distance_to_the_references(drugs):
    reasons = [
        text for smiles in ("CC1CCCCC1C", "FC(F)(F)C(F)(F)F", "CCCCCCCCCC") for text in explained(drugs, smiles).reasons
    ]
    assert not any("than they do from each other" in text for text in reasons)
    pattern = r"in .* its nearest normal molecules are [\d.e-]+ away; nine in ten of 12 normal molecules have theirs "
    pattern += r"[\d.e-]+ to [\d.e-]+ away, \w+ as far or farther\.$"
    assert any(re.search(pattern, text) for text in reasons)


def test_values_that_more_nodes_have_are_told_with_their_number(drugs):
    text = explained(drugs, "CCCCCCCCCCCCc1ccccc1").reasons[0]
    assert re.match(
        r"11 of 18 atoms have 2 hydrogens, C\d+ among them; in the five nearest normal molecules \d+%\.$", text
    )
    assert "13 of 13 atoms are sp3; in the five nearest " in explained(drugs, "CCN(CC)CCOCC(C)(C)C").reasons[0]


def test_elements_of_coded_labels_are_named_by_their_text(mutag):
    """MUTAG writes chlorine as 5, which is the number of boron."""
    codes = {text: code for code, text in mutag.code_names["node"].items()}
    rings = [graph for graph in mutag if not np.isin(graph.node_labels, [codes["Cl"], codes["Br"]]).any()]
    labels = rings[0].node_labels.copy()
    labels[0] = codes["Cl"]
    told = GraphGlass().fit(concatenate(rings[1:41])).explain(replace(rings[0], node_labels=labels, ids=("odd",)))
    assert "Contains chlorine (Cl0); none of 40 normal molecules has chlorine." in told.reasons


def test_atoms_that_are_equal_share_a_sentence(drugs):
    reasons = explained(drugs, "CC[Pb](CC)(CC)CC").reasons
    assert reasons[0] == "Contains lead (Pb2); none of 12 normal molecules has lead."
    assert sum(text.startswith("C") and not text.startswith("Contains") for text in reasons) <= 1


def test_groups_in_number_are_compared_in_number():
    normals = ["CCCCC[N+](=O)[O-]", "CCC(C)CC[N+](=O)[O-]", "CCCC[N+](=O)[O-]", "CCCCCC[N+](=O)[O-]"]
    many = "O=[N+]([O-])CC(C[N+](=O)[O-])(C[N+](=O)[O-])C[N+](=O)[O-]"
    detector = GraphGlass().fit(
        read_graphs([*normals, "O=[N+]([O-])CC(C[N+](=O)[O-])(C[N+](=O)[O-])CC[N+](=O)[O-]"], format="smi")
    )
    told = " ".join(detector.explain(many).reasons)
    assert "Contains four nitro groups; one of the five nearest normal molecules does." in told


def test_a_missing_ring_is_told_with_a_reference_that_has_one(drugs):
    told = explained(drugs, "CCCCCCCC(=O)O")
    assert any("no ring; all five nearest normal molecules have one, such as line-" in text for text in told.reasons)


def test_structure_is_told_to_chemists_in_their_words(drugs):
    words = " ".join(
        " ".join(explained(drugs, smiles).reasons) for smiles in ("CCCCCCCCCCCCCCCCCC", "C1CC1C1CC1", "[Na+].[Cl-]")
    )
    for odd in ("core", "spectrum", "node", "edge", "graph", "clustering", "aromatic is"):
        assert odd not in words


def flow(seed, labels=("a", "b", "c", "a", "b", "c")):
    rng = np.random.default_rng(seed)
    nodes = [
        {"id": f"n{i}", "label": label, "attributes": {"risk_score": float(rng.normal())}}
        for i, label in enumerate(labels)
    ]
    edges = [
        {"source": f"n{i}", "target": f"n{(i + 1) % 6}", "attributes": {"amount": int(rng.integers(3, 900))}}
        for i in range(6)
    ]
    return {"id": f"g{seed}", "directed": True, "nodes": nodes, "edges": edges}


@pytest.fixture(scope="module")
def flows():
    return GraphGlass().fit(read_graphs([flow(seed) for seed in range(40)]))


def test_a_label_that_no_reference_has_is_named_with_its_node(flows):
    told = flows.explain(read_graphs([flow(99, ("a", "b", "casino", "a", "b", "c"))]))
    assert told.reasons[0] == "Label casino at node n2; none of 40 normal graphs has this label."
    assert told.foreign == ("casino",)
    assert told.node_attribution.argmax() == 2
    assert "node foreign" in told.draw().svg


def test_labels_are_called_as_their_column_is(tmp_path):
    edges, nodes = ["graph_id,source,target"], ["graph_id,node,trade"]
    for graph in range(20):
        edges += [f"g{graph},a,b", f"g{graph},b,c{graph % 3}"]
        nodes += [f"g{graph},a,shop", f"g{graph},b,bank", f"g{graph},c{graph % 3},farm"]
    odd = ["graph_id,source,target", "x,a,b", "x,b,c"], ["graph_id,node,trade", "x,a,casino", "x,b,bank", "x,c,bank"]
    read = []
    for name, lines in {"normal": (edges, nodes), "odd": odd}.items():
        paths = tmp_path / f"{name}.csv", tmp_path / f"{name}_nodes.csv"
        for path, rows in zip(paths, lines, strict=True):
            path.write_text("\n".join(rows))
        read.append(read_graphs(paths[0], nodes=paths[1], node_label="trade"))
    reasons = " ".join(GraphGlass().fit(read[0]).explain(read[1]).reasons)
    assert "Trade casino at node a; none of 20 normal graphs has this trade." in reasons
    assert "no node with trade farm" in reasons
    assert "abel" not in reasons


def test_an_attribute_is_told_by_its_name_with_the_normal_range(flows):
    record = flow(99)
    record["nodes"][4]["attributes"]["risk_score"] = 50
    told = flows.explain(read_graphs([record]))
    assert told.reasons[0].startswith("Node n4 (b): risk score 50; normal nodes have -")
    assert told.causes[0].nodes == (4,)


def test_nodes_with_one_unusual_value_share_a_sentence():
    rng = np.random.default_rng(3)

    def sensors(name, stuck=()):
        nodes = [
            {"id": f"s{i}", "attributes": {"load": 0 if i in stuck else int(rng.integers(8, 60))}} for i in range(12)
        ]
        edges = [{"source": f"s{i}", "target": f"s{i + 1}"} for i in range(11)]
        return {"id": name, "nodes": nodes, "edges": edges}

    detector = GraphGlass().fit(read_graphs([sensors(f"day {i}") for i in range(40)]))
    told = detector.explain(read_graphs([sensors("stuck", stuck=(2, 5, 9))]))
    sentence = next(cause for cause in told.causes if "load 0; normal nodes have 8 to 59" in cause.words)
    assert set(sentence.nodes) == {2, 5, 9}
    assert all(name in sentence.words for name in ("s2", "s5", "s9"))


def test_an_edge_against_the_usual_direction_is_named(flows):
    record = flow(99)
    record["edges"][2] |= {"source": "n3", "target": "n2"}
    told = flows.explain(read_graphs([record]))
    assert told.reasons[0] == "Edge n3 (a) -> n2 (c): none of 40 normal graphs has an edge of this kind."
    assert {2, 3} == set(told.causes[0].nodes)


def test_a_missing_label_is_told_with_a_reference_that_has_it(flows):
    told = flows.explain(read_graphs([flow(99, ("a", "b", "a", "a", "b", "b"))]))
    missing = "no node with label c; all five nearest normal graphs have one, such as g"
    assert any(missing in text and "as do 40 of 40 normal graphs" in text for text in told.reasons)


def test_a_hub_is_told_by_its_neighbours():
    rings = read_graphs(
        [{"id": str(n), "nodes": n, "edges": [[i, (i + 1) % n] for i in range(n)]} for n in range(8, 28)]
    )
    spokes = [[i, (i + 1) % 12] for i in range(12)] + [[0, i] for i in range(2, 11)]
    told = GraphGlass().fit(rings).explain(read_graphs([{"id": "hub", "nodes": 12, "edges": spokes}]))
    assert told.node_attribution.argmax() == 0
    hub = "is joined to 11 nodes; nodes of the five nearest normal graphs to at most 2."
    assert any(text.startswith("Node 0") and text.endswith(hub) for text in told.reasons)


@pytest.mark.parametrize(
    ("value", "text"), [(12800, "12,800"), (0.5, "0.5"), (1234.5, "1,234"), (-3, "-3"), (2.0, "2")]
)
def test_numbers_are_written_as_people_do(value, text):
    assert amount(value) == text


def test_the_family_that_separates_a_known_anomaly_is_named(drugs):
    known = ["Cc1c(cc(cc1[N+](=O)[O-])[N+](=O)[O-])[N+](=O)[O-]", "O=[N+]([O-])c1cc([N+](=O)[O-])cc([N+](=O)[O-])c1"]
    detector = GraphGlass().fit(read_graphs(DRUGS, format="smi"), anomalies=read_graphs(known, format="smi"))
    told = explained(detector, "Oc1c([N+](=O)[O-])cc([N+](=O)[O-])cc1[N+](=O)[O-]")
    near, normal = told.resembles[0], told.neighbours[0]
    gaps = {family: near.families[family] - normal.families[family] for family in near.families}
    sentence = next(text for text in told.reasons if "esembles known anomaly" in text)
    family = max(gaps, key=gaps.get)
    assert (
        f"similarity {near.families[family]:.2f}, to the nearest normal molecule {normal.families[family]:.2f}"
        in sentence
    )


def test_likeness_to_known_anomalies_is_told_with_both_distances():
    rng = np.random.default_rng(5)

    def sensors(name, load):
        nodes = [{"id": f"s{i}", "attributes": {"load": float(load)}} for i in range(8)]
        return {"id": name, "nodes": nodes, "edges": [{"source": f"s{i}", "target": f"s{i + 1}"} for i in range(7)]}

    normal = read_graphs([sensors(f"day {i}", 10 + rng.normal()) for i in range(40)])
    detector = GraphGlass().fit(normal, anomalies=read_graphs([sensors(f"bad {i}", 60 + i) for i in range(6)]))
    told = detector.explain(read_graphs([sensors("odd", 12.4)]))
    near, usual = told.resembles[0], told.neighbours[0]
    assert near.distance > usual.distance
    (text,) = [text for text in told.reasons if "known anomal" in text]
    assert text.startswith("The graph as a whole: nearer to known anomalies than normal graphs are; the nearest, bad ")
    assert text.endswith(f"is {near.distance:.2f} away, the nearest normal graph {usual.distance:.2f}.")


def test_a_group_and_the_bond_to_it_are_one_cause(drugs):
    reasons = explained(drugs, "CC(=O)Nc1ccc(S)cc1").reasons
    assert len(set(reasons)) == len(reasons)
    assert "Contains a thiol (S8); none of the five nearest normal molecules does." in reasons


def test_a_single_other_reference_is_one_graph():
    graphs = read_graphs(
        [{"id": "a", "nodes": [{"id": 0, "label": "x"}]}, {"id": "b", "nodes": [{"id": 0, "label": "y"}]}]
    )
    told = GraphGlass().fit(graphs).explain(graphs[0])
    assert any("1 normal graph " in words for words in told.reasons)
    assert not any("1 normal graphs" in words for words in told.reasons)


@pytest.mark.parametrize("count", [2, 60])
def test_a_distance_within_the_usual_is_told_as_usual_and_only_where_nothing_else_is(mutag, count):
    graphs = mutag.without_labels()[::2]
    detector = GraphGlass().fit(graphs[:count])
    pattern = r" are ([\d.e-]+) away(, no farther than usual)?; .* theirs (?:[\d.e-]+ to )?([\d.e-]+) away, "
    for graph in graphs[60:]:
        reasons = detector.explain(graph).reasons
        told = [found.groups() for text in reasons if (found := re.search(pattern, text))]
        assert reasons
        assert all(float(own) <= float(high) if usual else float(own) >= float(high) for own, usual, high in told)
        if any(usual for _, usual, _ in told):
            assert all("no farther than usual" in text for text in reasons)


def test_the_atom_of_a_fragment_that_stands_for_any_is_a_dummy_atom(drugs):
    told = explained(drugs, "*CC(*)C(=O)Nc1ccccc1N=[N+]=[N-]")
    assert told.reasons[0] == "Contains a dummy atom (*) (*0, *3); none of 12 normal molecules has a dummy atom (*)."
    assert any("azide" in text for text in told.reasons)
    assert not any(re.search(r"\b(node|edge|graph|label)s?\b", text, re.I) for text in told.reasons)
    assert 'class="atom *"' in told.draw().svg
