"""Every training-free channel: what must hold for any graphs, references and order of nodes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from graphglass import GraphGlass
from graphglass.channels.default_channels import FAMILY_WEIGHTS, default_channels, default_weights
from graphglass.channels.profiled_graphs import ProfiledGraphs, measure_graphs
from graphglass.graphs.canonical import canonical_graph_set
from graphglass.graphs.graph_schema import GraphSchema
from graphglass.graphs.graph_set import GraphSet

# Channels of direction, edge data and chemistry have tests of their own.
NAMES = [
    "patterns:labels", "patterns:shape", "patterns:lengths", "patterns:contrast", "composition", "size", "structure",
    "surroundings", "geometry", "attributes",
]  # fmt: skip
INVARIANT = {"patterns:lengths", "patterns:contrast", "geometry"}
ATTRIBUTED = INVARIANT | {"attributes"}


def random_graphs(count: int, seed: int, *, density: float = 0.25, rich: bool = True) -> GraphSet:
    generator = np.random.default_rng(seed)
    sizes = generator.integers(3, 14, count)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    sources, targets = [], []
    for start, size in zip(offsets[:-1], sizes, strict=True):
        upper = np.triu(generator.random((size, size)) < density, 1)
        upper[np.arange(size - 1), np.arange(1, size)] = True
        a, b = np.nonzero(upper)
        sources.append(a + start)
        targets.append(b + start)
    src, dst = np.concatenate(sources), np.concatenate(targets)
    nodes = int(offsets[-1])
    extra = {}
    if rich:
        extra = {
            "node_labels": generator.integers(0, 4, nodes),
            "attributes": generator.normal(size=(nodes, 3)),
            "edge_labels": generator.integers(0, 2, len(src)),
        }
    return canonical_graph_set(sizes, src, dst, **extra)


def channel(name: str):
    return next(item for item in default_channels() if item.name == name)


@pytest.fixture(scope="module")
def references() -> ProfiledGraphs:
    return measure_graphs(random_graphs(40, 0))


@pytest.fixture(scope="module")
def queries() -> ProfiledGraphs:
    return measure_graphs(random_graphs(15, 1, density=0.5))


def distances(item, profiled):
    return item.distances(item.encode(profiled))


@pytest.mark.parametrize("name", NAMES)
class TestEveryChannel:
    def test_a_batch_is_scored_as_its_graphs_one_by_one(self, name, references, queries):
        item = channel(name)
        item.fit(references)
        alone = [distances(item, queries[[i]]) for i in range(len(queries))]
        assert np.array_equal(distances(item, queries), np.concatenate(alone))

    def test_a_distance_is_the_same_from_either_side(self, name, references, queries):
        item = channel(name)
        item.fit(references)
        one, other = item.encode(queries), item.encode(references)
        assert np.array_equal(item.compare(one, other), item.compare(other, one).T)

    def test_renumbered_nodes_change_nothing(self, name, references, queries, reordered):
        item = channel(name)
        item.fit(references)
        renumbered = measure_graphs(reordered(queries.graphs, 3))
        assert np.allclose(distances(item, renumbered), distances(item, queries), atol=1e-6)

    def test_saved_and_loaded_it_gives_the_same_distances(self, name, references, queries):
        item, again = channel(name), channel(name)
        item.fit(references)
        saved = item.saved()
        assert all(isinstance(value, np.ndarray) and value.dtype != object for value in saved.values())
        again.load({key: value.copy() for key, value in saved.items()}, references)
        assert np.array_equal(distances(again, queries), distances(item, queries))
        assert np.array_equal(again.left_out, item.left_out)
        assert again.has_data

    def test_one_reference_and_fewer_than_k(self, name, references, queries):
        for count in (1, 2):
            item = channel(name)
            item.fit(references[:count])
            assert np.isfinite(distances(item, queries)).all()
            assert item.left_out.shape == (count,)
            assert np.isfinite(item.left_out).all()

    def test_a_reference_is_at_distance_zero_from_its_own_copies(self, name, references):
        item = channel(name)
        item.fit(references[np.repeat(np.arange(10), 4)])
        assert np.allclose(distances(item, references[:10]), 0, atol=1e-3)

    def test_no_data_exactly_without_attributes(self, name, references):
        item = channel(name)
        item.fit(measure_graphs(random_graphs(12, 5, rich=False)))
        assert item.has_data == (name not in ATTRIBUTED)
        item.fit(references)
        assert item.has_data

    def test_similarities_lie_between_zero_and_one(self, name, references, queries):
        item = channel(name)
        item.fit(references)
        found = item.similarity(item.compare(item.encode(queries), item.references))
        assert ((found >= 0) & (found <= 1)).all()
        own = item.similarity(item.compare(item.encode(references[:1]), item.encode(references[:1])))
        assert own == pytest.approx(1, abs=1e-5)

    def test_unseen_labels_are_farther_not_an_error(self, name, references):
        item = channel(name)
        item.fit(references)
        graphs = references.graphs
        strange = replace(graphs, node_labels=graphs.node_labels + 1000)
        far = distances(item, ProfiledGraphs(strange, references.profile))
        assert np.isfinite(far).all()
        if name in {"patterns:labels", "patterns:lengths", "patterns:contrast", "composition"}:
            assert (far > distances(item, references)).all()


@pytest.mark.parametrize("name", ["patterns:labels", "patterns:shape"])  # others learn scales from every reference
def test_leave_one_out_is_the_distance_to_the_others(name, references):
    item, rest = channel(name), channel(name)
    item.fit(references)
    rest.fit(references[np.arange(1, len(references))])
    rest.reference_scales = item.reference_scales[1:]
    assert distances(rest, references[[0]]) == pytest.approx(item.left_out[:1])


@pytest.mark.parametrize("name", NAMES)
def test_ruling_references_out_changes_no_bit(name, queries):
    """Against comparing every pair, with twins among the references and queries near and far."""
    graphs = random_graphs(150, 0)
    twice = graphs[np.concatenate([np.arange(150), np.arange(150)])]
    item = channel(name)
    item.fit(measure_graphs(replace(twice, ids=tuple(str(i) for i in range(300)))))
    for some in (measure_graphs(graphs[:20]), measure_graphs(random_graphs(100, 2)), queries):
        rows, compared = item.encode(some), []
        every = item.distances(rows, lambda first, block: compared.append(len(block)))  # noqa: B023
        assert sum(compared) == len(some)
        assert np.array_equal(item.distances(rows), every)
    item.fit(measure_graphs(graphs[:60]))  # nothing of the former references is left
    rows = item.encode(queries)
    assert np.array_equal(item.distances(rows), item.distances(rows, lambda first, block: None))


def test_pattern_and_geometry_channels_ignore_how_coordinates_lie(references, queries):
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]

    def moved(part: ProfiledGraphs) -> ProfiledGraphs:
        attributes = (part.graphs.attributes @ turn + 5).astype(np.float32)
        return replace(part, graphs=replace(part.graphs, attributes=attributes))

    for name in INVARIANT:
        item, other = channel(name), channel(name)
        item.fit(references)
        other.fit(moved(references))
        assert np.allclose(distances(item, queries), distances(other, moved(queries)), atol=1e-3)


def test_weights_sum_to_one_over_channels_with_data():
    channels = default_channels()
    graphs = random_graphs(12, 5, rich=False)
    for item in channels:
        item.fit(measure_graphs(graphs))
    weights = default_weights(channels, GraphSchema.of(graphs))
    assert sum(weights.values()) == pytest.approx(1)
    assert not ATTRIBUTED & set(weights)
    ratio = (weights["patterns:labels"] + weights["patterns:shape"]) / weights["size"]
    assert ratio == pytest.approx(FAMILY_WEIGHTS["patterns"] / FAMILY_WEIGHTS["size"])


def test_dense_graphs_score_high_among_sparse_references(references):
    detector = GraphGlass().fit(references.graphs)
    normal = detector.decision_function(random_graphs(20, 9))
    dense = detector.decision_function(random_graphs(20, 9, density=0.9))
    assert np.median(dense) > np.quantile(normal, 0.9)
