import numpy as np
import pytest

from graphglass.errors import EncoderError, ParameterError
from graphglass.glass.encoders.numeric import NumericEncoder
from graphglass.glass.prompt.content import content_lines
from graphglass.glass.prompt.graphdp import graphdp
from graphglass.graphs.canonical import canonical_graph_set
from graphglass.structure.profile import profile


def test_a_graph_by_hand():
    """A star with three leaves and a lone pair: every part counted on paper."""
    graphs = canonical_graph_set(
        [6], [0, 0, 0, 4], [1, 2, 3, 5], node_labels=[6, 1, 1, 8, 6, 6], edge_labels=[1, 1, 2, 1],
        attributes=[[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], attribute_names=("charge",),
    )  # fmt: skip
    (line,) = content_lines(graphs, profile(graphs))
    parts = dict(part.split("=", 1) for part in line.split("; "))
    assert parts["labels"] == "6:50, 1:33, 8:17"
    assert parts["label_pairs"] == "1-6:50, 6-6:25, 6-8:25"
    assert parts["edge_labels"] == "1:75, 2:25"
    assert parts["attributes"] == "charge:2.50/1.71"
    assert parts["wl"] == "4/4/4"  # centre, two leaves, the other leaf, the pair
    assert parts["wedges"] == "0.50"  # three around the centre, over six nodes
    assert parts["claws"] == "0.17"
    assert parts["component_q"] == "2.5/3.0/3.5"
    assert parts["core_q"] == "1.0/1.0/1.0"
    # Ends (3, 1) three times each way and (1, 1) twice: correlation of the two columns.
    first, second = np.array([3, 3, 3, 1, 1, 1, 1, 1]), np.array([1, 1, 1, 3, 3, 3, 1, 1])
    assert float(parts["assortativity"]) == pytest.approx(np.corrcoef(first, second)[0, 1], abs=0.005)
    assert len(parts["eigenvalues"].split("/")) == 8


def test_order_and_company_change_nothing(make_graphs, reordered):
    graphs = make_graphs(count=12, seed=3, labels=[0, 1, 4], attributes=2)
    lines = content_lines(graphs, profile(graphs))
    other = reordered(graphs, 5)
    assert content_lines(other, profile(other)) == lines
    assert content_lines(graphs[3:4], profile(graphs[3:4])) == lines[3:4]


def test_version_2_is_version_1_and_more(make_graphs):
    graphs = make_graphs(count=4, labels=[0, 1])
    structure = profile(graphs)
    short, long = graphdp(structure, domain="mol"), graphdp(structure, domain="mol", graphs=graphs)
    for one, two in zip(short, long, strict=True):
        assert two.startswith(one[:-1] + "; labels=")
    assert list(long[1:3]) == list(long)[1:3]
    assert long[np.array([2])][0] == long[2] == long[-2]
    assert "labels" not in "".join(graphdp(structure))
    bare = make_graphs(count=2)
    assert "labels=" not in graphdp(profile(bare), graphs=bare)[0]


def test_what_does_not_fit_is_refused(make_graphs):
    graphs = make_graphs(count=4)
    with pytest.raises(ParameterError, match="graphs"):
        graphdp(profile(graphs), graphs=graphs[:2])
    with pytest.raises(EncoderError, match="version 1"):
        NumericEncoder(64).encode(graphdp(profile(graphs), graphs=graphs))


def test_a_tie_in_rounding_does_not_depend_on_node_order():
    """Degrees at the ends of these edges correlate by -3/8, halfway between two digits."""
    edges = np.array([(2, 1), (4, 2), (4, 3), (5, 0), (5, 4), (6, 1), (6, 2), (6, 3), (7, 6)])
    attributes = np.random.default_rng(0).normal(size=(8, 2)).astype(np.float32)
    written = set()
    for seed in range(20):
        places = np.random.default_rng(seed).permutation(8)
        moved = np.empty_like(attributes)
        moved[places] = attributes
        ends = places[edges]
        graph = canonical_graph_set([8], ends[:, 0], ends[:, 1], attributes=moved, attribute_names=("a", "b"))
        written.add(content_lines(graph, profile(graph))[0])
    (line,) = written
    assert "assortativity=-0.38" in line or "assortativity=-0.37" in line


def test_nothing_is_written_as_minus_zero():
    graph = canonical_graph_set([2], [0], [1], attributes=[[-0.001], [-0.002]], attribute_names=("a",))
    assert "a:0.00/0.00" in content_lines(graph, profile(graph))[0]
