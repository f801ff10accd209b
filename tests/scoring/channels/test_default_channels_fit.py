"""Every training-free channel: what must hold for any graphs, references and order of nodes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from graphglass.channels.default_channels import FAMILY_WEIGHTS, default_weights, training_free_channels
from graphglass.channels.fusion import Fusion, fit_fusion
from graphglass.channels.profiled_graphs import ProfiledGraphs
from graphglass.graphs.canonical import canonical_graph_set
from graphglass.graphs.graph_set import GraphSet
from graphglass.structure.profile import profile

NAMES = [channel.name for channel in training_free_channels()]
INVARIANT = {"pattern:lengths", "pattern:contrast", "geometry"}
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


def evidence(graphs: GraphSet) -> ProfiledGraphs:
    return ProfiledGraphs(graphs, profile(graphs), {})


def channel(name: str):
    return next(item for item in training_free_channels() if item.name == name)


@pytest.fixture(scope="module")
def references() -> ProfiledGraphs:
    return evidence(random_graphs(40, 0))


@pytest.fixture(scope="module")
def queries() -> ProfiledGraphs:
    return evidence(random_graphs(15, 1, density=0.5))


@pytest.mark.parametrize("name", NAMES)
class TestEveryChannel:
    def test_a_batch_is_scored_as_its_graphs_one_by_one(self, name, references, queries):
        item = channel(name)
        item.fit(references)
        together, indices = item.distances(queries)
        alone = [item.distances(queries[[i]]) for i in range(len(queries))]
        assert np.array_equal(together, np.concatenate([distance for distance, _ in alone]))
        assert np.array_equal(indices, np.concatenate([chosen for _, chosen in alone]))
        assert indices.shape == (15, item.k)

    def test_renumbered_nodes_change_nothing(self, name, references, queries):
        item = channel(name)
        item.fit(references)
        renumbered = evidence(renumber(queries.graphs, 3))
        assert np.allclose(item.distances(renumbered)[0], item.distances(queries)[0], atol=1e-9)

    def test_state_restores_to_the_same_distances(self, name, references, queries):
        item, again = channel(name), channel(name)
        item.fit(references)
        state = item.state()
        assert all(isinstance(value, np.ndarray) and value.dtype != object for value in state.values())
        again.restore({key: value.copy() for key, value in state.items()})
        assert np.array_equal(again.distances(queries)[0], item.distances(queries)[0])
        assert np.array_equal(again.leave_one_out(), item.leave_one_out())
        assert again.silent == item.silent

    def test_one_reference_and_fewer_than_k(self, name, references, queries):
        for count in (1, 2):
            item = channel(name)
            item.fit(references[:count])
            distances, indices = item.distances(queries)
            assert np.isfinite(distances).all()
            assert indices.shape == (15, min(item.k, count))
            assert item.leave_one_out().shape == (count,)
            assert np.isfinite(item.leave_one_out()).all()

    def test_a_reference_is_at_distance_zero_from_its_own_copies(self, name, references):
        item = channel(name)
        item.fit(references[np.repeat(np.arange(10), 4)])
        assert np.allclose(item.distances(references[:10])[0], 0, atol=1e-6)

    def test_silent_exactly_without_attributes(self, name, references):
        item = channel(name)
        item.fit(evidence(random_graphs(12, 5, rich=False)))
        assert item.silent == (name in ATTRIBUTED)
        item.fit(references)
        assert not item.silent

    def test_unseen_labels_are_farther_not_an_error(self, name, references):
        item = channel(name)
        item.fit(references)
        graphs = references.graphs
        strange = replace(graphs, node_labels=graphs.node_labels + 1000)
        far = item.distances(ProfiledGraphs(strange, references.profile, {}))[0]
        near = item.distances(references)[0]
        assert np.isfinite(far).all()
        if name in {"pattern:labels", "pattern:lengths", "pattern:contrast"}:
            assert (far > near).all()


@pytest.mark.parametrize("name", ["pattern:labels", "pattern:shape"])  # others learn scales from every reference
def test_leave_one_out_is_the_distance_to_the_others(name, references):
    item, rest = channel(name), channel(name)
    item.fit(references)
    rest.fit(references[np.arange(1, len(references))])
    rest.k, rest._units = item.k, item._units[1:]
    assert rest.distances(references[[0]])[0] == pytest.approx(item.leave_one_out()[:1])


def renumber(graphs: GraphSet, seed: int) -> GraphSet:
    generator = np.random.default_rng(seed)
    order = np.concatenate(
        [
            generator.permutation(np.arange(a, b))
            for a, b in zip(graphs.node_offsets[:-1], graphs.node_offsets[1:], strict=True)
        ]
    )  # new row -> old row
    place = np.argsort(order)
    sources = np.repeat(np.arange(graphs.node_count), np.diff(graphs.neighbour_offsets))
    return canonical_graph_set(
        graphs.sizes, place[sources], place[graphs.global_neighbours], node_labels=graphs.node_labels[order],
        attributes=graphs.attributes[order], edge_labels=graphs.edge_labels,
    )  # fmt: skip


def test_pattern_and_geometry_channels_ignore_how_coordinates_lie(references, queries):
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]

    def moved(part: ProfiledGraphs) -> ProfiledGraphs:
        attributes = (part.graphs.attributes @ turn + 5).astype(np.float32)
        return replace(part, graphs=replace(part.graphs, attributes=attributes))

    for name in INVARIANT:
        item, other = channel(name), channel(name)
        item.fit(references)
        other.fit(moved(references))
        assert np.allclose(item.distances(queries)[0], other.distances(moved(queries))[0], atol=1e-3)


def test_weights_sum_to_one_and_silent_channels_weigh_nothing(references):
    channels = training_free_channels()
    for item in channels:
        item.fit(evidence(random_graphs(12, 5, rich=False)))
    weights = default_weights(channels)
    assert sum(weights.values()) == pytest.approx(1)
    assert all(weights[name] == 0 for name in ATTRIBUTED)
    ratio = (weights["pattern:labels"] + weights["pattern:shape"]) / weights["size"]
    assert ratio == pytest.approx(FAMILY_WEIGHTS["pattern"] / FAMILY_WEIGHTS["size"])


def test_dense_graphs_stand_out_among_sparse_references(references):
    channels = training_free_channels()
    for item in channels:
        item.fit(references)
    left_out = {item.name: item.leave_one_out() for item in channels}
    fusion = fit_fusion(left_out, weights=default_weights(channels), bounded=True)

    def scores(part: ProfiledGraphs) -> np.ndarray:
        found = fusion.contributions({item.name: item.distances(part)[0] for item in channels})
        return np.sum(list(found.values()), axis=0)

    normal, dense = scores(evidence(random_graphs(20, 9))), scores(evidence(random_graphs(20, 9, density=0.9)))
    assert np.median(dense) > np.quantile(normal, 0.9)
    assert Fusion.from_json(fusion.to_json()) == fusion
