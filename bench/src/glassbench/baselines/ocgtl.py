"""OCGTL: one-class learning that several graph transformations keep from collapsing.

Paper: Qiu et al., "Raising the Bar in Graph-level Anomaly Detection", IJCAI 2022.
Usage: ``OCGTL(random_state=0).fit(normals).decision_function(graphs)``, or ``glassbench single --methods ocgtl``.
Promise: a graph is scored alone, by the last of a fixed number of steps; no label chooses anything. What differs from
the authors' code is in bench/docs/baselines.md.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from glassbench.baselines.deep import SCORED_AT_ONCE, DeepDetector, Network
from glassbench.baselines.layers import pool
from glassbench.baselines.node_inputs import InputSchema
from graphglass.glass.network.gin import spread
from graphglass.glass.network.graph_batch import GraphBatch


def one_class_error(views: Tensor, centre: Tensor) -> Tensor:
    """The summed distances of a graph's views to the centre; views (graphs, k, width) -> (graphs,)."""
    out: Tensor = torch.linalg.vector_norm(views - centre, dim=2).sum(dim=1)
    return out


def transformation_error(views: Tensor, reference: Tensor, temperature: float = 1.0) -> Tensor:
    r"""The deterministic contrastive loss of neural transformation learning.

    .. math:: \sum_k -\log \frac{s(f_k, f)}{s(f_k, f) + \sum_{l \ne k} s(f_k, f_l)}, \quad s(a, b) = e^{\cos(a, b)/\tau}

    Views (graphs, k, width) should resemble the reference (graphs, width) and differ from one another -> (graphs,).
    """
    views, reference = F.normalize(views, dim=2), F.normalize(reference, dim=1)
    positive = (views @ reference[:, :, None])[..., 0] / temperature  # (graphs, k)
    across = views @ views.transpose(1, 2) / temperature  # (graphs, k, k)
    across = across.masked_fill(torch.eye(views.shape[1], dtype=torch.bool), -torch.inf)
    every = torch.cat([positive[..., None], across], dim=2).logsumexp(dim=2)
    return (every - positive).sum(dim=1)


class ParallelGIN(nn.Module):
    """Several GINs of one shape over one batch, side by side in the columns of shared tensors.

    The same as that many separate networks with a fixed epsilon of 0 and no additive terms, at a fraction of the calls.
    """

    def __init__(self, width: int, hidden: int, layers: int, copies: int) -> None:
        super().__init__()
        self.hidden, self.copies, self.layers = hidden, copies, layers
        self.enter = nn.Linear(width, copies * hidden, bias=False)
        bound = hidden**-0.5
        self.weights = nn.Parameter(torch.empty(2 * layers - 1, copies, hidden, hidden).uniform_(-bound, bound))

    def _apart(self, x: Tensor) -> Tensor:
        """Each network's own columns, (copies, nodes, hidden)."""
        return x.view(-1, self.copies, self.hidden).transpose(0, 1)

    def forward(self, batch: GraphBatch) -> Tensor:
        """Readouts that sum nodes and join layers, (graphs, copies, layers * hidden)."""
        x, out = batch.features, []
        for i in range(self.layers):
            x = x + spread(batch.adjacency, x)
            inner = self._apart(self.enter(x)) if i == 0 else self._apart(x) @ self.weights[2 * i - 1]
            outer = F.relu(F.relu(inner) @ self.weights[2 * i])
            x = outer.transpose(0, 1).reshape(len(x), -1)
            out.append(pool(x, batch).view(len(batch), self.copies, self.hidden))
        return torch.cat(out, dim=2)


class OCGTLNetwork(Network):
    """A reference GIN, K transforming GINs, and a learned centre."""

    def __init__(self, schema: InputSchema, settings: OCGTL) -> None:
        super().__init__()
        hidden, layers = settings.hidden, settings.layers
        self.encoders = ParallelGIN(schema.width, hidden, layers, settings.transformations + 1)
        self.centre = nn.Parameter(torch.zeros(layers * hidden))
        self.temperature = settings.temperature

    def prepare(self, inputs: GraphBatch) -> None:
        # Sums over nodes start far from the origin; a centre left there would call small graphs normal.
        views = torch.cat([self.encoders(batch)[:, 1:] for _, batch in inputs.pieces(SCORED_AT_ONCE)])
        self.centre.copy_(views.mean(dim=(0, 1)))

    def scores(self, batch: GraphBatch) -> Tensor:
        embedded = self.encoders(batch)
        reference, views = embedded[:, 0], embedded[:, 1:]
        return one_class_error(views, self.centre) + transformation_error(views, reference, self.temperature)


@dataclass(kw_only=True, eq=False, repr=False)
class OCGTL(DeepDetector):
    r"""One-class graph transformation learning.

    K GINs :math:`f_k` give K views of a graph and a further GIN :math:`f` a reference. With a learned centre
    :math:`\theta`,

    .. math::
        \min \sum_G \sum_k \lVert f_k(G) - \theta \rVert
        - \log \frac{s(f_k, f)}{s(f_k, f) + \sum_{l \ne k} s(f_k, f_l)}:

    views gather around the centre, yet stay like the reference and unlike one another, which rules out the constant
    map. The score is the same sum. As in :class:`~glassbench.baselines.OCGIN`, the GINs have no additive terms and no
    batch normalisation, which would forbid the contraction.

    Parameters
    ----------
    transformations : int
        K.
    temperature : float
        Of the similarities :math:`s(a, b) = e^{\cos(a, b)/\tau}`.
    hidden, layers : int
        Width and depth of each GIN.
    """

    network = OCGTLNetwork

    transformations: int = 5
    temperature: float = 1.0
    hidden: int = 32
    layers: int = 4
    epochs: int = 500
