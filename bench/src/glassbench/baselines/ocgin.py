"""OCGIN: Deep SVDD on a graph isomorphism network.

Paper: Zhao and Akoglu, "On Using Classification Datasets to Evaluate Graph Outlier Detection", Big Data 2021.
Usage: ``OCGIN(random_state=0).fit(normals).decision_function(graphs)``, or ``glassbench single --methods ocgin``.
Promise: a graph is scored alone, by the last of a fixed number of steps; no label chooses anything. What differs from
the authors' code is in bench/docs/baselines.md.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from glassbench.baselines.deep import SCORED_AT_ONCE, DeepDetector, Network
from glassbench.baselines.layers import readout
from glassbench.baselines.node_inputs import InputSchema
from graphglass.glass.network.gin import GIN
from graphglass.glass.network.graph_batch import GraphBatch


def squared_distance(embeddings: Tensor, centre: Tensor) -> Tensor:
    """The squared distance of every row to the centre, (rows,)."""
    return (embeddings - centre).square().sum(dim=1)


class OCGINNetwork(Network):
    """A GIN without additive terms and normalisation, and the centre of the hypersphere."""

    centre: Tensor

    def __init__(self, schema: InputSchema, settings: OCGIN) -> None:
        super().__init__()
        self.encoder = GIN(schema.width, settings.hidden, settings.layers, bias=False)
        self.register_buffer("centre", torch.zeros(settings.layers * settings.hidden))

    def embed(self, batch: GraphBatch) -> Tensor:
        return readout(self.encoder(batch.features, batch.adjacency), batch)

    def prepare(self, inputs: GraphBatch) -> None:
        parts = [self.embed(batch) for _, batch in inputs.pieces(SCORED_AT_ONCE)]
        self.centre = torch.cat(parts).mean(dim=0)

    def scores(self, batch: GraphBatch) -> Tensor:
        return squared_distance(self.embed(batch), self.centre)


@dataclass(kw_only=True, eq=False, repr=False)
class OCGIN(DeepDetector):
    r"""One-class GIN.

    Maps normal graphs near one point: with the readout :math:`z_i` of a GIN and the centre :math:`c`, the mean of the
    untrained readouts,

    .. math:: \min_\theta \frac1n \sum_i \lVert z_i - c \rVert^2 + \lambda \lVert \theta \rVert^2,

    and the score of a graph is its squared distance :math:`\lVert z - c \rVert^2`. The GIN has no additive terms, which
    would let it map everything to the centre, and no batch normalisation, which would fix the spread of every layer and
    so forbid the contraction that the objective asks for.

    Parameters
    ----------
    hidden, layers : int
        Width and depth of the GIN; the readout sums nodes and joins all layers.
    """

    network = OCGINNetwork

    hidden: int = 32
    layers: int = 4
    epochs: int = 500
    weight_decay: float = 1e-4
