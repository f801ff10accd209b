import pytest
import torch
from torch_geometric.nn import GINConv

from graphglass.embedding.network.features import graph_inputs
from graphglass.embedding.network.gin import CompressedGINConv, NeighbourMean, NeighbourSum, NodeBatchNorm, adjacency
from graphglass.embedding.network.schema import fit_schema
from graphglass.graphs.canonical import canonical_graph_set
from graphglass.structure.profile import profile


@pytest.fixture
def inputs(make_graphs):
    graphs = make_graphs(count=6, seed=3)
    return graph_inputs(graphs, profile(graphs), fit_schema(graphs, profile(graphs)))


def test_adjacency_is_block_diagonal_and_symmetric(inputs):
    dense = adjacency(inputs).to_dense()
    assert torch.equal(dense, dense.T)
    assert dense.sum() == len(inputs.neighbours)
    graph = torch.repeat_interleave(inputs.sizes)
    assert not dense[graph[:, None] != graph[None, :]].any()
    assert not dense.diagonal().any()


def test_mean_of_an_isolated_node_is_zero():
    graphs = canonical_graph_set([3], [0], [1])
    structure = profile(graphs)
    matrix = adjacency(graph_inputs(graphs, structure, fit_schema(graphs, structure)))
    x = torch.tensor([[1.0], [2.0], [4.0]])
    assert NeighbourMean.apply(x, torch.tensor([1.0]), matrix).flatten().tolist() == [4.0, 5.0, 8.0]


@pytest.mark.parametrize("product", [NeighbourSum, NeighbourMean])
def test_gradients(inputs, product):
    matrix = adjacency(inputs).double()
    random = torch.Generator().manual_seed(0)
    x = torch.randn(len(inputs.features), 3, generator=random, dtype=torch.float64, requires_grad=True)
    eps = torch.tensor([0.3], dtype=torch.float64, requires_grad=True)
    dense = matrix.to_dense()
    if product is NeighbourMean:
        dense = dense / dense.sum(1, keepdim=True).clamp(min=1)
    assert torch.allclose(product.apply(x, eps, matrix), 1.3 * x + dense @ x)
    assert torch.autograd.gradcheck(lambda a, b: product.apply(a, b, matrix), (x, eps))


def test_layer_equals_the_edge_list_layer(inputs):
    random = torch.Generator().manual_seed(1)
    x = torch.randn(len(inputs.features), 4, generator=random)
    mlp = torch.nn.Linear(4, 2)
    ours, theirs = CompressedGINConv(mlp), GINConv(mlp, eps=0.5, train_eps=True)
    ours.eps.data.fill_(0.5)
    matrix = adjacency(inputs)
    edges = matrix.to_dense().nonzero().T
    left, right = x.clone().requires_grad_(), x.clone().requires_grad_()
    first, second = ours(left, matrix), theirs(right, edges)
    assert torch.allclose(first, second, atol=1e-6)
    first.square().sum().backward()
    second.square().sum().backward()
    assert torch.allclose(left.grad, right.grad, atol=1e-4)
    assert torch.allclose(ours.eps.grad, theirs.eps.grad, rtol=1e-4)


def test_one_node_is_read_with_running_statistics():
    layer = NodeBatchNorm(2).train()
    before = layer.running_mean.clone()
    row = torch.tensor([[3.0, -1.0]])
    assert torch.allclose(layer(row), row, atol=1e-4)
    assert torch.equal(layer.running_mean, before)
    layer(torch.tensor([[3.0, -1.0], [1.0, 1.0]]))
    assert not torch.equal(layer.running_mean, before)
