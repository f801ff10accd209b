"""The two losses of every step: alignment with the text anchors, and the Gram penalty of the projection heads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor


def alignment_loss(rows: Mapping[int, Tensor], anchors: Mapping[int, Tensor]) -> Tensor:
    r"""Multi-slice soft cosine alignment (eq:align).

    .. math:: \frac{1}{|B| S} \sum_{G \in B} \sum_{s=1}^{S} \big(1 - \langle z^{(s)}(G), e^{(s)}(G) \rangle\big)

    0 when every graph row equals its anchor, 1 when they are orthogonal on average, 2 when opposite. Both are unit rows
    of the same graphs in the same order, {slice: (graphs, slice)}.
    """
    similarities = [torch.dot(rows[size].flatten(), anchors[size].flatten()) for size in rows]
    graphs = len(next(iter(rows.values())))
    return 1.0 - torch.stack(similarities).sum() / (graphs * len(rows))


class GramDistance(torch.autograd.Function):
    r"""Squared distance of the smaller Gram matrix of W to the identity.

    With W of at most as many rows as columns this is :math:`\lVert W W^\top - I \rVert_F^2`, otherwise
    :math:`\lVert W^\top W - I \rVert_F^2`. The Gram matrix is symmetric, so the gradient
    :math:`4 (W W^\top - I) W` needs one product where automatic differentiation makes two.
    """

    @staticmethod
    def forward(ctx: Any, weight: Tensor) -> Tensor:
        wide = weight.shape[0] <= weight.shape[1]
        gram = weight @ weight.T if wide else weight.T @ weight
        gram.diagonal().sub_(1.0)
        ctx.save_for_backward(weight, gram)
        return torch.dot(gram.flatten(), gram.flatten())

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        weight, gram = ctx.saved_tensors
        product = gram @ weight if len(gram) == len(weight) else weight @ gram
        out: Tensor = product.mul_(4.0 * gradient)
        return out


def gram_penalty(weights: Sequence[Tensor]) -> Tensor:
    r"""Dimension-adaptive Gram penalty, averaged over the heads (eq:orth).

    .. math::
        R_\mathrm{orth} = \frac{1}{S} \sum_{s: D_s \le D_g} \lVert W^{(s)} W^{(s)\top} - I_{D_s} \rVert_F^2
        + \frac{1}{S} \sum_{s: D_s > D_g} \lVert W^{(s)\top} W^{(s)} - I_{D_g} \rVert_F^2

    Heads that reduce the dimension tend to orthonormal rows, the others to an isometric embedding; 0 when all do.
    Weights have the shape (D_s, D_g); biases are not penalised.
    """
    distances = [GramDistance.apply(weight) for weight in weights]  # type: ignore[no-untyped-call]
    return torch.stack(distances).sum() / len(weights)
