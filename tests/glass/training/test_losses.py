import pytest
import torch

from graphglass.glass.network.encoder import unit_rows
from graphglass.glass.training.losses import alignment_loss, gram_penalty


def test_alignment_by_hand():
    rows = {2: torch.tensor([[1.0, 0.0], [0.0, 1.0]]), 3: torch.tensor([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])}
    anchors = {2: torch.tensor([[1.0, 0.0], [0.0, -1.0]]), 3: torch.tensor([[0.0, 1.0, 0.0], [0.6, 0.8, 0.0]])}
    # (0 + 2 + 1 + 0.4) / (2 graphs * 2 slices)
    assert torch.isclose(alignment_loss(rows, anchors), torch.tensor(0.85))


def test_perfect_alignment_costs_nothing():
    rows = {4: unit_rows(torch.arange(12.0).reshape(3, 4))}
    assert alignment_loss(rows, rows).abs() < 1e-6


def test_alignment_gradients():
    random = torch.Generator().manual_seed(0)
    first, second = (torch.randn(3, 4, generator=random, dtype=torch.float64, requires_grad=True) for _ in range(2))
    anchors = {size: unit_rows(torch.randn(3, 4, generator=random, dtype=torch.float64)) for size in (4, 5)}
    assert torch.autograd.gradcheck(lambda a, b: alignment_loss({4: unit_rows(a), 5: b}, anchors), (first, second))


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
def test_gram_gradients(shape):
    weight = torch.randn(shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda w: gram_penalty([w, 2 * w]), (weight,))
