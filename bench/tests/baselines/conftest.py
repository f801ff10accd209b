"""Generated graphs whose normal and anomalous kinds differ in one motif."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest

from graphglass.graphs.canonical import canonical_graph_set
from graphglass.graphs.graph_set import GraphSet

MOTIFS = {
    "ring": [(i, (i + 1) % 6) for i in range(6)],
    "clique": [(i, j) for i in range(6) for j in range(i)],
}


def motif_graphs(count: int, motif: str, seed: int, *, labelled: bool = True) -> GraphSet:
    """Random trees of 8 to 14 nodes with three copies of a six-node motif hung on them; labels carry no signal."""
    rng = np.random.default_rng(seed)
    sizes, sources, targets, total = [], [], [], 0
    for _ in range(count):
        tree = int(rng.integers(8, 15))
        edges = [(i, int(rng.integers(0, i))) for i in range(1, tree)]
        for copy in range(3):
            first = tree + 6 * copy
            edges += [(first + a, first + b) for a, b in MOTIFS[motif]]
            edges.append((first, int(rng.integers(0, tree))))
        sizes.append(tree + 18)
        sources += [total + a for a, _ in edges]
        targets += [total + b for _, b in edges]
        total += sizes[-1]
    names = [f"{motif}-{seed}-{i}" for i in range(count)]
    labels = rng.integers(0, 3, total) if labelled else None
    return canonical_graph_set(sizes, sources, targets, ids=names, node_labels=labels)


@pytest.fixture(scope="session")
def make_graphs() -> Callable[..., GraphSet]:
    return motif_graphs


@pytest.fixture(scope="session")
def reordered() -> Callable[[GraphSet, int], GraphSet]:
    """A function that gives the same graphs with the nodes of each in another order."""

    def reorder(graphs: GraphSet, seed: int) -> GraphSet:
        random = np.random.default_rng(seed)
        order = np.concatenate([random.permutation(np.arange(a, b)) for a, b in pairwise(graphs.node_offsets)])
        place, edges = np.argsort(order), graphs.edge_list()
        labels = None if graphs.node_labels is None else graphs.node_labels[order]
        return canonical_graph_set(
            graphs.sizes, place[edges.sources], place[edges.targets], ids=graphs.ids, node_labels=labels
        )

    return reorder
