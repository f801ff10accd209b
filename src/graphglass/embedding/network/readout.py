"""From node representations to one row per graph."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


class MeanMaxReadout(torch.autograd.Function):
    r"""Mean and componentwise maximum over the nodes of each graph (eq:readout).

    .. math:: r_g(G) = \Big[\tfrac{1}{|V|}\sum_{v \in V} h_v^{(L)};\ \max_{v \in V} h_v^{(L)}\Big] \in \mathbb{R}^{2H}

    Nodes are reduced in a fixed order on every device, so equal inputs give equal bits. Nodes that tie for the maximum
    share its gradient equally, which keeps training independent of the node order.
    """

    @staticmethod
    def forward(ctx: Any, nodes: Tensor, sizes: Tensor) -> Tensor:
        graph = torch.repeat_interleave(sizes, output_size=len(nodes))  # (nodes,)
        mean = _sum(nodes, graph, sizes) / sizes[:, None].to(nodes.dtype)
        largest = _max(nodes, graph, sizes)
        ctx.save_for_backward(nodes, largest, sizes, graph)
        return torch.cat([mean, largest], dim=1)  # (graphs, 2 * hidden)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        nodes, largest, sizes, graph = ctx.saved_tensors
        hidden = nodes.shape[1]
        holds = (nodes == largest.index_select(0, graph)).to(nodes.dtype)  # (nodes, hidden)
        shared = gradient[:, hidden:] / _sum(holds, graph, sizes)
        to_nodes = (gradient[:, :hidden] / sizes[:, None].to(nodes.dtype)).index_select(0, graph)
        return to_nodes.addcmul_(holds, shared.index_select(0, graph)), None


def mean_max(nodes: Tensor, sizes: Tensor) -> Tensor:
    """eq:readout for (nodes, hidden) rows of graphs with the given sizes: (graphs, 2 * hidden)."""
    return MeanMaxReadout.apply(nodes, sizes)


def _sum(rows: Tensor, graph: Tensor, sizes: Tensor) -> Tensor:
    # On the CPU index_add_ visits rows in order and is the faster; elsewhere it adds in no fixed order.
    if rows.device.type == "cpu":
        return rows.new_zeros(len(sizes), rows.shape[1]).index_add_(0, graph, rows)
    return torch.segment_reduce(rows, "sum", lengths=sizes, unsafe=True)


def _max(rows: Tensor, graph: Tensor, sizes: Tensor) -> Tensor:
    lowest = rows.new_full((len(sizes), rows.shape[1]), -torch.inf)
    return lowest.scatter_reduce_(0, graph[:, None].expand_as(rows), rows, "amax")
