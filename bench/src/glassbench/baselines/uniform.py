"""UniFORM: one energy for nodes, edges and graphs, taught by phantoms drawn with Langevin dynamics.

Paper: Song et al., "UniFORM: Towards Unified Framework for Anomaly Detection on Graphs", AAAI 2025; no code was
released.
Usage: ``UniFORM(random_state=0).fit(normals).decision_function(graphs)``, or ``glassbench single --methods uniform``.
Promise: a graph is scored alone, by the last of a fixed number of steps; no label chooses anything. What is ours where
the description gives nothing is in bench/docs/baselines.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from glassbench.baselines.contrast import info_nce
from glassbench.baselines.deep import DeepDetector, Network
from glassbench.baselines.layers import mlp, pool
from glassbench.baselines.node_inputs import InputSchema
from graphglass.glass.network.gin import GIN, NodeBatchNorm, spread
from graphglass.glass.network.graph_batch import GraphBatch


def energy_gap(normal: Tensor, phantom: Tensor) -> Tensor:
    r"""The contrastive energy loss, a scalar.

    .. math:: \operatorname{mean} \mathrm{softplus}(E(normal)) + \operatorname{mean} \mathrm{softplus}(-E(phantom)):

    low energy for normal components, high energy for phantoms, and no reward for running to infinity.
    """
    return F.softplus(normal).mean() + F.softplus(-phantom).mean()


def langevin(start: Tensor, energy: Callable[[Tensor], Tensor], steps: int, step: float, noise: float) -> Tensor:
    r"""Phantoms: points that walk down the energy with noise, of the shape of ``start``.

    Each step is :math:`h \leftarrow h - s \nabla E(h) + n \xi`. Phantoms gather where the energy
    is low although nothing normal need be there; raising it there closes the gap.
    """
    point = start.detach()
    for _ in range(steps):
        point = point.requires_grad_(True)
        (slope,) = torch.autograd.grad(energy(point).sum(), point)
        point = (point - step * slope + noise * torch.randn_like(point)).detach()
    return point


class UniFORMNetwork(Network):
    """A GIN, the standardised embeddings of components at three levels, and one energy for all of them."""

    def __init__(self, schema: InputSchema, settings: UniFORM) -> None:
        super().__init__()
        hidden, layers = settings.hidden, settings.layers
        self.encoder = GIN(schema.width, hidden, layers, norm="after")
        self.standard = nn.ModuleList(NodeBatchNorm(hidden, affine=False) for _ in range(3))
        self.narrow = nn.Linear(hidden * layers, hidden)
        self.energy = mlp(hidden + 3, 2 * hidden, hidden, 1)
        self.project = nn.ModuleList(mlp(hidden, hidden, hidden) for _ in range(2))
        self.walk = settings.langevin_steps, settings.langevin_step, settings.langevin_noise

    def components(self, batch: GraphBatch) -> list[Tensor]:
        """Standardised embeddings of every node's closed neighbourhood, every edge's two of them, and every graph."""
        nodes = self.narrow(torch.cat(self.encoder(batch.features, batch.adjacency), dim=1))
        egos = (nodes + spread(batch.adjacency, nodes)) / (batch.degrees[:, None] + 1)
        upper = batch.sources < batch.targets
        edges = (egos[batch.sources[upper]] + egos[batch.targets[upper]]) / 2
        levels = [egos, edges, pool(nodes, batch)]
        # A graph set without edges leaves the edge level empty, which batch normalisation cannot average.
        return [norm(x) if len(x) else x for norm, x in zip(self.standard, levels, strict=True)]

    def level_energy(self, x: Tensor, level: int) -> Tensor:
        """The energy of components of one level, (rows,); the level is part of the input."""
        mark = F.one_hot(torch.full((len(x),), level), 3).to(x.dtype)
        out: Tensor = self.energy(torch.cat([x, mark], dim=1))[:, 0]
        return out

    def loss(self, batch: GraphBatch) -> Tensor:
        components = self.components(batch)
        total = components[0].new_zeros(())
        for level, normal in enumerate(components):
            if not len(normal):
                continue
            # A bounded number of phantoms per level keeps the walk's cost off the number of nodes.
            chosen = torch.randperm(len(normal))[: 4 * len(batch)]
            normal = normal[chosen]
            start = normal.detach() + torch.randn_like(normal)

            def energy(x: Tensor, level: int = level) -> Tensor:
                return self.level_energy(x, level)

            phantoms = langevin(start, energy, *self.walk)
            total = total + energy_gap(energy(normal), energy(phantoms))
        whole, parts = self.project[0](components[2]), self.project[1](pool(components[0], batch, "mean"))
        return total + info_nce(whole, parts).mean()

    def scores(self, batch: GraphBatch) -> Tensor:
        nodes, edges, graphs = self.components(batch)
        node = pool(self.level_energy(nodes, 0)[:, None], batch, "mean")[:, 0]
        owners = batch.graph_of[batch.sources[batch.sources < batch.targets]]
        edge = torch.zeros(len(batch)).index_add(0, owners, self.level_energy(edges, 1))
        count = torch.bincount(owners, minlength=len(batch)).clamp(min=1)
        return node + edge / count + self.level_energy(graphs, 2)


@dataclass(kw_only=True, eq=False, repr=False)
class UniFORM(DeepDetector):
    r"""Unified energy-based anomaly detection, built from its published description: no code was ever released.

    Nodes, edges and graphs are all read as subgraphs (a closed neighbourhood, the two at an edge's ends, the whole) and
    share one energy :math:`E` over their embeddings. Phantoms :math:`\tilde h` drawn by Langevin dynamics from
    :math:`E` stand in for anomalies,

    .. math:: \min \sum_{level} \mathrm{softplus}(E(h)) + \mathrm{softplus}(-E(\tilde h))
              + \mathcal L_{InfoNCE}(graph, parts),

    and InfoNCE ties a graph to its own parts. The score is the graph's energy plus the mean energies of its nodes and
    of its edges. Architecture, sizes, step lengths and loss weights are ours where the description gives none; its
    meta-learning over tasks is left out, as one normal class is one task.

    Parameters
    ----------
    hidden, layers : int
        Width and depth of the GIN.
    langevin_steps, langevin_step, langevin_noise
        Length of the walk, its step and its noise per step.
    """

    network = UniFORMNetwork

    hidden: int = 32
    layers: int = 3
    langevin_steps: int = 10
    langevin_step: float = 0.1
    langevin_noise: float = 0.1
    epochs: int = 200
    weight_decay: float = 1e-5
