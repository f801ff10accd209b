"""InfoNCE: how much nearer a graph's two views are to each other than to those of other graphs."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F


def info_nce(one: Tensor, two: Tensor, temperature: float = 0.2) -> Tensor:
    r"""Symmetric InfoNCE inside a batch, the training loss of each row, (rows,).

    .. math:: \ell_i = -\tfrac12 \log \frac{s(u_i, v_i)}{\sum_{j \ne i} s(u_i, v_j)}
              -\tfrac12 \log \frac{s(u_i, v_i)}{\sum_{j \ne i} s(u_j, v_i)}, \quad s(a, b) = e^{\cos(a, b)/\tau}
    """
    similarity = F.normalize(one, dim=1) @ F.normalize(two, dim=1).T / temperature
    own = similarity.diagonal()
    others = similarity.masked_fill(torch.eye(len(one), dtype=torch.bool), -torch.inf)
    return (others.logsumexp(1) + others.logsumexp(0)) / 2 - own


def deviation(errors: Tensor, statistics: Tensor) -> Tensor:
    """Standard deviations between an error and the training graphs' mean, on either side, (rows, ...).

    Against normal references an error far below theirs is as foreign as one far above: a graph unlike every reference
    has no near negatives and so an InfoNCE close to that of its positive pair alone. `statistics`, (2, ...), are the
    mean and the standard deviation of the training graphs' errors.
    """
    return ((errors - statistics[0]) / statistics[1]).abs()


def info_nce_against(one: Tensor, two: Tensor, references: tuple[Tensor, Tensor], temperature: float = 0.2) -> Tensor:
    """The same quantity for graphs scored alone: the stored normal references are the other graphs, (rows,)."""
    one, two = F.normalize(one, dim=1), F.normalize(two, dim=1)
    own = (one * two).sum(1) / temperature
    first, second = (F.normalize(r, dim=1) for r in references)
    across = (one @ second.T / temperature).logsumexp(1) + (two @ first.T / temperature).logsumexp(1)
    return across / 2 - own
