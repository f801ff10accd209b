"""Graph isomorphism layers on compressed adjacency: one sparse product forward, the same product backward."""

from __future__ import annotations

from typing import Any, Literal

import torch
from torch import Tensor, nn

from graphglass.kernel import kernel


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
    own = 0.0 if eps is None else 1.0 + float(eps)
    if matrix.device.type != "cpu":
        return matrix @ x if eps is None else torch.addmm(x, matrix, x, beta=own)
    x, out = x.contiguous(), torch.empty_like(x, memory_format=torch.contiguous_format)
    starts, columns, values = matrix.crow_indices(), matrix.col_indices(), matrix.values().detach()
    _add_rows(starts.numpy(), columns.numpy(), values.numpy(), x.detach().numpy(), out.numpy(), own)
    return out


@kernel
def _add_rows(starts: Any, columns: Any, values: Any, x: Any, out: Any, own: float) -> None:
    """Fill ``out`` with ``own x + A x``, A in compressed rows.

    Four neighbours at a time, so a row of ``out`` is read and written once for all of them. A node's neighbours
    belong to its own graph, whose rows stay in the cache.
    """
    factor = x.dtype.type(own)
    for row in range(len(x)):
        own_row, total, entry, stop = x[row], out[row], starts[row], starts[row + 1]
        for i in range(len(total)):
            total[i] = factor * own_row[i]
        while entry + 4 <= stop:
            p, q, r, s = x[columns[entry]], x[columns[entry + 1]], x[columns[entry + 2]], x[columns[entry + 3]]
            a, b, c, d = values[entry], values[entry + 1], values[entry + 2], values[entry + 3]
            for i in range(len(total)):
                total[i] += (a * p[i] + b * q[i]) + (c * r[i] + d * s[i])
            entry += 4
        while entry < stop:
            p, a = x[columns[entry]], values[entry]
            for i in range(len(total)):
                total[i] += a * p[i]
            entry += 1


def spread(matrix: Tensor, x: Tensor, eps: Tensor | None = None) -> Tensor:
    """``matrix @ x`` for a constant SYMMETRIC sparse matrix, plus ``(1 + eps) x`` where eps, (1,), is given."""
    out: Tensor = SymmetricProduct.apply(matrix, x, eps)  # type: ignore[no-untyped-call]
    return out


class GIN(nn.Module):
    r"""Graph isomorphism network (eq:gin).

    .. math::
        h_v^{(\ell)} = \mathrm{MLP}_\ell\Big((1+\epsilon_\ell) h_v^{(\ell-1)} + \sum_{u \in N(v)} h_u^{(\ell-1)}\Big)

    with ReLU between layers.

    Parameters
    ----------
    width, hidden, layers : int
    norm : {"inside", "after", "both"} or None
        Batch normalisation between the two linear maps of each MLP, after them, in both places, or none.
    bias : bool
        False drops every additive term, as one-class objectives need to exclude the constant map.
    last_relu : bool
        Whether the last layer ends with a ReLU like the others.
    dropout : float
        Share of the entries that are dropped between layers in training.
    """

    def __init__(
        self,
        width: int,
        hidden: int,
        layers: int,
        *,
        norm: Literal["inside", "after", "both"] | None = None,
        bias: bool = True,
        last_relu: bool = True,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.maps = nn.ModuleList()
        for depth in range(layers):
            first = nn.Linear(hidden if depth else width, hidden, bias=bias)
            second = nn.Linear(hidden, hidden, bias=bias)
            inside = [NodeBatchNorm(hidden)] if norm in ("inside", "both") else []
            after = [NodeBatchNorm(hidden)] if norm in ("after", "both") else []
            self.maps.append(nn.Sequential(first, *inside, nn.ReLU(inplace=True), second, *after))
        self.epsilon = nn.Parameter(torch.zeros(layers))
        self.last_relu = last_relu
        self.dropout = dropout

    def forward(self, x: Tensor, adjacency: Tensor, before: nn.Linear | None = None) -> list[Tensor]:
        """Node representations of every layer, each (nodes, hidden).

        `before` is a linear map of the node features. Summing over neighbours is linear too, so one product with both
        weights multiplied replaces a product each.
        """
        out = []
        for depth, transform in enumerate(self.maps):
            first, *rest = transform.children()
            assert isinstance(first, nn.Linear)
            weight: Tensor = first.weight
            bias: Tensor | None = first.bias
            eps = self.epsilon[depth : depth + 1]
            if isinstance(norm := rest[0], NodeBatchNorm) and not norm.reads_batch(x):
                weight, bias = norm.folded_into(weight, bias)
                rest = rest[1:]
            if before is None or depth:
                x = nn.functional.linear(spread(adjacency, x, eps), weight, bias)
            else:
                reach = spread(adjacency, x.new_ones(len(x), 1), eps)  # of before.bias: once per neighbour
                x = nn.functional.linear(spread(adjacency, x, eps), weight @ before.weight, bias)
                x.addmm_(reach, (weight @ before.bias)[None])
            for part in rest:
                x = part(x)
            if self.last_relu or depth + 1 < len(self.maps):
                x = torch.relu_(x)
            if self.dropout and self.training and depth + 1 < len(self.maps):
                x = nn.functional.dropout(x, self.dropout)
            out.append(x)
        return out


class NodeBatchNorm(nn.BatchNorm1d):
    """BatchNorm over nodes that reads a batch of one node with its running statistics (it has no variance)."""

    def reads_batch(self, x: Tensor) -> bool:
        """Whether these rows are normalised by their own statistics."""
        return self.training and len(x) > 1

    def folded_into(self, weight: Tensor, bias: Tensor | None) -> tuple[Tensor, Tensor]:
        """The weight and bias of a linear map and of this normalisation by running statistics after it."""
        assert self.running_mean is not None
        assert self.running_var is not None
        scale = self.weight * torch.rsqrt(self.running_var + self.eps)
        shift = -self.running_mean if bias is None else bias - self.running_mean
        return weight * scale[:, None], shift * scale + self.bias

    def forward(self, x: Tensor) -> Tensor:
        """Normalised rows, (nodes, hidden)."""
        if self.training and not self.reads_batch(x):
            return nn.functional.batch_norm(
                x, self.running_mean, self.running_var, self.weight, self.bias, training=False, eps=self.eps
            )
        return super().forward(x)
