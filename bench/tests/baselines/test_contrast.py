"""InfoNCE by hand."""

import math

import torch

from glassbench.baselines.contrast import deviation, info_nce, info_nce_against


def test_info_nce_of_two_orthogonal_pairs_by_hand():
    one = torch.tensor([[2.0, 0.0], [0.0, 3.0]])
    two = torch.tensor([[1.0, 0.0], [1.0, 1.0]])
    # cosines: [[1, 1/sqrt 2], [0, 1/sqrt 2]], temperature 1
    half = 1 / math.sqrt(2)
    expected = torch.tensor([(half + 0) / 2 - 1, (0 + half) / 2 - half])
    torch.testing.assert_close(info_nce(one, two, 1.0), expected)


def test_scoring_against_references_is_the_batch_loss_with_them_as_the_others():
    generator = torch.Generator().manual_seed(0)
    one, two = torch.randn(2, 7, 4, generator=generator)
    batch = info_nce(one, two, 0.3)[0]
    alone = info_nce_against(one[:1], two[:1], (one[1:], two[1:]), 0.3)[0]
    torch.testing.assert_close(alone, batch)


def test_deviation_counts_both_sides():
    statistics = torch.tensor([1.0, 2.0])
    torch.testing.assert_close(deviation(torch.tensor([1.0, 5.0, -3.0]), statistics), torch.tensor([0.0, 2.0, 2.0]))
