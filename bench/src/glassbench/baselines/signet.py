"""SIGNET: the mutual information of a graph and its dual hypergraph, seen through a bottleneck subgraph.

Paper: Liu et al., "Towards Self-Interpretable Graph-Level Anomaly Detection", NeurIPS 2023.
Usage: ``SIGNET(random_state=0).fit(normals).decision_function(graphs)``, or ``glassbench single --methods signet``.
Promise: a graph is scored alone, by the last of a fixed number of steps; no label chooses anything. ``SIGNETBatch`` has
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
from glassbench.baselines.layers import mlp, pool, readout
from glassbench.baselines.node_inputs import InputSchema
from graphglass.glass.network.gin import GIN
from graphglass.glass.network.graph_batch import GraphBatch, csr


@dataclass(frozen=True)
class DualHypergraph:
    """Edges become nodes and nodes become hyperedges."""

    tails: Tensor  # the two end nodes of each undirected edge, (edges,)
    heads: Tensor
    incidence: Tensor  # sparse (nodes, edges); row v averages over the edges at node v
    owners: Tensor  # the graph of each edge, (edges,)

    @classmethod
    def of(cls, batch: GraphBatch) -> DualHypergraph:
        upper = batch.sources < batch.targets
        tails, heads = batch.sources[upper], batch.targets[upper]
        number = upper.cumsum(0) - 1
        # Ends are sorted by (row, column), so sorting by (column, row) pairs each end with its reverse.
        reverse = torch.argsort(batch.targets * len(batch.degrees) + batch.sources)
        edge_of_end = torch.where(upper, number, number[reverse])
        weights = 1 / batch.degrees[batch.sources]
        return cls(tails, heads, csr(batch.neighbour_offsets, edge_of_end, weights, len(tails)), batch.graph_of[tails])

    def spread(self, edges: Tensor) -> Tensor:
        """Hypergraph convolution without weights: each edge averages itself and the means at its two ends."""
        at_nodes = _Average.apply(self.incidence, self.tails, self.heads, edges)  # type: ignore[no-untyped-call]
        out: Tensor = (at_nodes[self.tails] + at_nodes[self.heads] + edges) / 3
        return out


class _Average(torch.autograd.Function):
    """``incidence @ edges``; the transpose in its gradient is a gather at both ends."""

    @staticmethod
    def forward(ctx, incidence, tails, heads, edges):  # type: ignore[no-untyped-def]
        ctx.save_for_backward(tails, heads, incidence.crow_indices().diff())
        return incidence @ edges

    @staticmethod
    def backward(ctx, grad):  # type: ignore[no-untyped-def]
        tails, heads, degrees = ctx.saved_tensors
        share = grad / degrees.clamp(min=1)[:, None]
        return None, None, None, share[tails] + share[heads]


def relative_importance(logits: Tensor, batch: GraphBatch) -> Tensor:
    """Each node's softmax probability in its graph, as a share of the graph's largest, in (0, 1], (nodes,)."""
    return (logits - pool(logits[:, None], batch, "max")[batch.graph_of, 0]).exp()


def bottleneck_factors(importance: Tensor) -> Tensor:
    """What scales the features: from 1 - 1/40 for importance 0 to 1 + 1/40 for importance 1."""
    return 1 + (2 * importance - 1) / 40.0


class SIGNETNetwork(Network):
    """An extractor, an encoder of each view with its projection, and the stored views of normal graphs."""

    graph_views: Tensor
    dual_views: Tensor
    statistics: Tensor

    def __init__(self, schema: InputSchema, settings: SIGNET) -> None:
        super().__init__()
        width, hidden, layers = schema.width, settings.hidden, settings.layers
        joint = hidden * layers
        self.extractor = GIN(width, settings.extractor, layers)
        self.importance = nn.Linear(settings.extractor, 1)
        self.encoder = GIN(width, hidden, layers)
        self.dual = nn.ModuleList(nn.Linear(width if i == 0 else hidden, hidden) for i in range(layers))
        self.heads = nn.ModuleList(mlp(joint, joint, joint) for _ in range(2))
        self.temperature, self.references = settings.temperature, settings.references
        self.register_buffer("graph_views", torch.zeros(0, joint))
        self.register_buffer("dual_views", torch.zeros(0, joint))
        self.register_buffer("statistics", torch.tensor([0.0, 1.0]))

    def views(self, batch: GraphBatch) -> tuple[Tensor, Tensor]:
        """Projected embeddings of the graphs and of their dual hypergraphs, each (graphs, joint)."""
        logits = self.importance(torch.stack(self.extractor(batch.features, batch.adjacency)).sum(0))[:, 0]
        importance = relative_importance(logits, batch)
        nodes = batch.features * bottleneck_factors(importance)[:, None]
        dual = DualHypergraph.of(batch)
        edges = (batch.features[dual.tails] + batch.features[dual.heads]) / 2
        # An edge matters as the product of its ends.
        edges = edges * bottleneck_factors(importance[dual.tails] * importance[dual.heads])[:, None]
        pooled = []
        for linear in self.dual:
            edges = F.relu(linear(dual.spread(edges)))
            pooled.append(edges.new_zeros(len(batch), edges.shape[1]).index_add(0, dual.owners, edges))
        graphs = readout(self.encoder(nodes, batch.adjacency), batch)
        return self.heads[0](graphs), self.heads[1](torch.cat(pooled, dim=1))

    def loss(self, batch: GraphBatch) -> Tensor:
        return info_nce(*self.views(batch), self.temperature).mean()

    def finish(self, inputs: GraphBatch) -> None:
        chosen = torch.randperm(len(inputs))[: self.references].sort().values.numpy()
        with torch.no_grad():
            parts = [self.views(batch) for _, batch in inputs.pieces(SCORED_AT_ONCE, chosen)]
        self.graph_views, self.dual_views = (torch.cat(side) for side in zip(*parts, strict=True))
        errors = info_nce(self.graph_views, self.dual_views, self.temperature)
        self.statistics = torch.stack([errors.mean(), errors.std().clamp(min=1e-6)])

    def scores_together(self, batches: Iterable[GraphBatch]) -> Tensor:
        graphs, duals = (torch.cat(side) for side in zip(*map(self.views, batches), strict=True))
        return info_nce(graphs, duals, self.temperature)

    def scores(self, batch: GraphBatch) -> Tensor:
        references = self.graph_views, self.dual_views
        return deviation(info_nce_against(*self.views(batch), references, self.temperature), self.statistics)


@dataclass(kw_only=True, eq=False, repr=False)
class SIGNET(DeepDetector):
    r"""Self-interpretable graph anomaly detection by a multi-view subgraph information bottleneck.

    A graph and its dual hypergraph (edges as nodes) are two views. An extractor weighs nodes, hence edges, and so keeps
    one bottleneck subgraph in both; the views' embeddings :math:`h, h^*` are trained to share information,

    .. math:: \min \frac1n \sum_i \ell_{\mathrm{InfoNCE}}(h_i, h_i^*),

    and a graph whose two views do not agree as those of normal graphs do is anomalous. The original scores a graph by
    :math:`\ell` against the other graphs of the test batch. Here up to ``references`` training graphs stand in for
    them, so that a graph can be scored alone, and the score is how many standard deviations :math:`\ell` lies from that
    of the references among themselves.

    Parameters
    ----------
    hidden, layers : int
        Width and depth of both encoders.
    extractor : int
        Width of the GIN that weighs nodes.
    temperature : float
        Of InfoNCE.
    references : int
        Training graphs kept as the negatives of scoring.
    """

    network = SIGNETNetwork
    unlabelled = "constant"

    hidden: int = 16
    layers: int = 5
    extractor: int = 8
    temperature: float = 0.2
    references: int = 512
    epochs: int = 1000


@dataclass(kw_only=True, eq=False, repr=False)
class SIGNETBatch(SIGNET):
    r"""SIGNET with its published score, which is transductive.

    The score of a graph is :math:`\ell_{\mathrm{InfoNCE}}` with all other graphs that are scored with it as negatives.
    It therefore depends on them: where most of them are anomalous it is high for anomalies, where few are it need not
    be. A single graph has no score. Settings are those of :class:`SIGNET`.
    """

    transductive = True
