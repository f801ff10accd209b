"""CVTGAD: two views of a graph, compared by attention, and how well they agree.

Paper: Li et al., "CVTGAD: Simplified Transformer with Cross-View Attention", ECML PKDD 2023.
Usage: ``CVTGAD(random_state=0).fit(normals).decision_function(graphs)``, or ``glassbench single --methods cvtgad``.
Promise: a graph is scored alone, by the last of a fixed number of steps; no label chooses anything. ``CVTGADBatch`` has
the published score, which compares test graphs with each other. What differs from the authors' code is in
bench/docs/baselines.md.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from glassbench.baselines.contrast import deviation, info_nce, info_nce_against
from glassbench.baselines.deep import SCORED_AT_ONCE, DeepDetector, Network
from glassbench.baselines.layers import mlp, padded_block, padded_rows, pool, size_blocks
from glassbench.baselines.node_inputs import InputSchema
from graphglass.glass.network.gin import GIN
from graphglass.glass.network.graph_batch import GraphBatch

SAMPLED_NODES = 32  # per graph and training step, anchors and negatives alike


def node_contrast(one: Tensor, two: Tensor, real: Tensor, sizes: Tensor, temperature: float) -> Tensor:
    """InfoNCE whose negatives are the other nodes of the same graph, averaged over nodes, (graphs,).

    The two views of the nodes are padded, (graphs, places, width), and `real`, (graphs, places), says where a node is.
    Where fewer nodes than the `sizes` of the graphs fill the places, the sum over negatives is scaled up to all of
    them. A graph of one node has no negatives and error 0.
    """
    similarity = F.normalize(one, dim=2) @ F.normalize(two, dim=2).transpose(1, 2) / temperature
    own = similarity.diagonal(dim1=1, dim2=2)
    absent = ~(real[:, :, None] & real[:, None, :]) | torch.eye(real.shape[1], dtype=torch.bool)
    others = similarity.masked_fill(absent, -1e9)
    count = real.sum(dim=1)
    missing = ((sizes - 1).clamp(min=1) / (count - 1).clamp(min=1)).log()
    errors = (others.logsumexp(1) + others.logsumexp(2)) / 2 + missing[:, None] - own
    kept = real & (count > 1)[:, None]
    return torch.where(kept, errors, 0.0).sum(dim=1) / count


def kernel_attention(queries: Tensor, keys: Tensor, values: Tensor, batch: GraphBatch) -> Tensor:
    r"""Attention inside each graph, (nodes, width).

    The weights are :math:`\phi(q_i) \cdot \phi(k_j)` with :math:`\phi = 1 + \mathrm{elu}`, so that the cost
    is linear in the number of nodes, which that of softmax attention is not.
    """
    # Queries count by their direction alone; in dense graphs their size would make the products overflow.
    queries, keys = F.normalize(1 + F.elu(queries), p=1.0), 1 + F.elu(keys)
    read, places = [], []
    for block in size_blocks(batch.sizes):
        rows, real = padded_rows(batch, block)
        shown, asked = keys[rows] * real[..., None], queries[rows]
        joint, mass = shown.transpose(1, 2) @ values[rows], shown.sum(dim=1)[:, :, None]
        # Divided only where a node is: elsewhere zeros over zeros would give gradients that are no numbers.
        read.append((asked @ joint)[real] / (asked @ mass)[real])
        places.append(rows[real])
    return torch.cat(read)[torch.argsort(torch.cat(places))]


class CrossView(nn.Module):
    """Attention whose weights compare one view with the other and whose values are those of the view itself.

    Each view is then projected, added to what it was, and layer-normalised.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.queries = nn.ModuleList(nn.Linear(width, width) for _ in range(2))
        self.keys = nn.ModuleList(nn.Linear(width, width) for _ in range(2))
        self.values = nn.ModuleList(nn.Linear(width, width) for _ in range(2))
        self.project = nn.ModuleList(nn.Linear(width, width) for _ in range(2))
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))

    def nodes(self, views: list[Tensor], batch: GraphBatch) -> list[Tensor]:
        """Each node's two views after attention among the nodes of its graph."""
        out = []
        for i, (view, other) in enumerate(zip(views, views[::-1], strict=True)):
            read = kernel_attention(self.queries[i](view), self.keys[i](other), self.values[i](view), batch)
            out.append(self.norms[i](view + self.project[i](read)))
        return out

    def graphs(self, views: list[Tensor], references: list[Tensor] | None = None) -> list[Tensor]:
        """Each graph's two views after attention among all graphs, or among itself and the references."""
        out = []
        for i, (view, other) in enumerate(zip(views, views[::-1], strict=True)):
            query, scale = self.queries[i](view), view.shape[1] ** -0.5
            keys, values = (other, view) if references is None else (references[1 - i], references[i])
            weights, values = query @ self.keys[i](keys).T * scale, self.values[i](values)
            if references is None:
                read = weights.softmax(dim=1) @ values
            else:
                own = (query * self.keys[i](other)).sum(dim=1, keepdim=True) * scale
                shares = torch.cat([own, weights], dim=1).softmax(dim=1)
                read = shares[:, :1] * self.values[i](view) + shares[:, 1:] @ values
            out.append(self.norms[i](view + self.project[i](read)))
        return out


class CVTGADNetwork(Network):
    """An encoder per view, cross-view attention between them at both levels, and the normal references."""

    references: Tensor
    attended: Tensor
    statistics: Tensor

    def __init__(self, schema: InputSchema, settings: CVTGAD) -> None:
        super().__init__()
        widths = schema.width, schema.structure_width
        hidden, layers = settings.hidden, settings.layers
        self.encoders = nn.ModuleList(GIN(width, hidden, layers) for width in widths)
        self.node_heads = nn.ModuleList(mlp(hidden * layers, hidden, hidden) for _ in widths)
        self.graph_heads = nn.ModuleList(mlp(hidden * layers, hidden, hidden) for _ in widths)
        self.node_attention, self.graph_attention = CrossView(hidden), CrossView(hidden)
        self.balance, self.temperature, self.kept = settings.balance, settings.temperature, settings.references
        self.register_buffer("references", torch.zeros(2, 0, hidden))  # graph views before attention
        self.register_buffer("attended", torch.zeros(2, 0, hidden))  # and after it
        self.register_buffer("statistics", torch.tensor([[0.0, 1.0], [0.0, 1.0]]))

    def views(self, batch: GraphBatch) -> tuple[list[Tensor], list[Tensor]]:
        """Node views after attention and graph views before it."""
        assert batch.structure is not None
        inputs = batch.features, batch.structure
        layers = [torch.cat(encode(x, batch.adjacency), dim=1) for encode, x in zip(self.encoders, inputs, strict=True)]
        nodes = [head(x) for head, x in zip(self.node_heads, layers, strict=True)]
        graphs = [head(pool(x, batch, "mean")) for head, x in zip(self.graph_heads, layers, strict=True)]
        return self.node_attention.nodes(nodes, batch), graphs

    def loss(self, batch: GraphBatch) -> Tensor:
        nodes, graphs = self.views(batch)
        # Random keys inside each graph choose which nodes meet in this step.
        order = torch.argsort(batch.graph_of + torch.rand(len(batch.graph_of), dtype=torch.float64))
        place = torch.arange(min(SAMPLED_NODES, int(batch.sizes.max())))
        real = place < batch.sizes[:, None]
        rows = order[(batch.node_offsets[:-1, None] + place).clamp(max=len(order) - 1)]
        node = node_contrast(nodes[0][rows], nodes[1][rows], real, batch.sizes, self.temperature)
        one, two = self.graph_attention.graphs(graphs)
        graph = info_nce(one, two, self.temperature)
        weights = [error.detach().std().clamp(min=1e-3) ** self.balance for error in (node, graph)]
        return weights[0] * node.mean() + weights[1] * graph.mean()

    def node_errors(self, nodes: list[Tensor], batch: GraphBatch) -> Tensor:
        """Contrast among all nodes of each graph, (graphs,)."""
        errors = torch.zeros(len(batch))
        for block in size_blocks(batch.sizes):
            (one, real), (two, _) = (padded_block(view, batch, block) for view in nodes)
            errors[block] = node_contrast(one, two, real, batch.sizes[block], self.temperature)
        return errors

    def errors(self, batch: GraphBatch) -> Tensor:
        """Node and graph errors, (graphs, 2)."""
        nodes, graphs = self.views(batch)
        node = self.node_errors(nodes, batch)
        one, two = self.graph_attention.graphs(graphs, list(self.references))
        graph = info_nce_against(one, two, (self.attended[0], self.attended[1]), self.temperature)
        return torch.stack([node, graph], dim=1)

    @torch.no_grad()
    def finish(self, inputs: GraphBatch) -> None:
        chosen = torch.randperm(len(inputs))[: self.kept].sort().values.numpy()
        parts = [torch.stack(self.views(batch)[1]) for _, batch in inputs.pieces(SCORED_AT_ONCE, chosen)]
        self.references = torch.cat(parts, dim=1)
        self.attended = torch.stack(self.graph_attention.graphs(list(self.references)))
        errors = torch.cat([self.errors(batch) for _, batch in inputs.pieces(SCORED_AT_ONCE, chosen)])
        errors[:, 1] = info_nce(self.attended[0], self.attended[1], self.temperature)  # nobody its own negative
        self.statistics = torch.stack([errors.mean(dim=0), errors.std(dim=0).clamp(min=1e-6)])

    def scores_together(self, batches: Iterable[GraphBatch]) -> Tensor:
        node, graphs = [], []
        for batch in batches:
            nodes, before = self.views(batch)
            node.append(self.node_errors(nodes, batch))
            graphs.append(torch.stack(before))
        one, two = self.graph_attention.graphs(list(torch.cat(graphs, dim=1)))
        errors = torch.stack([torch.cat(node), info_nce(one, two, self.temperature)], dim=1)
        return ((errors - self.statistics[0]) / self.statistics[1]).sum(dim=1)

    def scores(self, batch: GraphBatch) -> Tensor:
        return deviation(self.errors(batch), self.statistics).sum(dim=1)


@dataclass(kw_only=True, eq=False, repr=False)
class CVTGAD(DeepDetector):
    r"""Simplified transformer with cross-view attention.

    A feature view (node labels) and a structural view (return probabilities of random walks, degrees) pass through a
    GIN each. Nodes of a graph, and graphs of a batch, then read their own view by attention weights that compare it
    with the *other* view. Both levels are contrasted,

    .. math:: \min \sigma_{node}^\alpha \mathcal L_{node} + \sigma_{graph}^\alpha \mathcal L_{graph},

    InfoNCE with the other nodes of the graph, and with the other graphs, as negatives, and :math:`\sigma` the spread of
    the errors. The score is the sum over both levels of how many standard deviations an error lies from that of the
    training graphs. Up to ``references`` training graphs stand in for the other graphs of the original's test batch, in
    the attention and as negatives.

    Parameters
    ----------
    hidden, layers : int
        Width and depth of both GINs.
    balance : float
        :math:`\alpha`.
    temperature : float
        Of InfoNCE.
    references : int
        Training graphs kept for scoring.
    """

    network = CVTGADNetwork
    unlabelled = "constant"
    walks = 16

    hidden: int = 16
    layers: int = 5
    balance: float = 0.4
    temperature: float = 0.2
    references: int = 512
    epochs: int = 400


@dataclass(kw_only=True, eq=False, repr=False)
class CVTGADBatch(CVTGAD):
    """CVTGAD with its published score, which is transductive.

    Attention between graphs and the negatives of their contrast are all other graphs that are scored together, and the
    score is the sum of both errors in standard deviations above the mean of the training graphs. It depends on the
    other graphs; a single graph has no score. Settings are those of :class:`CVTGAD`.
    """

    transductive = True
