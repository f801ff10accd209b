"""The public sketch: its inner products are the kernels, and its bits are those of the graph alone."""

import hashlib
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphglass
from graphglass import load_dataset, sketch
from graphglass.channels.patterns.initial_labels import LabelStart, ShapeStart
from graphglass.channels.patterns.wl import neighbourhood_keys
from graphglass.channels.profiled_graphs import ProfiledGraphs
from graphglass.channels.sketch import BLOCKS, SHARES, block_columns, sketch_digest
from graphglass.errors import ParameterError
from graphglass.graphs.canonical import canonical_graph_set
from graphglass.privacy.release.mechanism import to_grid
from graphglass.structure.profile import AGGREGATE_NAMES, profile

COUNT, DIMENSION = 40, 16_384


@pytest.fixture(scope="module")
def molecules():
    return load_dataset("MUTAG")[:COUNT]


def jaccard(graphs, start):
    """Weighted Jaccard similarity averaged over radii, from plain counters."""
    levels = neighbourhood_keys(graphs, *start.names(ProfiledGraphs(graphs, profile(graphs), {})))
    total = np.zeros((len(graphs), len(graphs)))
    for keys in levels:
        bags = [Counter(keys[a:b].tolist()) for a, b in zip(graphs.node_offsets, graphs.node_offsets[1:], strict=False)]
        for i, left in enumerate(bags):
            for j, right in enumerate(bags):
                total[i, j] += (left & right).total() / (left | right).total() / len(levels)
    return total


def gaussian(graphs, names, width):
    table = np.log1p(profile(graphs).aggregates[:, [AGGREGATE_NAMES.index(name) for name in names]])
    return np.exp(-width * ((table[:, None] - table[None]) ** 2).sum(axis=-1))


@pytest.mark.parametrize("power", [1, 2, 5])
def test_inner_products_are_the_kernels_within_sampling_error(molecules, power):
    rows = sketch(molecules, dimension=DIMENSION, sharpness=power)
    kernels = {
        "labels": jaccard(molecules, LabelStart()) ** power,
        "shape": jaccard(molecules, ShapeStart()) ** power,
        "size": gaussian(molecules, ("nodes", "edges"), 1.0),
        "structure": gaussian(molecules, AGGREGATE_NAMES, 0.1),
    }
    for block, columns in block_columns(DIMENSION).items():
        error = rows[:, columns] @ rows[:, columns].T / SHARES[block] - kernels[block]
        # A block has DIMENSION / 4 coordinates, two of which share a hash; its kernel is at most one.
        assert np.abs(error).max() < 6 * np.sqrt(2 / (DIMENSION / 4)), block
        assert np.std(error) < 1.3 / np.sqrt(DIMENSION / 4), block
    whole = sum(SHARES[block] * kernels[block] for block in BLOCKS)
    assert np.std(rows @ rows.T - whole) < 1.1 / np.sqrt(DIMENSION)


def test_the_error_shrinks_with_the_dimension(molecules):
    exact = jaccard(molecules, LabelStart())
    errors = []
    for dimension in (1024, 65_536):
        rows = sketch(molecules, dimension=dimension)[:, block_columns(dimension)["labels"]]
        errors.append(np.std(rows @ rows.T / SHARES["labels"] - exact))
    assert errors[1] < errors[0] / 5  # the square root of 64 is 8


def test_a_prefix_is_the_coarser_sketch(molecules):
    fine, coarse = sketch(molecules, dimension=2048, sharpness=3), sketch(molecules, dimension=256, sharpness=3)
    prefix = fine[:, :256] / np.linalg.norm(fine[:, :256], axis=1, keepdims=True)
    np.testing.assert_allclose(prefix, coarse, rtol=1e-7, atol=1e-12)
    columns = np.concatenate([block_columns(256)[block] for block in ("labels", "shape")])
    np.testing.assert_array_equal(np.sign(fine[:, columns]), np.sign(coarse[:, columns]))


def test_bits_are_the_same_in_every_batch(molecules):
    together = sketch(molecules, dimension=512)
    for i in (0, 17, COUNT - 1):
        np.testing.assert_array_equal(sketch(molecules[i], dimension=512)[0], together[i])
    np.testing.assert_array_equal(sketch(molecules[::-1], dimension=512), together[::-1])
    np.testing.assert_array_equal(sketch(molecules, dimension=512, structure=profile(molecules)), together)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 25).flatmap(lambda n: st.tuples(st.permutations(range(n)), st.integers(0, 10**6))))
def test_bits_are_the_same_in_every_node_order(drawn):
    order, seed = np.array(drawn[0]), drawn[1]
    n = len(order)
    ends = np.random.default_rng(seed).integers(0, n, (2, 2 * n))
    ends = ends[:, ends[0] != ends[1]]
    labels = np.arange(n) % 4
    graph = replace(canonical_graph_set(np.array([n]), *ends), node_labels=labels)
    moved = replace(canonical_graph_set(np.array([n]), *order[ends]), node_labels=labels[np.argsort(order)])
    np.testing.assert_array_equal(sketch(graph, dimension=256, sharpness=2), sketch(moved, dimension=256, sharpness=2))


def test_bits_are_those_of_version_1(molecules):
    """On every machine: the digest of the constants and of forty sketches. A change of either is a new version."""
    assert sketch_digest(4096, 2) == "e0ac2d56c637e9a36aa116878fff5fb780fef681501b4c5a43764a15b0b4330b"
    rows = sketch(molecules, dimension=1024, sharpness=2)
    assert (
        hashlib.sha256(rows.astype("<f8").tobytes()).hexdigest()
        == "129e11fdde42a7c77fc0a8f0e79cee15425c77a9e1c12e1677769703de445533"
    )


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 60), st.integers(0, 10**6), st.sampled_from([8, 72, 256, 1024, 4096]), st.integers(1, 6))
def test_no_row_is_longer_than_one(n, seed, dimension, power):
    """In exact integers, as a release counts; a row that were longer would be dropped to zero."""
    ends = np.random.default_rng(seed).integers(0, n, (2, 3 * n))
    graph = canonical_graph_set(np.array([n]), *ends[:, ends[0] != ends[1]])
    grid = to_grid(sketch(graph, dimension=dimension, sharpness=power))
    assert 0.999 * 2**60 < sum(int(value) ** 2 for value in grid[0]) <= 2**60


def test_single_precision_and_settings(molecules):
    double, single = (sketch(molecules[:5], dimension=64, dtype=dtype) for dtype in (np.float64, np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, double, rtol=1e-6, atol=1e-7)
    assert len({sketch_digest(dimension, power) for dimension in (64, 128) for power in (1, 2)}) == 4
    for bad in ({"dimension": 12}, {"dimension": 0}, {"dimension": 2**20}, {"sharpness": 0}, {"sharpness": 65}):
        with pytest.raises(ParameterError):
            sketch(molecules[:1], **bad)
    assert sketch(molecules[:0]).shape == (0, 4096)
    assert "sketch" in graphglass.__all__
