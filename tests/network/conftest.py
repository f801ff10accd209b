import numpy as np
import pytest

from graphglass.graphs.canonical import canonical_graph_set


@pytest.fixture(scope="session")
def make_graphs():
    """Random graphs with node labels and attributes as asked for."""

    def make(count=8, seed=0, labels=None, attributes=0, largest=12):
        random = np.random.default_rng(seed)
        sizes = random.integers(1, largest + 1, count)
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        sources, targets = [], []
        for start, size in zip(offsets, sizes, strict=False):
            edges = random.integers(0, size, (2, 2 * size))
            sources.append(start + edges[0])
            targets.append(start + edges[1])
        nodes = int(offsets[-1])
        return canonical_graph_set(
            sizes,
            np.concatenate(sources),
            np.concatenate(targets),
            node_labels=None if labels is None else random.choice(labels, nodes),
            attributes=random.standard_normal((nodes, attributes)) if attributes else None,
        )

    return make
