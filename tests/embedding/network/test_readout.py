import torch

from graphglass.embedding.network.readout import mean_max


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
