"""Graph isomorphism layers on compressed adjacency: one sparse product forward, the same product backward."""

from __future__ import annotations

from typing import Any, Literal

import torch
from torch import Tensor, nn


class SymmetricProduct(torch.autograd.Function):
    """A x, or (1 + eps) x + A x, for a constant symmetric sparse A.

    A is its own transpose, so the gradient is the same product applied to the incoming gradient. Automatic
    differentiation of a sparse product would transpose the matrix at every step, and an edge list would hold
    an edges-by-hidden tensor.
    """

    @staticmethod
    def forward(ctx: Any, matrix: Tensor, x: Tensor, eps: Tensor | None) -> Tensor:
        ctx.matrix = matrix
        ctx.save_for_backward(*(() if eps is None else (x, eps)))
        return _product(matrix, x, eps)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[None, Tensor | None, Tensor | None]:
        gradient = gradients[0].contiguous()
        x, eps = ctx.saved_tensors or (None, None)
        to_x = _product(ctx.matrix, gradient, eps) if ctx.needs_input_grad[1] else None
        to_eps = None if x is None else torch.dot(gradient.flatten(), x.flatten()).reshape(1)
        return None, to_x, to_eps


def _product(matrix: Tensor, x: Tensor, eps: Tensor | None) -> Tensor:
    return matrix @ x if eps is None else torch.addmm(x, matrix, x, beta=1.0 + float(eps))


def spread(matrix: Tensor, x: Tensor, eps: Tensor | None = None) -> Tensor:
    """``matrix @ x`` for a constant SYMMETRIC sparse matrix, plus ``(1 + eps) x`` where eps, (1,), is given."""
    out: Tensor = SymmetricProduct.apply(matrix, x, eps)
    return out


class GIN(nn.Module):
    r"""Graph isomorphism network (eq:gin).

    .. math::
        h_v^{(\ell)} = \mathrm{MLP}_\ell\Big((1+\epsilon_\ell) h_v^{(\ell-1)} + \sum_{u \in N(v)} h_u^{(\ell-1)}\Big)

    with ReLU between layers.

    Parameters
    ----------
    width, hidden, layers : int
    norm : {"inside", "after"} or None
        Batch normalisation between the two linear maps of each MLP (the paper), after them, or none.
    bias : bool
        False drops every additive term, as one-class objectives need to exclude the constant map.
    last_relu : bool
        Whether the last layer ends with a ReLU like the others.
    """

    def __init__(
        self,
        width: int,
        hidden: int,
        layers: int,
        *,
        norm: Literal["inside", "after"] | None = None,
        bias: bool = True,
        last_relu: bool = True,
    ) -> None:
        super().__init__()
        self.maps = nn.ModuleList()
        for depth in range(layers):
            first = nn.Linear(hidden if depth else width, hidden, bias=bias)
            second = nn.Linear(hidden, hidden, bias=bias)
            inside = [NodeBatchNorm(hidden)] if norm == "inside" else []
            after = [NodeBatchNorm(hidden)] if norm == "after" else []
            self.maps.append(nn.Sequential(first, *inside, nn.ReLU(inplace=True), second, *after))
        self.epsilon = nn.Parameter(torch.zeros(layers))
        self.last_relu = last_relu

    def forward(self, x: Tensor, adjacency: Tensor) -> list[Tensor]:
        """Node representations of every layer, each (nodes, hidden)."""
        out = []
        for depth, transform in enumerate(self.maps):
            x = transform(spread(adjacency, x, self.epsilon[depth : depth + 1]))
            if self.last_relu or depth + 1 < len(self.maps):
                x = torch.relu(x)
            out.append(x)
        return out


class NodeBatchNorm(nn.BatchNorm1d):
    """BatchNorm over nodes that reads a batch of one node with its running statistics (it has no variance)."""

    def forward(self, x: Tensor) -> Tensor:
        """Normalised rows, (nodes, hidden)."""
        if self.training and len(x) < 2:
            return nn.functional.batch_norm(
                x, self.running_mean, self.running_var, self.weight, self.bias, training=False, eps=self.eps
            )
        return super().forward(x)
