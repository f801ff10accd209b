import numpy as np
import pytest
import torch

from graphglass.errors import SchemaError
from graphglass.glass.network.features import graph_inputs, standardise_within
from graphglass.glass.network.graph_batch import join_batches
from graphglass.glass.network.schema import fit_schema, open_schema
from graphglass.graphs.canonical import canonical_graph_set
from graphglass.structure.profile import profile


def test_standardising_by_hand():
    values = np.array([[1.0, 5.0], [3.0, 5.0], [10.0, 0.0], [10.0, 1.0], [10.0, 2.0]])
    done = standardise_within(values, np.array([0, 2, 5]))
    spread = np.sqrt(2 / 3)
    assert np.allclose(done, [[-1, 0], [1, 0], [0, -1 / spread], [0, 0], [0, 1 / spread]])


def test_a_large_constant_is_no_signal():
    done = standardise_within(np.full((7, 1), 0.1) * 1e6, np.array([0, 7]))
    assert not done.any()


def test_no_graphs_give_no_rows():
    assert standardise_within(np.zeros((0, 3)), np.array([0])).shape == (0, 3)


def test_both_views_stand_side_by_side(make_graphs):
    graphs = make_graphs(labels=[1, 2], attributes=2)
    structure = profile(graphs)
    views = {
        name: graph_inputs(graphs, structure, fit_schema(graphs, structure, normalisation=name))
        for name in ("graph", "reference", "both")
    }
    assert torch.equal(views["both"].features, torch.cat([views["graph"].features, views["reference"].features], 1))
    assert torch.equal(views["both"].columns, torch.cat([views["graph"].columns, views["reference"].columns + 128]))


def test_taking_equals_building_from_the_chosen_graphs(make_graphs):
    graphs = make_graphs(count=9, labels=[0, 3], attributes=1)
    structure = profile(graphs)
    schema = fit_schema(graphs, structure)
    chosen = np.array([4, 0, 8, 4])
    taken = graph_inputs(graphs, structure, schema).take(torch.from_numpy(chosen))
    built = graph_inputs(graphs[chosen], structure[chosen], schema)
    for name in ("features", "columns", "node_offsets", "neighbour_offsets", "neighbours", "sketch"):
        assert torch.equal(getattr(taken, name), getattr(built, name)), name


def test_profile_of_other_graphs_is_refused(make_graphs):
    graphs, others = make_graphs(seed=1), make_graphs(seed=2)
    schema = fit_schema(graphs, profile(graphs))
    with pytest.raises(SchemaError, match="same graphs"):
        graph_inputs(graphs, profile(others), schema)


def test_joined_domains_keep_their_columns(make_graphs):
    first, second = make_graphs(count=3, labels=[0, 2]), make_graphs(count=2, seed=5, attributes=3)
    schema = open_schema([profile(first), profile(second)], normalisation="graph")
    parts = [graph_inputs(graphs, profile(graphs), schema) for graphs in (first, second)]
    joined = join_batches(parts)
    assert joined.columns.tolist() == [*range(10), 11, 125, 126, 127]
    assert len(joined) == 5
    wide = torch.zeros(len(joined.features), 128)
    wide[:, joined.columns] = joined.features
    expected = torch.zeros_like(wide)
    split = first.node_count
    expected[:split, parts[0].columns] = parts[0].features
    expected[split:, parts[1].columns] = parts[1].features
    assert torch.equal(wide, expected)
    again = joined.take(torch.tensor([3, 4]))
    assert torch.equal(again.neighbours, parts[1].neighbours)


def test_inputs_do_not_share_memory_with_the_graphs(make_graphs):
    graphs = make_graphs()
    inputs = graph_inputs(graphs, profile(graphs), fit_schema(graphs, profile(graphs)))
    inputs.neighbours.zero_()
    assert graphs.neighbours.any()


def test_single_node_graph_has_finite_features():
    graphs = canonical_graph_set([1, 1], [], [])
    inputs = graph_inputs(graphs, profile(graphs), fit_schema(graphs, profile(graphs)))
    assert torch.isfinite(inputs.features).all()
