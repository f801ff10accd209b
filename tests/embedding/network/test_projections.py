import torch

from graphglass.embedding.network.projections import SliceHeads, unit_rows


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
