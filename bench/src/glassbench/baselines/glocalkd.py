"""GLocalKD: distil a random network, at the nodes and at the graph.

Paper: Ma et al., "Deep Graph-level Anomaly Detection by Glocal Knowledge Distillation", WSDM 2022.
Usage: ``GLocalKD(random_state=0).fit(normals).decision_function(graphs)``, or ``glassbench single --methods glocalkd``.
Promise: a graph is scored alone, by the last of a fixed number of steps; no label chooses anything. What differs from
the authors' code is in bench/docs/baselines.md.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from glassbench.baselines.deep import DeepDetector, Network
from glassbench.baselines.layers import GCN, normalised, per_graph_mean, pool
from glassbench.baselines.node_inputs import InputSchema
from graphglass.glass.network.graph_batch import GraphBatch


def distillation_error(student: Tensor, teacher: Tensor, batch: GraphBatch, balance: float = 1.0) -> Tensor:
    r"""Graph error plus ``balance`` times the mean node error, (graphs,).

    Both are mean squared differences over the columns; the graph embedding is the maximum over nodes.
    """
    node = per_graph_mean((student - teacher).square().mean(dim=1), batch)
    graph = (pool(student, batch, "max") - pool(teacher, batch, "max")).square().mean(dim=1)
    return graph + balance * node


class GLocalKDNetwork(Network):
    """A frozen random GCN and the GCN that learns to repeat it."""

    def __init__(self, schema: InputSchema, settings: GLocalKD) -> None:
        super().__init__()
        widths = schema.width, settings.hidden, settings.hidden, settings.output
        self.teacher = GCN(*widths).requires_grad_(False)
        self.student = GCN(*widths)
        self.balance = settings.balance

    def scores(self, batch: GraphBatch) -> Tensor:
        propagate = normalised(batch)
        teacher = self.teacher(batch.features, propagate)
        return distillation_error(self.student(batch.features, propagate), teacher, batch, self.balance)


@dataclass(kw_only=True, eq=False, repr=False)
class GLocalKD(DeepDetector):
    r"""Global and local knowledge distillation.

    A student GCN :math:`\phi` learns to repeat a random, frozen GCN :math:`\hat\phi` on normal graphs,

    .. math::
        \min_\phi \frac1n \sum_G \mathrm{KD}(h_G, \hat h_G)
        + \lambda \frac1{|V_G|} \sum_{v \in V_G} \mathrm{KD}(h_v, \hat h_v),

    with KD the mean squared difference and :math:`h_G` the maximum over nodes. Where the student fails is unlike what
    it was trained on: the score is the same sum.

    Parameters
    ----------
    hidden, output : int
        Widths of the three graph convolutions.
    balance : float
        :math:`\lambda`, the weight of the node errors.
    """

    network = GLocalKDNetwork

    hidden: int = 64
    output: int = 32
    balance: float = 1.0
    epochs: int = 150
