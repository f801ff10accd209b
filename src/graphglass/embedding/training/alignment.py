"""The alignment loss: graph rows drawn to the text anchors of the same graphs."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor


def alignment_loss(rows: Mapping[int, Tensor], anchors: Mapping[int, Tensor]) -> Tensor:
    r"""Multi-slice soft cosine alignment (eq:align).

    .. math:: \frac{1}{|B| S} \sum_{G \in B} \sum_{s=1}^{S} \big(1 - \langle z^{(s)}(G), e^{(s)}(G) \rangle\big)

    0 when every graph row equals its anchor, 1 when they are orthogonal on average, 2 when opposite.

    Parameters
    ----------
    rows : {slice: (graphs, slice)}
        Unit rows of the graph encoder.
    anchors : {slice: (graphs, slice)}
        Frozen unit text slices of the same graphs in the same order.
    """
    similarities = [torch.dot(rows[size].flatten(), anchors[size].flatten()) for size in rows]
    graphs = len(next(iter(rows.values())))
    return 1.0 - torch.stack(similarities).sum() / (graphs * len(rows))
