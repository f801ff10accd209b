import torch

from graphglass.embedding.network.projections import unit_rows
from graphglass.embedding.training.alignment import alignment_loss


def test_by_hand():
    rows = {2: torch.tensor([[1.0, 0.0], [0.0, 1.0]]), 3: torch.tensor([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])}
    anchors = {2: torch.tensor([[1.0, 0.0], [0.0, -1.0]]), 3: torch.tensor([[0.0, 1.0, 0.0], [0.6, 0.8, 0.0]])}
    # (0 + 2 + 1 + 0.4) / (2 graphs * 2 slices)
    assert torch.isclose(alignment_loss(rows, anchors), torch.tensor(0.85))


def test_perfect_alignment_costs_nothing():
    rows = {4: unit_rows(torch.arange(12.0).reshape(3, 4))}
    assert alignment_loss(rows, rows).abs() < 1e-6


def test_gradients():
    random = torch.Generator().manual_seed(0)
    first, second = (torch.randn(3, 4, generator=random, dtype=torch.float64, requires_grad=True) for _ in range(2))
    anchors = {size: unit_rows(torch.randn(3, 4, generator=random, dtype=torch.float64)) for size in (4, 5)}
    assert torch.autograd.gradcheck(lambda a, b: alignment_loss({4: unit_rows(a), 5: b}, anchors), (first, second))
