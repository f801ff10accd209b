"""Graph layers over sparse batches: propagation, GIN, GCN, readout."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from graphglass.baselines.node_batches import Batch


class _SymmetricProduct(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, matrix: Tensor, x: Tensor) -> Tensor:
        ctx.matrix = matrix
        return matrix @ x

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[None, Tensor]:
        return None, ctx.matrix @ grads[0].contiguous()


def spread(matrix: Tensor, x: Tensor) -> Tensor:
    """``matrix @ x`` for a constant SYMMETRIC sparse matrix, whose gradient needs no transpose."""
    out: Tensor = _SymmetricProduct.apply(matrix, x)
    return out


def pool(x: Tensor, batch: Batch, how: Literal["sum", "mean", "max"] = "sum") -> Tensor:
    """One row per graph, (graphs, width)."""
    return torch.segment_reduce(x, how, offsets=batch.offsets, axis=0)


def per_graph_mean(values: Tensor, batch: Batch) -> Tensor:
    """The mean of one number per node over each graph, (graphs,)."""
    return pool(values[:, None], batch, "mean")[:, 0]


def mlp(*widths: int, bias: bool = True) -> nn.Sequential:
    """Linear layers with ReLU between them."""
    parts: list[nn.Module] = []
    for i, (one, two) in enumerate(pairwise(widths)):
        parts += [nn.ReLU()] * (i > 0) + [nn.Linear(one, two, bias=bias)]
    return nn.Sequential(*parts)


class GIN(nn.Module):
    r"""Graph isomorphism network with batch normalisation.

    .. math:: h_v^{(l)} = \mathrm{ReLU}\,\mathrm{BN}\,\mathrm{MLP}
              \big((1+\epsilon_l) h_v^{(l-1)} + \sum_{u \sim v} h_u^{(l-1)}\big)

    Parameters
    ----------
    bias : bool
        False drops every additive term, as Deep SVDD needs to keep the constant map out of reach.
    norm : bool
        False leaves batch normalisation out.
    """

    def __init__(self, width: int, hidden: int, layers: int, *, bias: bool = True, norm: bool = True) -> None:
        super().__init__()
        widths = [width] + [hidden] * layers
        self.maps = nn.ModuleList(mlp(w, hidden, hidden, bias=bias) for w in widths[:-1])
        norms = (nn.BatchNorm1d(hidden, affine=bias) if norm else nn.Identity() for _ in range(layers))
        self.norms = nn.ModuleList(norms)
        self.epsilon = nn.Parameter(torch.zeros(layers))

    def forward(self, x: Tensor, batch: Batch) -> list[Tensor]:
        """Node embeddings of every layer, each (nodes, hidden)."""
        out = []
        for i, (transform, norm) in enumerate(zip(self.maps, self.norms, strict=True)):
            x = F.relu(norm(transform((1 + self.epsilon[i]) * x + spread(batch.adjacency, x))))
            out.append(x)
        return out


def readout(layers: list[Tensor], batch: Batch, how: Literal["sum", "mean", "max"] = "sum") -> Tensor:
    """Jumping knowledge: the pooled embeddings of all layers side by side, (graphs, layers * hidden)."""
    return pool(torch.cat(layers, dim=1), batch, how)


class GCN(nn.Module):
    r"""Graph convolutions :math:`\hat A H W`, with ReLU and batch normalisation between them."""

    def __init__(self, *widths: int) -> None:
        super().__init__()
        self.maps = nn.ModuleList(nn.Linear(a, b) for a, b in pairwise(widths))
        self.norms = nn.ModuleList(nn.BatchNorm1d(w, affine=False) for w in widths[1:-1])

    def forward(self, x: Tensor, propagate: Callable[[Tensor], Tensor], norms: nn.ModuleList | None = None) -> Tensor:
        """Node embeddings, (nodes, last width); ``propagate`` applies the adjacency matrix.

        Inputs of another kind bring their own ``norms``: running statistics of two kinds would fit neither.
        """
        norms = self.norms if norms is None else norms
        for i, linear in enumerate(self.maps):
            assert isinstance(linear, nn.Linear)
            narrow = linear.in_features > linear.out_features  # propagate whichever side has fewer columns
            x = propagate(F.linear(x, linear.weight) if narrow else x)
            x = x + linear.bias if narrow else linear(x)
            if i < len(norms):
                x = norms[i](F.relu(x))
        return x


def normalised(batch: Batch) -> Callable[[Tensor], Tensor]:
    """Propagation by the symmetrically normalised adjacency matrix with self-loops."""
    diagonal = 1 / (batch.degrees[:, None] + 1)
    return lambda x: spread(batch.normalised, x) + diagonal * x


def size_blocks(sizes: Tensor, pairs: int = 4_000_000) -> Iterator[Tensor]:
    """Graph indices in groups of similar size whose padded node pairs number at most ``pairs``, or one graph alone."""
    order = torch.argsort(sizes, stable=True)
    first = 0
    while first < len(order):
        squares = sizes[order[first:]].square() * torch.arange(1, len(order) - first + 1)
        last = first + max(1, int(torch.searchsorted(squares, pairs, right=True)))
        yield order[first:last]
        first = last


def padded_rows(batch: Batch, block: Tensor) -> tuple[Tensor, Tensor]:
    """Node rows of the graphs in ``block`` side by side, (block, largest), and where they are real."""
    sizes = batch.sizes[block]
    place = torch.arange(int(sizes.max()))
    return (batch.offsets[block][:, None] + place).clamp(max=len(batch.graph_of) - 1), place < sizes[:, None]


def padded_block(x: Tensor, batch: Batch, block: Tensor) -> tuple[Tensor, Tensor]:
    """The rows of ``x`` there, zero where there is no node, (block, largest, width), and where they are real."""
    rows, real = padded_rows(batch, block)
    return x[rows] * real[..., None], real
