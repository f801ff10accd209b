import pytest
import torch

from graphglass.embedding.training.gram import gram_penalty


def test_wide_and_tall_heads_by_hand():
    wide = torch.tensor([[1.0, 1.0, 0.0]])  # W W^T = 2
    tall = torch.tensor([[1.0], [2.0]])  # W^T W = 5
    assert gram_penalty([wide]).item() == pytest.approx(1.0)
    assert gram_penalty([tall]).item() == pytest.approx(16.0)
    assert gram_penalty([wide, tall]).item() == pytest.approx(8.5)


def test_off_diagonal_entries_count_twice():
    assert gram_penalty([torch.tensor([[1.0, 0.0], [0.5, 1.0]])]).item() == pytest.approx(2 * 0.25 + 0.0625)


def test_isometries_cost_nothing():
    assert gram_penalty([torch.eye(3)[:2], torch.eye(3)[:, :2]]) == 0


@pytest.mark.parametrize("shape", [(2, 5), (5, 2), (3, 3)])
def test_gradients(shape):
    weight = torch.randn(shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda w: gram_penalty([w, 2 * w]), (weight,))
