from dataclasses import replace

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from graphglass.glass.network.encoder import GraphEncoder, SliceHeads, mean_max, unit_rows
from graphglass.glass.network.features import graph_inputs
from graphglass.glass.network.schema import fit_schema
from graphglass.structure.profile import profile


def built():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        encoder = GraphEncoder(256, (64, 128, 256, 512))
        for layer in encoder.network.maps:
            # Statistics of a trained network, not the initial zeros and ones.
            layer[1].running_mean.normal_()
            layer[1].running_var.uniform_(0.5, 4.0)
    return encoder.eval()


def test_code_width_and_unit_rows(make_graphs):
    graphs = make_graphs()
    inputs = graph_inputs(graphs, profile(graphs), fit_schema(graphs, profile(graphs)))
    encoder = built()
    with torch.no_grad():
        assert encoder.code(inputs).shape == (8, 267)
        rows = encoder(inputs)
    assert list(rows) == [64, 128, 256, 512]
    for size, part in rows.items():
        assert part.shape == (8, size)
        assert torch.allclose(part.norm(dim=1), torch.ones(8), atol=1e-6)


def test_missing_columns_are_zero_padding(make_graphs):
    graphs = make_graphs(labels=[0, 1], attributes=2)
    inputs = graph_inputs(graphs, profile(graphs), fit_schema(graphs, profile(graphs)))
    wide = torch.zeros(len(inputs.features), 256)
    wide[:, inputs.columns] = inputs.features
    padded = replace(inputs, features=wide, columns=torch.arange(256))
    encoder = built()
    with torch.no_grad():
        assert torch.allclose(encoder.code(inputs), encoder.code(padded), atol=1e-5)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), largest=st.integers(1, 60))
def test_a_row_depends_on_its_graph_alone(make_graphs, reordered, seed, largest):
    graphs = make_graphs(count=5, seed=seed, labels=[0, 1, 4], attributes=2, largest=largest)
    structure = profile(graphs)
    schema = fit_schema(graphs, structure)
    inputs = graph_inputs(graphs, structure, schema)
    other = reordered(graphs, seed)
    moved = graph_inputs(other, profile(other), schema)
    encoder = built()
    with torch.no_grad():
        together, afterwards = encoder(inputs), encoder(moved)
        for index in range(len(graphs)):
            alone = encoder(inputs.take(torch.tensor([index])))
            for size in alone:
                assert (alone[size][0] - together[size][index]).abs().max() <= 1e-6
        for size in together:
            assert (together[size] - afterwards[size]).abs().max() <= 1e-6


def test_rows_have_unit_length_and_zero_becomes_the_first_axis():
    rows = unit_rows(torch.tensor([[3.0, 4.0], [0.0, 0.0], [1e-30, 0.0]]))
    assert torch.allclose(rows, torch.tensor([[0.6, 0.8], [1.0, 0.0], [1.0, 0.0]]))


def test_zero_rows_have_finite_gradients():
    rows = torch.zeros(2, 3, requires_grad=True)
    unit_rows(rows).sum().backward()
    assert torch.isfinite(rows.grad).all()


def test_heads_by_hand():
    heads = SliceHeads(2, (2, 3))
    with torch.no_grad():
        heads.heads[0].weight.copy_(torch.tensor([[1.0, 0.0], [0.0, 2.0]]))
        heads.heads[0].bias.copy_(torch.tensor([2.0, 0.0]))
    rows = heads(torch.tensor([[1.0, 2.0]]))
    assert torch.allclose(rows[2], torch.tensor([[0.6, 0.8]]))
    assert rows[3].shape == (1, 3)
    assert [tuple(weight.shape) for weight in heads.weights] == [(2, 2), (3, 2)]


def test_values_by_hand():
    nodes = torch.tensor([[1.0, -2.0], [3.0, -4.0], [5.0, 0.5]])
    assert mean_max(nodes, torch.tensor([2, 1])).tolist() == [[2.0, -3.0, 3.0, -2.0], [5.0, 0.5, 5.0, 0.5]]


def test_gradients():
    random = torch.Generator().manual_seed(0)
    nodes = torch.randn(9, 3, generator=random, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: mean_max(x, torch.tensor([1, 5, 3])), (nodes,))


def test_ties_share_the_gradient():
    nodes = torch.tensor([[2.0], [2.0], [1.0]], requires_grad=True)
    mean_max(nodes, torch.tensor([3]))[:, 1].sum().backward()
    assert nodes.grad.flatten().tolist() == [0.5, 0.5, 0.0]


def test_a_graph_is_reduced_alone_as_in_a_batch():
    random = torch.Generator().manual_seed(0)
    nodes = torch.randn(2000, 128, generator=random)
    whole = mean_max(nodes, torch.tensor([700, 1000, 300]))
    assert torch.equal(whole[1:2], mean_max(nodes[700:1700], torch.tensor([1000])))


def test_the_authors_network_by_its_parts(make_graphs):
    """Rows against the same modules applied one after another, in evaluation mode."""
    graphs = make_graphs(labels=[0, 1])
    inputs = graph_inputs(graphs, profile(graphs), fit_schema(graphs, profile(graphs))).double()
    with torch.random.fork_rng():
        torch.manual_seed(0)
        encoder = GraphEncoder(256, (8,), authors=("canonicalisation", "gin", "sketch-relu")).double()
        for part in encoder.modules():
            if isinstance(part, torch.nn.BatchNorm1d):
                part.running_mean.normal_()
                part.running_var.uniform_(0.5, 4.0)
    encoder.eval()
    canon, layers = encoder.canonicalisation, encoder.network.maps
    assert canon.first.out_features == canon.second.out_features == 64
    assert [type(part).__name__ for part in layers[0]] == ["Linear", "NodeBatchNorm", "ReLU", "Linear", "NodeBatchNorm"]
    wide = torch.zeros(len(inputs.features), 256, dtype=torch.float64)
    wide[:, inputs.columns] = inputs.features
    rows = wide
    for linear, norm in zip((canon.first, canon.second), canon.norms, strict=True):
        rows = torch.relu(norm(linear(rows)))
    reach = inputs.adjacency.to_dense() + torch.eye(len(rows), dtype=torch.float64)
    for layer in layers:
        rows = torch.relu(layer(reach @ rows))
    code = torch.cat([mean_max(rows, inputs.sizes), torch.relu(encoder.sketch(inputs.sketch))], dim=1)
    with torch.no_grad():
        assert torch.allclose(encoder.code(inputs), code)
