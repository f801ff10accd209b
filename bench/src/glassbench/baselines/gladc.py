"""GLADC: graphs that an autoencoder brings back close to where they were, in latent space.

Paper: Luo et al., "Deep Graph Level Anomaly Detection with Contrastive Learning", Scientific Reports 2022.
Usage: ``GLADC(random_state=0).fit(normals).decision_function(graphs)``, or ``glassbench single --methods gladc``.
Promise: a graph is scored alone, by the last of a fixed number of steps; no label chooses anything. What differs from
the authors' code is in bench/docs/baselines.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.func import functional_call

from glassbench.baselines.contrast import info_nce
from glassbench.baselines.deep import DeepDetector, Network
from glassbench.baselines.layers import (
    GCN,
    mlp,
    normalised,
    padded_block,
    padded_rows,
    per_graph_mean,
    pool,
    size_blocks,
)
from glassbench.baselines.node_inputs import InputSchema
from glassbench.baselines.pair_products import pair_products
from graphglass.glass.network.graph_batch import GraphBatch


def decoded_propagation(z: Tensor, batch: GraphBatch) -> Callable[[Tensor], Tensor]:
    r"""Averaging by the decoded adjacency matrix :math:`\hat A_{ij} = \langle z_i, z_j \rangle`, inside each graph.

    Rows of ``z`` are unit and non-negative, so entries lie between 0 and 1. The decoder is linear in each argument:
    :math:`\hat A X = Z (Z^\top X)` reaches all pairs of a graph in time and memory linear in its nodes.
    """
    blocks = list(size_blocks(batch.sizes))
    places = [padded_rows(batch, block) for block in blocks]
    units = [padded_block(z, batch, block)[0] for block in blocks]
    back = torch.argsort(torch.cat([rows[real] for rows, real in places]))

    def every(x: Tensor) -> Tensor:
        parts = []
        for unit, (rows, real) in zip(units, places, strict=True):
            within = unit.transpose(1, 2) @ (x[rows] * real[..., None])  # (block, d, width)
            parts.append((unit @ within)[real])
        return torch.cat(parts)[back]

    total = every(torch.ones(len(z), 1))
    return lambda x: every(x) / total


def structure_error(z: Tensor, batch: GraphBatch) -> Tensor:
    r"""Squared errors of :math:`\hat A`: half the mean over edges plus half the mean over non-edges, (graphs,).

    The sum of squares over all pairs of a graph is :math:`\lVert Z^\top Z \rVert_F^2`; less the edges, and the diagonal
    of ones, it is that over non-edges. A kind of pair that a graph has none of counts 0.
    """
    everywhere = torch.zeros(len(batch))
    for block in size_blocks(batch.sizes):
        unit, _ = padded_block(z, batch, block)
        squares = (unit.transpose(1, 2) @ unit).square().sum(dim=(1, 2))
        everywhere = everywhere.index_add(0, block, squares)
    on_edges = pair_products(z, batch.sources, batch.targets)
    owners, zeros = batch.graph_of[batch.sources], torch.zeros(len(batch))
    ends = torch.bincount(owners, minlength=len(batch))
    present = zeros.index_add(0, owners, (1 - on_edges).square()) / ends.clamp(min=1)
    absent = everywhere - batch.sizes - zeros.index_add(0, owners, on_edges.square())
    return (present + absent / (batch.sizes.square() - batch.sizes - ends).clamp(min=1)) / 2


class Encoder(GCN):
    """Graph convolutions whose node embeddings are unit and non-negative: the roots of a softmax."""

    def forward(self, x: Tensor, propagate: Callable[[Tensor], Tensor], norms: nn.ModuleList | None = None) -> Tensor:
        return (super().forward(x, propagate, norms).log_softmax(dim=1) / 2).exp()


class GLADCNetwork(Network):
    """A shared encoder, a feature decoder and the projection of the contrastive part."""

    def __init__(self, schema: InputSchema, settings: GLADC) -> None:
        super().__init__()
        hidden, output = settings.hidden, settings.output
        self.encoder = Encoder(schema.width, hidden, output)
        self.again = nn.ModuleList([nn.BatchNorm1d(hidden, affine=False)])  # of the encoder on decoded graphs
        self.decoder = GCN(output, hidden, schema.width)
        self.project = mlp(output, output, output)
        self.temperature, self.noise = settings.temperature, settings.noise

    def latent_error(self, z: Tensor, again: Tensor, batch: GraphBatch) -> Tensor:
        """How far the re-encoded graph is from the encoded one, at its nodes and as a whole, (graphs,)."""
        node = per_graph_mean((z - again).square().mean(dim=1), batch)
        graph = (pool(z, batch, "max") - pool(again, batch, "max")).square().mean(dim=1)
        return node + graph

    def encode_twice(self, batch: GraphBatch) -> tuple[Tensor, Tensor, Tensor]:
        """Node embeddings, decoded features, and the embeddings of the decoded graph."""
        propagate = normalised(batch)
        z = self.encoder(batch.features, propagate)
        decoded = self.decoder(z, propagate)
        return z, decoded, self.encoder(decoded, decoded_propagation(z, batch), self.again)

    @torch.no_grad()
    def perturbed(self, batch: GraphBatch) -> Tensor:
        """Graph embeddings by the encoder with noise on its weights: the augmentation that leaves the graph alone."""
        state = {name: buffer.clone() for name, buffer in self.encoder.named_buffers()}
        for name, value in self.encoder.named_parameters():
            state[name] = value + self.noise * value.std(correction=0) * torch.randn_like(value)
        return pool(functional_call(self.encoder, state, (batch.features, normalised(batch))), batch, "max")

    def loss(self, batch: GraphBatch) -> Tensor:
        z, decoded, again = self.encode_twice(batch)
        features = per_graph_mean(torch.linalg.vector_norm(decoded - batch.features, dim=1), batch)
        views = self.project(self.perturbed(batch)), self.project(pool(z, batch, "max"))
        contrast = info_nce(*views, self.temperature)
        return (structure_error(z, batch) + features + self.latent_error(z, again, batch) + contrast).mean()

    def scores(self, batch: GraphBatch) -> Tensor:
        z, _, again = self.encode_twice(batch)
        return self.latent_error(z, again, batch)


@dataclass(kw_only=True, eq=False, repr=False)
class GLADC(DeepDetector):
    r"""Graph-level anomaly detection by contrastive learning and latent reconstruction.

    A GCN encodes a graph to unit, non-negative node vectors :math:`Z`; features and adjacency are decoded from them and
    the decoded graph is encoded again by the same GCN to :math:`Z'`. Trained together: the reconstruction of features
    and adjacency, the latent errors, and InfoNCE between a graph and its embedding under perturbed weights,

    .. math:: \min \mathcal L_X + \mathcal L_A + \mathcal L_{node}(Z, Z')
              + \mathcal L_{graph}(Z, Z') + \mathcal L_{InfoNCE}.

    The score is the latent error, mean squared over nodes plus that of the max-pooled graph.

    Parameters
    ----------
    hidden, output : int
        Widths of the encoder's two convolutions.
    temperature, noise : float
        Of InfoNCE, and the weight noise in standard deviations of each weight matrix.
    """

    network = GLADCNetwork

    hidden: int = 64
    output: int = 32
    temperature: float = 0.2
    noise: float = 1.0
    epochs: int = 100
