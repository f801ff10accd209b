"""GraphEncoder: graph inputs -> graph code -> unit rows per slice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from graphglass.glass.network.gin import GIN, NodeBatchNorm
from graphglass.glass.network.graph_batch import GraphBatch
from graphglass.structure.profile import SKETCH_NAMES


class Canonicalisation(nn.Module):
    """The small MLP of eq:canon on zero-padded public columns.

    Zero columns add nothing to a linear layer, so the first product reads only the columns that are filled. With
    `normalised`, batch normalisation and ReLU follow both maps; otherwise one ReLU stands between them.
    """

    def __init__(self, width: int, hidden: int, *, normalised: bool = False) -> None:
        super().__init__()
        self.first = nn.Linear(width, hidden)
        self.second = nn.Linear(hidden, hidden)
        self.norms = nn.ModuleList(NodeBatchNorm(hidden) for _ in range(2 if normalised else 0))

    def forward(self, features: Tensor, columns: Tensor) -> Tensor:
        """Canonical node features, (nodes, hidden); without normalisation those before the second linear map."""
        weight = self.first.weight.index_select(1, columns)  # (hidden, used)
        rows = nn.functional.linear(features, weight, self.first.bias)
        if not self.norms:
            return torch.relu_(rows)
        first, second = self.norms
        return torch.relu(second(self.second(torch.relu(first(rows)))))


class GraphEncoder(nn.Module):
    """The trained graph side: canonical features, GIN, readout with spectral sketch, one head per slice.

    There are 128 public feature columns, or 256 with two normalisations side by side. With H the width of every hidden
    layer the graph code has 2 H + 11 entries. `authors` are the details of the authors' code to take, see
    :data:`graphglass.glass.training.config.AUTHORS`.
    """

    def __init__(
        self,
        input_width: int,
        slices: Sequence[int],
        *,
        hidden: int = 128,
        layers: int = 3,
        authors: Sequence[str] = (),
    ) -> None:
        super().__init__()
        sketch = len(SKETCH_NAMES)
        self.slices = tuple(slices)
        self.code_width = 2 * hidden + sketch  # D_g
        normalised, theirs = "canonicalisation" in authors, "gin" in authors
        width = min(hidden, 64) if normalised else hidden
        self.canonicalisation = Canonicalisation(input_width, width, normalised=normalised)
        self.network = GIN(
            width, hidden, layers, norm="both" if theirs else "inside", last_relu=theirs, dropout=0.1 if theirs else 0.0
        )
        self.sketch = nn.Linear(sketch, sketch)
        self.sketch_relu = "sketch-relu" in authors
        self.projections = SliceHeads(self.code_width, self.slices)

    def nodes(self, batch: GraphBatch) -> Tensor:
        """Node representations h^(L), (nodes, hidden)."""
        assert batch.columns is not None
        features = self.canonicalisation(batch.features, batch.columns)
        before = None if self.canonicalisation.norms else self.canonicalisation.second
        out: Tensor = self.network(features, batch.adjacency, before=before)[-1]
        return out

    def code(self, batch: GraphBatch) -> Tensor:
        """The graph code [readout; projected spectral sketch] of eq:graphcode, (graphs, 2 H + 11)."""
        sketch = self.sketch(batch.sketch)
        sketch = torch.relu(sketch) if self.sketch_relu else sketch
        return torch.cat([mean_max(self.nodes(batch), batch.sizes), sketch], dim=1)

    def forward(self, batch: GraphBatch) -> dict[int, Tensor]:
        """Unit rows per slice, {slice: (graphs, slice)}."""
        out: dict[int, Tensor] = self.projections(self.code(batch))
        return out


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
    out: Tensor = MeanMaxReadout.apply(nodes, sizes)  # type: ignore[no-untyped-call]
    return out


def _sum(rows: Tensor, graph: Tensor, sizes: Tensor) -> Tensor:
    # On the CPU index_add_ visits rows in order and is the faster; elsewhere it adds in no fixed order.
    if rows.device.type == "cpu":
        return rows.new_zeros(len(sizes), rows.shape[1]).index_add_(0, graph, rows)
    return torch.segment_reduce(rows, "sum", lengths=sizes, unsafe=True)


def _max(rows: Tensor, graph: Tensor, sizes: Tensor) -> Tensor:
    lowest = rows.new_full((len(sizes), rows.shape[1]), -torch.inf)
    return lowest.scatter_reduce_(0, graph[:, None].expand_as(rows), rows, "amax")


def unit_rows(rows: Tensor) -> Tensor:
    """Rows of unit length; a row without a direction becomes the first axis, as on the text side."""
    norms = torch.linalg.vector_norm(rows, dim=1, keepdim=True)
    directionless = norms <= torch.finfo(rows.dtype).tiny
    if bool(directionless.any()):
        axis = torch.zeros_like(rows[:1])
        axis[0, 0] = 1
        rows = torch.where(directionless, axis, rows)
        norms = torch.where(directionless, torch.ones_like(norms), norms)
    out: Tensor = rows / norms
    return out


class SliceHeads(nn.Module):
    r"""One affine projection per slice, normalised (eq:graphslice).

    .. math:: z^{(s)}(G) = \frac{W^{(s)} h_g(G) + b^{(s)}}{\lVert W^{(s)} h_g(G) + b^{(s)} \rVert_2}

    Shapes: code (graphs, width) -> {slice: (graphs, slice)}.
    """

    def __init__(self, width: int, slices: Sequence[int]) -> None:
        super().__init__()
        self.slices = tuple(slices)
        self.heads = nn.ModuleList(nn.Linear(width, size) for size in self.slices)

    @property
    def weights(self) -> list[Tensor]:
        """W of every head, (slice, width)."""
        return [head.get_parameter("weight") for head in self.heads]

    def forward(self, code: Tensor) -> dict[int, Tensor]:
        """Unit rows per slice."""
        return {size: unit_rows(head(code)) for size, head in zip(self.slices, self.heads, strict=True)}
