import pytest
import torch
from torch_geometric.nn import GINConv

from graphglass.glass.network.features import graph_inputs
from graphglass.glass.network.gin import GIN, NodeBatchNorm, spread
from graphglass.glass.network.schema import fit_schema
from graphglass.structure.profile import profile


@pytest.fixture
def batch(make_graphs):
    graphs = make_graphs(count=6, seed=3)
    return graph_inputs(graphs, profile(graphs), fit_schema(graphs, profile(graphs)))


def test_adjacency_is_block_diagonal_and_symmetric(batch):
    dense = batch.adjacency.to_dense()
    assert torch.equal(dense, dense.T)
    assert dense.sum() == len(batch.neighbours)
    assert not dense[batch.graph_of[:, None] != batch.graph_of[None, :]].any()
    assert not dense.diagonal().any()


@pytest.mark.parametrize("neighbours", [0, 1, 3, 4, 5, 9])
def test_products_of_every_number_of_neighbours(neighbours):
    size = neighbours + 1
    star = torch.zeros(size, size)
    star[0, 1:] = star[1:, 0] = torch.arange(1.0, size)
    x = torch.randn(size, 7)
    assert torch.allclose(spread(star.to_sparse_csr(), x, torch.tensor([0.25])), 1.25 * x + star @ x, atol=1e-5)
    assert torch.allclose(spread(star.to_sparse_csr(), x), star @ x, atol=1e-5)


@pytest.mark.parametrize("eps", [None, 0.3])
def test_products_and_their_gradients(batch, eps):
    matrix = batch.double().adjacency
    random = torch.Generator().manual_seed(0)
    x = torch.randn(len(batch.features), 3, generator=random, dtype=torch.float64, requires_grad=True)
    dense = matrix.to_dense()
    if eps is None:
        assert torch.allclose(spread(matrix, x), dense @ x)
        assert torch.autograd.gradcheck(lambda a: spread(matrix, a), (x,))
    else:
        own = torch.tensor([eps], dtype=torch.float64, requires_grad=True)
        assert torch.allclose(spread(matrix, x, own), (1 + eps) * x + dense @ x)
        assert torch.autograd.gradcheck(lambda a, b: spread(matrix, a, b), (x, own))


def test_layers_equal_those_of_the_edge_list(batch):
    """Forward and backward against PyG's GINConv with the same weights."""
    torch.manual_seed(1)
    x = torch.randn(len(batch.features), 4)
    ours = GIN(4, 4, 2, norm="inside", last_relu=False).eval()
    ours.epsilon.data.copy_(torch.tensor([0.5, -0.2]))
    theirs = [GINConv(part, eps=eps, train_eps=True) for part, eps in zip(ours.maps, (0.5, -0.2), strict=True)]
    edges = torch.stack([batch.sources, batch.targets])
    left, right = x.clone().requires_grad_(), x.clone().requires_grad_()
    first = ours(left, batch.adjacency)[-1]
    second = theirs[1](torch.relu(theirs[0](right, edges)), edges)
    assert torch.allclose(first, second, atol=1e-5)
    first.square().sum().backward()
    second.square().sum().backward()
    assert torch.allclose(left.grad, right.grad, rtol=1e-3, atol=1e-3)
    assert torch.allclose(ours.epsilon.grad, torch.stack([part.eps.grad for part in theirs]).flatten(), rtol=1e-3)


@pytest.mark.parametrize("training", [True, False])
def test_a_linear_map_before_the_layers_is_multiplied_into_the_first(batch, training):
    """Values and gradients against the same modules applied one after another."""
    torch.manual_seed(4)
    batch = batch.double()
    before, network = torch.nn.Linear(3, 4).double(), GIN(4, 4, 2, norm="inside", last_relu=False).double()
    for part in network.modules():
        if isinstance(part, NodeBatchNorm):
            part.running_mean.normal_()
            part.running_var.uniform_(0.5, 2.0)
            torch.nn.init.normal_(part.weight)
            torch.nn.init.normal_(part.bias)
    network.epsilon.data.copy_(torch.tensor([0.5, -0.2]))
    network.train(training)
    x = torch.randn(len(batch.features), 3, dtype=torch.float64)
    weights = [*before.parameters(), *network.parameters()]
    dense = batch.adjacency.to_dense() + torch.eye(len(x))

    def plain():
        rows = before(x)
        for depth, transform in enumerate(network.maps):
            rows = transform((dense + network.epsilon[depth] * torch.eye(len(x))) @ rows)
            rows = torch.relu(rows) if depth == 0 else rows
        return rows

    expected, found = plain(), network(x, batch.adjacency, before=before)[-1]
    assert torch.allclose(expected, found)
    goal = torch.randn_like(found)
    for one, two in zip(
        torch.autograd.grad(expected, weights, goal), torch.autograd.grad(found, weights, goal), strict=True
    ):
        assert torch.allclose(one, two, atol=1e-10)


def test_without_bias_nothing_is_added(batch):
    unbiased = GIN(batch.features.shape[1], 4, 2, bias=False)
    assert not any(name.endswith("bias") for name, _ in unbiased.named_parameters())
    assert not unbiased(torch.zeros_like(batch.features), batch.adjacency)[-1].any()


def test_one_node_is_read_with_running_statistics():
    layer = NodeBatchNorm(2).train()
    before = layer.running_mean.clone()
    row = torch.tensor([[3.0, -1.0]])
    assert torch.allclose(layer(row), row, atol=1e-4)
    assert torch.equal(layer.running_mean, before)
    layer(torch.tensor([[3.0, -1.0], [1.0, 1.0]]))
    assert not torch.equal(layer.running_mean, before)
