"""The products and gradients of plain indexing."""

import torch

from glassbench.baselines.pair_products import pair_products


def test_products_and_gradients_are_those_of_copied_rows() -> None:
    torch.manual_seed(0)
    left, right = torch.randint(0, 20, (2, 300))
    left[:20] = right[:20] = torch.arange(20)  # a row with itself
    weights = torch.randn(300)
    rows = torch.randn(20, 33).requires_grad_()
    plain = rows.detach().clone().requires_grad_()
    found, expected = pair_products(rows, left, right), (plain[left] * plain[right]).sum(dim=1)
    torch.testing.assert_close(found, expected)
    (found * weights).sum().backward()
    (expected * weights).sum().backward()
    torch.testing.assert_close(rows.grad, plain.grad)


def test_columns_of_a_larger_table_and_strided_pairs() -> None:
    table = torch.randn(10, 8)
    ends = torch.randint(0, 10, (50, 2))
    rows = table[:, 2:6]
    torch.testing.assert_close(
        pair_products(rows, ends[:, 0], ends[:, 1]), (rows[ends[:, 0]] * rows[ends[:, 1]]).sum(dim=1)
    )
