"""Graph isomorphism layers on compressed adjacency: one sparse product forward, the same product backward."""

from __future__ import annotations

import warnings
from typing import Any, Literal

import torch
from torch import Tensor, nn

from graphglass.embedding.network.features import GraphInputs

Aggregation = Literal["sum", "mean"]
AGGREGATIONS = ("sum", "mean")


def adjacency(inputs: GraphInputs) -> Tensor:
    """The block-diagonal adjacency matrix of a batch as sparse CSR, (nodes, nodes), entries 1."""
    starts = torch.repeat_interleave(inputs.node_offsets[:-1], inputs.ends, output_size=len(inputs.neighbours))
    nodes = len(inputs.features)
    with warnings.catch_warnings():
        # torch announces once per process that its CSR layout may change.
        warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")
        return torch.sparse_csr_tensor(
            inputs.neighbour_offsets,
            inputs.neighbours + starts,
            torch.ones(len(starts), dtype=inputs.features.dtype, device=starts.device),
            size=(nodes, nodes),
            check_invariants=False,
        )


class NeighbourSum(torch.autograd.Function):
    """(1 + eps) x + A x for a symmetric A.

    A is its own transpose, so the gradient is the same product applied to the incoming gradient. Automatic
    differentiation of a sparse product would transpose the matrix at every step, and an edge list would hold
    an edges-by-hidden tensor.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, eps: Tensor, matrix: Tensor) -> Tensor:
        ctx.save_for_backward(x, eps)
        ctx.matrix = matrix
        return torch.addmm(x, matrix, x, beta=1.0 + float(eps))

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, Tensor, None]:
        x, eps = ctx.saved_tensors
        gradient = gradient.contiguous()
        to_x = torch.addmm(gradient, ctx.matrix, gradient, beta=1.0 + float(eps)) if ctx.needs_input_grad[0] else None
        return to_x, torch.dot(gradient.flatten(), x.flatten()).reshape(1), None


class NeighbourMean(torch.autograd.Function):
    """(1 + eps) x + D^-1 A x for a symmetric A; the transpose is A D^-1. An isolated node receives zero."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, eps: Tensor, matrix: Tensor) -> Tensor:
        inverse_degree = 1.0 / matrix.crow_indices().diff().clamp(min=1).to(x.dtype)[:, None]
        ctx.save_for_backward(x, eps, inverse_degree)
        ctx.matrix = matrix
        return torch.add((matrix @ x).mul_(inverse_degree), x, alpha=1.0 + float(eps))

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, Tensor, None]:
        x, eps, inverse_degree = ctx.saved_tensors
        to_x = None
        if ctx.needs_input_grad[0]:
            to_x = torch.add(ctx.matrix @ (gradient * inverse_degree), gradient, alpha=1.0 + float(eps))
        return to_x, torch.dot(gradient.flatten(), x.flatten()).reshape(1), None


class CompressedGINConv(nn.Module):
    r"""A GIN layer reading a symmetric sparse CSR adjacency (eq:gin), with the parameters of PyG's ``GINConv``.

    .. math::
        h_v^{(\ell)} = \mathrm{MLP}_\ell\Big((1+\epsilon_\ell) h_v^{(\ell-1)} + \sum_{u \in N(v)} h_u^{(\ell-1)}\Big)

    ``aggregation="mean"`` divides the sum by the degree, which keeps dense graphs on the scale of sparse ones.

    Shapes: x (nodes, width), matrix (nodes, nodes) -> (nodes, hidden).
    """

    def __init__(self, mlp: nn.Module, aggregation: Aggregation = "sum") -> None:
        super().__init__()
        self.nn = mlp
        self.eps = nn.Parameter(torch.zeros(1))
        self.product = NeighbourSum if aggregation == "sum" else NeighbourMean

    def forward(self, x: Tensor, matrix: Tensor) -> Tensor:
        """New node representations."""
        return self.nn(self.product.apply(x, self.eps, matrix))


class GraphIsomorphismNetwork(nn.Module):
    """GIN layers with BatchNorm after each aggregation; ReLU between layers, none after the last."""

    def __init__(self, hidden: int, layers: int, aggregation: Aggregation = "sum") -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            CompressedGINConv(
                nn.Sequential(
                    nn.Linear(hidden, hidden), NodeBatchNorm(hidden), nn.ReLU(inplace=True), nn.Linear(hidden, hidden)
                ),
                aggregation,
            )
            for _ in range(layers)
        )

    def forward(self, x: Tensor, matrix: Tensor) -> Tensor:
        """Node representations after the last layer, (nodes, hidden)."""
        for depth, layer in enumerate(self.layers):
            x = layer(x if depth == 0 else torch.relu(x), matrix)
        return x


class NodeBatchNorm(nn.BatchNorm1d):
    """BatchNorm over nodes that reads a batch of one node with its running statistics (it has no variance)."""

    def forward(self, x: Tensor) -> Tensor:
        """Normalised rows, (nodes, hidden)."""
        if self.training and len(x) < 2:
            return nn.functional.batch_norm(
                x, self.running_mean, self.running_var, self.weight, self.bias, training=False, eps=self.eps
            )
        return super().forward(x)
