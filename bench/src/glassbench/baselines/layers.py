"""What several deep baselines share in addition to the GIN: pooling, GCN, perceptrons and padded blocks of nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from graphglass.glass.network.gin import spread
from graphglass.glass.network.graph_batch import GraphBatch


def pool(x: Tensor, batch: GraphBatch, how: Literal["sum", "mean", "max"] = "sum") -> Tensor:
    """One row per graph, (graphs, width)."""
    return torch.segment_reduce(x, how, offsets=batch.node_offsets, axis=0)


def per_graph_mean(values: Tensor, batch: GraphBatch) -> Tensor:
    """The mean of one number per node over each graph, (graphs,)."""
    return pool(values[:, None], batch, "mean")[:, 0]


def mlp(*widths: int) -> nn.Sequential:
    """Linear layers with ReLU between them."""
    parts: list[nn.Module] = []
    for i, (one, two) in enumerate(pairwise(widths)):
        parts += [nn.ReLU()] * (i > 0) + [nn.Linear(one, two)]
    return nn.Sequential(*parts)


def readout(layers: list[Tensor], batch: GraphBatch) -> Tensor:
    """Jumping knowledge: the pooled embeddings of all layers side by side, (graphs, layers * hidden)."""
    return pool(torch.cat(layers, dim=1), batch)


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


def normalised(batch: GraphBatch) -> Callable[[Tensor], Tensor]:
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


def padded_rows(batch: GraphBatch, block: Tensor) -> tuple[Tensor, Tensor]:
    """Node rows of the graphs in ``block`` side by side, (block, largest), and where they are real."""
    sizes = batch.sizes[block]
    place = torch.arange(int(sizes.max()))
    return (batch.node_offsets[block][:, None] + place).clamp(max=len(batch.graph_of) - 1), place < sizes[:, None]


def padded_block(x: Tensor, batch: GraphBatch, block: Tensor) -> tuple[Tensor, Tensor]:
    """The rows of ``x`` there, zero where there is no node, (block, largest, width), and where they are real."""
    rows, real = padded_rows(batch, block)
    return x[rows] * real[..., None], real
