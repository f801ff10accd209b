"""Which graphs are the same: whatever their order of nodes, and with everything their edges carry."""

import warnings
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

from graphglass import GraphGlass, read_graphs
from graphglass.detector.reference_sets import equal_places
from graphglass.errors import InputError
from graphglass.graphs.labels import text_code


def molecules(*smiles):
    return read_graphs(list(smiles), format="smi")


def chains(count, *, directed=True):
    """Paths of three nodes whose edges have a number each, all different."""
    graphs = []
    for i in range(count):
        path = nx.path_graph(3, create_using=nx.DiGraph if directed else nx.Graph)
        nx.set_edge_attributes(path, {(0, 1): float(i), (1, 2): 2.5 * i + 1}, "t")
        graphs.append(path)
    return read_graphs(graphs)


def test_a_molecule_is_the_same_in_another_spelling():
    references = molecules("CCO", "CCN", "CCCN1CCCC(CC)C1")
    assert equal_places(molecules("OCC", "C1CCN(CCC)CC1CC", "CCF"), references).tolist() == [0, 2, -1]


def test_graphs_that_refinement_confuses_are_told_apart_by_their_spectra():
    decalin, bicyclopentyl = molecules("C1CCC2CCCCC2C1").structure_only(), molecules("C1CCCC1C1CCCC1").structure_only()
    assert equal_places(bicyclopentyl, decalin).tolist() == [-1]
    reordered = molecules("C12CCCCC1CCCC2").structure_only()
    assert equal_places(reordered, decalin).tolist() == [0]


@pytest.mark.parametrize("directed", [True, False])
def test_references_with_edge_data_are_recognised(directed):
    graphs = chains(24, directed=directed)
    detector = GraphGlass().fit(graphs)
    found = detector.score_table(graphs)
    assert found.reference.all()
    assert np.array_equal(found.scores, detector.decision_scores_)
    with pytest.warns(UserWarning, match="Skipped 24"), pytest.raises(InputError, match="equals a normal reference"):
        GraphGlass().fit(graphs, anomalies=graphs)


def test_undirected_queries_of_directed_references_are_told():
    detector = GraphGlass().fit(chains(24))
    with pytest.warns(UserWarning, match="read them with directed=True"):
        detector.decision_function(chains(2, directed=False))


def test_graphs_that_refinement_cannot_tell_apart_are_matched_by_their_spectra():
    references = molecules("C1CCC2CCCCC2C1", "C1CCCC1C1CCCC1")
    queries = molecules("C1CCC(C1)C1CCCC1", "C1CCCC2CCCCC12")
    queries = replace(queries, ids=("x", "y"))
    assert equal_places(queries, references).tolist() == [1, 0]


def test_labels_that_are_text_here_and_numbers_there_are_told():
    numbers, texts = chains(24, directed=False), chains(3, directed=False)
    numbers = replace(numbers, node_labels=np.arange(numbers.node_count) % 3)
    codes = np.array([text_code(text) for text in "012"])
    texts = replace(
        texts,
        node_labels=codes[np.arange(texts.node_count) % 3],
        label_names=dict(zip(codes.tolist(), "012", strict=True)),
    )
    detector = GraphGlass().fit(numbers)
    with pytest.warns(UserWarning, match="The node labels .* differ in type: '0' is text"):
        detector.decision_function(texts)
    some = replace(texts, node_labels=np.where(texts.node_labels == codes[0], 0, texts.node_labels))
    with pytest.warns(UserWarning, match="differ in type: '[12]' is text"):  # although 0 matches
        detector.decision_function(some)
    both = replace(texts, node_labels=np.append(texts.node_labels[:-3], [0, 1, 2]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        detector.decision_function(both)
        detector.decision_function(replace(texts, node_labels=np.arange(texts.node_count) + 7))
