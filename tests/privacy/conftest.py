"""A stand-in model and small graphs for the privacy tests."""

from types import SimpleNamespace

import numpy as np
import pytest

from graphglass.graphs.canonical import canonical_graph_set
from graphglass.privacy.release.ledger import Ledger


class StandInModel:
    """Embeds a graph by its size and edge count, one graph at a time, in the four channels of the paper."""

    def __init__(self, trained_on=()):
        self._hashes = frozenset(trained_on)
        self.broken = None

    def channel_embeddings(self, graphs):
        out = {}
        for name, width in (("graph:64", 64), ("graph:128", 128), ("text:64", 64), ("text:128", 128)):
            axis = np.linspace(0.1, 3.0, width) * (1.0 if name.startswith("graph") else 1.7)
            rows = np.sin(np.outer(graphs.sizes, axis)) + 0.1 * np.cos(np.outer(graphs.edge_counts, axis))
            out[name] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
            if self.broken is not None:
                out[name][graphs.sizes == self.broken[0]] = self.broken[1]
        return out

    @property
    def embedder_(self):
        return SimpleNamespace(slices=(64, 128))

    def encoder_fingerprint(self):
        return "stand-in/1"

    def training_hashes(self):
        return self._hashes


def path_graphs(counts):
    """One path per node count."""
    counts = np.asarray(counts, np.int64)
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    sources = np.concatenate([start + np.arange(count - 1) for start, count in zip(starts, counts, strict=True)])
    return canonical_graph_set(counts, sources, sources + 1)


@pytest.fixture
def model():
    return StandInModel()


@pytest.fixture
def make_model():
    return StandInModel


@pytest.fixture
def make_graphs():
    return path_graphs


@pytest.fixture
def graphs():
    return path_graphs(np.arange(3, 19))


@pytest.fixture
def ledger(tmp_path):
    book = Ledger.create(tmp_path / "ledger.db")
    book.grant("clinic", epsilon=4.0, delta=1e-5)
    return book
