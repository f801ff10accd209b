"""Which graphs share a training step: at most so many graphs, and at most so many edges."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from graphglass.embedding.network.features import GraphInputs


def costs(inputs: GraphInputs) -> NDArray[np.int64]:
    """Rows of work per graph: its nodes plus both ends of its edges, (graphs,)."""
    return (inputs.sizes + inputs.ends).cpu().numpy()


def budget_batches(
    order: NDArray[np.int64], cost: NDArray[np.int64], *, graphs: int, budget: int
) -> list[NDArray[np.int64]]:
    """Cut an order of graphs into runs of at most ``graphs`` graphs and ``budget`` cost.

    A graph that exceeds the budget alone stands alone, so memory is bounded by the budget or the largest graph.
    """
    reached = np.cumsum(cost[order])
    batches, start = [], 0
    while start < len(order):
        spent = reached[start - 1] if start else 0
        stop = int(np.searchsorted(reached, spent + budget, side="right"))
        stop = max(start + 1, min(stop, start + graphs))
        batches.append(order[start:stop])
        start = stop
    return batches


def epoch_batches(cost: NDArray[np.int64], *, graphs: int, budget: int, seed: int, epoch: int) -> list[Tensor]:
    """The shuffled batches of one epoch.

    The shuffle is a function of (seed, epoch) alone, so training resumes at any epoch without stored random state. A
    last batch of a single graph joins the one before it: batch statistics of one graph say nothing.
    """
    order = np.random.default_rng([seed, epoch]).permutation(len(cost))
    batches = budget_batches(order, cost, graphs=graphs, budget=budget)
    if len(batches) > 1 and len(batches[-1]) == 1 and cost[batches[-1]].sum() + cost[batches[-2]].sum() <= 2 * budget:
        last = batches.pop()
        batches[-1] = np.concatenate([batches[-1], last])
    return [torch.from_numpy(batch) for batch in batches]
