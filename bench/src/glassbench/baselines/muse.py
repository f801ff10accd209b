"""MUSE: a graph is summarised by how an autoencoder errs on it, not by how much on average.

Paper: Kim et al., "Rethinking Reconstruction-based Graph-Level Anomaly Detection", NeurIPS 2024.
Usage: ``MUSE(random_state=0).fit(normals).decision_function(graphs)``, or ``glassbench single --methods muse``.
Promise: a graph is scored alone, by the last of a fixed number of steps; no label chooses anything. What differs from
the authors' code is in bench/docs/baselines.md.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from glassbench.baselines.deep import SCORED_AT_ONCE, DeepDetector, Network
from glassbench.baselines.layers import mlp, padded_block, per_graph_mean, size_blocks
from glassbench.baselines.node_inputs import InputSchema
from glassbench.baselines.pair_products import pair_products
from graphglass.glass.network.gin import GIN
from graphglass.glass.network.graph_batch import GraphBatch


def feature_errors(decoded: Tensor, features: Tensor) -> Tensor:
    """One minus the cosine of a node's decoded and true features, (nodes,)."""
    return 1 - F.cosine_similarity(decoded, features, dim=1)


def ones(batch: GraphBatch) -> tuple[Tensor, Tensor]:
    """Where A + I is one: both directions of every edge, and the diagonal; rows and columns, each (ends + nodes,)."""
    nodes = torch.arange(len(batch.features))
    return torch.cat([batch.sources, nodes]), torch.cat([batch.targets, nodes])


def pair_error_summary(z: Tensor, batch: GraphBatch) -> tuple[Tensor, Tensor]:
    r"""Mean and standard deviation of the adjacency errors over all ordered pairs of each graph, each (graphs,).

    The error of a pair is the cross-entropy of the logit :math:`t = \langle z_i, z_j \rangle` with :math:`B = A + I`,
    which is :math:`\mathrm{softplus}(t) - B_{ij} t`: so all pairs need only the softplus, in blocks of graphs of like
    size, and the rest is a sum over edges and nodes. Exact, with bounded memory.
    """
    first, second = torch.zeros(len(batch), dtype=torch.float64), torch.zeros(len(batch), dtype=torch.float64)
    for block in size_blocks(batch.sizes):
        rows, real = padded_block(z, batch, block)
        soft = F.softplus(rows @ rows.transpose(1, 2)) * (real[:, :, None] & real[:, None, :])
        first[block] = soft.sum(dim=(1, 2), dtype=torch.float64)
        second[block] = soft.square().sum(dim=(1, 2), dtype=torch.float64)
    left, right = ones(batch)
    logits = pair_products(z, left, right).double()
    owners = batch.graph_of[left]
    first.index_add_(0, owners, -logits)
    second.index_add_(0, owners, logits.square() - 2 * logits * F.softplus(logits))
    pairs = batch.sizes.square()
    mean = first / pairs
    return mean.float(), (second / pairs - mean.square()).clamp(min=0).sqrt().float()


def balanced_pair_loss(z: Tensor, batch: GraphBatch, chances: Tensor) -> Tensor:
    r"""Cross-entropy with A + I over all ordered pairs, ones weighted up to the number of zeros, estimated, (graphs,).

    The sum over ones is exact. That over all pairs is estimated from as many uniform pairs per graph as it has edge
    ends and nodes; ``chances`` (samples, 2) are uniform in [0, 1). Expects :func:`sample_owners` in their order.
    """
    owners = sample_owners(batch)
    size, start = batch.sizes[owners], batch.node_offsets[:-1][owners]
    ends = start[:, None] + (chances * size[:, None]).long().clamp(max=size[:, None] - 1)
    drawn = F.softplus(pair_products(z, ends[:, 0], ends[:, 1]))
    zeros = torch.zeros(len(batch))
    everywhere = zeros.index_add(0, owners, drawn) / torch.bincount(owners, minlength=len(batch))  # mean over pairs
    left, right = ones(batch)
    logits = pair_products(z, left, right)
    graph = batch.graph_of[left]
    pairs, count = batch.sizes.square(), torch.bincount(graph, minlength=len(batch))
    weight = (pairs - count) / count
    present = zeros.index_add(0, graph, weight[graph] * F.softplus(-logits) - F.softplus(logits))
    return everywhere + present / pairs


def sample_owners(batch: GraphBatch) -> Tensor:
    """The graph of every sampled pair: one sample per node and per edge end, (samples,)."""
    return torch.cat([batch.graph_of, batch.graph_of[batch.sources]])


class MUSENetwork(Network):
    """A GIN with a feature head and an edge head, then a small autoencoder of error summaries."""

    deviation: Tensor

    def __init__(self, schema: InputSchema, settings: MUSE) -> None:
        super().__init__()
        hidden, joint = settings.hidden, settings.hidden * settings.layers
        self.encoder = GIN(schema.width, hidden, settings.layers)
        self.dropout = nn.Dropout(settings.dropout)
        self.feature_head = mlp(joint, hidden, schema.width)
        self.edge_head = mlp(joint, hidden, hidden)
        self.summary = mlp(4, 32, 32, 4)
        self.drop, self.one_class_steps = settings.drop, settings.one_class_steps
        self.register_buffer("deviation", torch.ones(4))

    def decode(self, batch: GraphBatch) -> tuple[Tensor, Tensor]:
        joined = self.dropout(torch.cat(self.encoder(batch.features, batch.adjacency), dim=1))
        return self.feature_head(joined), self.edge_head(joined)

    def loss(self, batch: GraphBatch) -> Tensor:
        # A number per node decides each edge alike from both its ends, and any two edges independently.
        chance = torch.rand(len(batch.features))
        kept = (chance[batch.sources] + chance[batch.targets]) % 1 >= self.drop
        features, edges = self.decode(batch.keep_edges(kept))
        node = per_graph_mean(feature_errors(features, batch.features), batch)
        pair = balanced_pair_loss(edges, batch, torch.rand(len(batch.features) + len(batch.sources), 2))
        return (node + pair).mean() / 2

    def summaries(self, batch: GraphBatch) -> Tensor:
        """Mean and standard deviation of the pair errors and of the feature errors, (graphs, 4)."""
        features, edges = self.decode(batch)
        errors = feature_errors(features, batch.features)
        mean = per_graph_mean(errors, batch)
        spread = per_graph_mean((errors - mean[batch.graph_of]).square(), batch).sqrt()
        return torch.stack([*pair_error_summary(edges, batch), mean, spread], dim=1)

    def finish(self, inputs: GraphBatch) -> None:
        with torch.no_grad():
            found = torch.cat([self.summaries(batch) for _, batch in inputs.pieces(SCORED_AT_ONCE)])
        optimiser = torch.optim.Adam(self.summary.parameters(), lr=1e-3, weight_decay=1e-6)
        for _ in range(self.one_class_steps):
            optimiser.zero_grad()
            (self.summary(found) - found).square().sum(dim=1).mean().backward()
            optimiser.step()
        with torch.no_grad():
            self.deviation = self.summary(found).std(dim=0, correction=0).clamp(min=1e-6)

    def scores(self, batch: GraphBatch) -> Tensor:
        found = self.summaries(batch)
        out: Tensor = ((self.summary(found) - found).square() / self.deviation).sum(dim=1)
        return out


@dataclass(kw_only=True, eq=False, repr=False)
class MUSE(DeepDetector):
    r"""Multifaceted summaries of reconstruction errors.

    A graph autoencoder learns features and adjacency of normal graphs with half their edges hidden,

    .. math:: \min \tfrac12 \operatorname{mean}_v (1 - \cos(x_v, \hat x_v))
              + \tfrac12 \operatorname{mean}_{ij} \mathrm{BCE}(A_{ij} + I_{ij}, \sigma(\langle z_i, z_j \rangle)),

    ones weighted up to the number of zeros. Anomalous graphs may be reconstructed *better* on average, so a graph
    becomes four numbers, the mean and the standard deviation of both kinds of error, and a second, small autoencoder of
    these numbers, trained on normal graphs, gives the score: its squared errors, each over the deviation of what it
    reconstructs of the training graphs. Nodes have their labels and their attributes.

    Parameters
    ----------
    hidden, layers : int
        Width and depth of the GIN; both heads read all its layers.
    drop : float
        Share of edges hidden during training.
    dropout : float
        Share of the GIN's outputs set to zero during training.
    one_class_steps : int
        Full-batch steps of the small autoencoder.
    """

    network = MUSENetwork
    joined = True

    hidden: int = 32
    layers: int = 4
    drop: float = 0.5
    dropout: float = 0.3
    one_class_steps: int = 500
    epochs: int = 200
    max_steps: int | None = None
    batch_size: int = 256
    weight_decay: float = 1e-6
