"""Inner products of chosen pairs of rows, without a row per pair in memory."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from graphglass.kernel import kernel


def pair_products(rows: Tensor, left: Tensor, right: Tensor) -> Tensor:
    """``(rows[left] * rows[right]).sum(dim=1)`` for float32 rows, (pairs,)."""
    out: Tensor = _PairProducts.apply(rows, left, right)  # type: ignore[no-untyped-call]
    return out


class _PairProducts(torch.autograd.Function):
    """Rows are read where they lie: copies of both rows of every pair would not fit the processor's cache."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, left: Tensor, right: Tensor) -> Tensor:
        rows = rows.contiguous()
        ctx.save_for_backward(rows, left, right)
        out = torch.empty(len(left))
        _products(rows.detach().numpy(), left.numpy(), right.numpy(), out.numpy())
        return out

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        rows, left, right = ctx.saved_tensors
        out = torch.zeros_like(rows)
        _add_gradients(rows.detach().numpy(), left.numpy(), right.numpy(), gradients[0].numpy(), out.numpy())
        return out, None, None


@kernel(fastmath={"reassoc", "contract"})
def _products(rows: Any, left: Any, right: Any, out: Any) -> None:
    for pair in range(len(out)):
        one, two = rows[left[pair]], rows[right[pair]]
        total = rows.dtype.type(0)
        for column in range(rows.shape[1]):
            total += one[column] * two[column]
        out[pair] = total


@kernel
def _add_gradients(rows: Any, left: Any, right: Any, gradient: Any, out: Any) -> None:
    for pair in range(len(gradient)):
        i, j, share = left[pair], right[pair], gradient[pair]
        for column in range(rows.shape[1]):
            out[i, column] += share * rows[j, column]
            out[j, column] += share * rows[i, column]
