"""Small generated datasets under the benchmark's names."""

from __future__ import annotations

import zlib

import numpy as np
import pytest

from glassbench.datasets import Datasets
from graphglass.graphs.canonical import canonical_graph_set
from graphglass.graphs.graph_set import GraphSet


class Generated(Datasets):
    """Forty random graphs per name: rings are of class 1, rings with chords of class 0; some have node labels."""

    def __init__(self) -> None:
        super().__init__(None, keep=12)

    def get(self, name: str) -> GraphSet:
        if name not in self._held:
            self._held[name] = generated(zlib.crc32(name.encode()), labelled="-" not in name)
        return self._held[name]


def generated(seed: int, *, labelled: bool = True, graphs: int = 40) -> GraphSet:
    rng = np.random.default_rng(seed)
    counts = rng.integers(6, 12, graphs)
    labels = (np.arange(graphs) >= graphs // 4).astype(np.int64)
    sources, targets, first = [], [], 0
    for n, label in zip(counts, labels, strict=True):
        ring = np.arange(n)
        sources.append(first + ring)
        targets.append(first + (ring + 1) % n)
        chords = rng.integers(0, n, (1 if label else 2 * n, 2))
        sources.append(first + chords[:, 0])
        targets.append(first + chords[:, 1])
        first += n
    return canonical_graph_set(
        counts, np.concatenate(sources), np.concatenate(targets), labels=labels,
        node_labels=rng.integers(0, 3, first) if labelled else None,
    )  # fmt: skip


@pytest.fixture
def data() -> Generated:
    return Generated()
