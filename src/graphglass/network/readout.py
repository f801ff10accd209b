"""From node representations to one row per graph."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


class MeanMaxReadout(torch.autograd.Function):
    r"""Mean and componentwise maximum over the nodes of each graph (eq:readout).

    .. math:: r_g(G) = \Big[\tfrac{1}{|V|}\sum_{v \in V} h_v^{(L)};\ \max_{v \in V} h_v^{(L)}\Big] \in \mathbb{R}^{2H}

    Segments are reduced one after another in a fixed order on every device, so equal inputs give equal bits. Nodes
    that tie for the maximum share its gradient equally, which keeps training independent of the node order.
    """

    @staticmethod
    def forward(ctx: Any, nodes: Tensor, sizes: Tensor) -> Tensor:  # type: ignore[override]
        mean = torch.segment_reduce(nodes, "mean", lengths=sizes, unsafe=True)
        largest = torch.segment_reduce(nodes, "max", lengths=sizes, unsafe=True)
        ctx.save_for_backward(nodes, largest, sizes)
        return torch.cat([mean, largest], dim=1)  # (graphs, 2 * hidden)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:  # type: ignore[override]
        nodes, largest, sizes = ctx.saved_tensors
        hidden = nodes.shape[1]
        graph = torch.repeat_interleave(sizes, output_size=len(nodes))
        holds = nodes == largest[graph]  # (nodes, hidden)
        ties = torch.segment_reduce(holds.to(nodes.dtype), "sum", lengths=sizes, unsafe=True)
        shared = gradient[:, hidden:] / ties
        to_nodes = (gradient[:, :hidden] / sizes[:, None].to(nodes.dtype))[graph]
        return to_nodes.addcmul_(holds, shared[graph]), None


def mean_max(nodes: Tensor, sizes: Tensor) -> Tensor:
    """eq:readout for (nodes, hidden) rows of graphs with the given sizes: (graphs, 2 * hidden)."""
    return MeanMaxReadout.apply(nodes, sizes)
