"""Normal scores with tails, whitening and row-by-row distances."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import ndtri

from graphglass.channels.tables import scaling
from graphglass.channels.tables.scaling import (
    ABREAST,
    TAIL,
    NormalScores,
    Standardised,
    Whitening,
    left_out_squares,
    squared_distances,
    unit_rows,
)


@pytest.fixture
def table():
    return np.random.default_rng(0).gamma(2.0, size=(400, 3))


def test_scores_of_the_references_are_normal(table):
    scores = NormalScores(table)(table)
    assert np.allclose(scores.mean(axis=0), 0, atol=0.02)
    assert np.allclose(scores.std(axis=0), 1, atol=0.05)


def test_scores_keep_order_and_go_on_past_the_last_reference(table):
    scale = NormalScores(table)
    line = np.linspace(-3, 40, 500)[:, None].repeat(3, axis=1)
    steps = np.diff(scale(line), axis=0)
    assert (steps >= 0).all()
    highest = table.max(axis=0)
    assert (scale((highest + 1)[None]) > scale(highest[None])).all()
    far, farther = scale(np.full((1, 3), 1e6)), scale(np.full((1, 3), 1e9))
    assert np.array_equal(far, farther)
    assert np.allclose(far - scale(highest[None]), TAIL, atol=0.4)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 70), st.integers(0, 3 * ABREAST), st.integers(0, 2**20))
def test_scores_equal_ranks_found_by_counting(references, rows, seed):
    rng = np.random.default_rng(seed)
    known = rng.integers(0, 9, (references, 2)).astype(np.float32)
    queries = rng.integers(-2, 12, (rows, 2)).astype(np.float32)
    scale = NormalScores(known)
    below, upto = ((compare(known, queries[:, None])).sum(axis=1) for compare in (np.less, np.less_equal))
    edge = 0.5 / (references + 1)
    ranks = ndtri(np.clip(((below + upto) / 2 + 0.5) / (references + 1), edge, 1 - edge))
    past = np.maximum(queries - known.max(axis=0), 0) - np.maximum(known.min(axis=0) - queries, 0)
    np.testing.assert_allclose(scale(queries), ranks + np.clip(past / scale._scale, -TAIL, TAIL), atol=1e-5)


def test_a_constant_column_still_tells_another_value(table):
    table[:, 0] = 4.0
    scale = NormalScores(table)
    same, other = scale(table[:1]), scale(table[:1] + np.array([[0.5, 0, 0]]))
    assert other[0, 0] > same[0, 0] + 1


def test_whitening_equalises_correlated_columns(table):
    table[:, 2] = table[:, 0] * 5 + 0.3 * table[:, 2]
    rows = Whitening(table.astype(np.float32))(table.astype(np.float32))
    variances = np.linalg.eigvalsh(np.cov(rows.T))
    before = np.linalg.eigvalsh(np.cov(table.T))
    assert variances.max() / variances.min() < before.max() / before.min() / 10
    assert np.allclose(rows.mean(axis=0), 0, atol=1e-6)


@pytest.mark.parametrize(("count", "columns"), [(60, 8), (8, 8), (9, 60), (2, 5), (1, 4)])
def test_whitening_divides_by_the_root_of_the_shrunk_covariance(count, columns):
    random = np.random.default_rng(count)
    known, new = (random.normal(size=(n, columns)).astype(np.float32) * 3 for n in (count, 7))
    covariance = np.cov(known.T.astype(float)) if count > 1 else np.zeros((columns, columns))
    share = max(0.1, columns / (columns + count))
    level = max(np.trace(covariance) / columns, 1e-9)
    precision = np.linalg.inv((1 - share) * covariance + share * level * np.eye(columns))
    offsets = new - known.mean(axis=0, dtype=float)
    assert np.allclose(
        (Whitening(known)(new) ** 2).sum(axis=1), ((offsets @ precision) * offsets).sum(axis=1), rtol=1e-4
    )


def test_distances_are_euclidean_and_equal_rows_are_at_zero(table):
    table = table.astype(np.float32)
    found = squared_distances(table[:20], table)
    assert np.allclose(found, ((table[:20, None] - table[None]) ** 2).sum(axis=2), rtol=1e-5)
    assert (np.diag(found) == 0).all()


def test_unit_rows_leave_zero_alone():
    assert unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]])) == pytest.approx(np.array([[0.6, 0.8], [0.0, 0.0]]))


def test_standardised_columns_have_room_and_a_bound(table):
    table[:, 0] = 4.0
    scale = Standardised(table, np.array([0.1, 0.0, 0.0]))
    rows = scale(table)
    assert (rows[:, 0] == 0).all()
    assert np.allclose(rows[:, 1:].std(axis=0), 1, atol=1e-5)
    assert scale(table[:1] + np.array([[0.05, 0, 0]]))[0, 0] == pytest.approx(0.5)
    assert scale(table[:1] + np.array([[1e9, 0, 0]]))[0, 0] == 10


def test_whitening_leaves_references_as_far_apart_as_new_rows():
    """With more columns than references, little shrinkage would place references farther apart than new rows."""
    random = np.random.default_rng(1)
    known, new = random.normal(size=(40, 200)).astype(np.float32), random.normal(size=(40, 200)).astype(np.float32)
    whitening = Whitening(known)
    rows, others = unit_rows(whitening(known)), unit_rows(whitening(new))
    among = squared_distances(rows, rows)[~np.eye(40, dtype=bool)].mean()
    assert squared_distances(others, rows).mean() > 0.9 * among


@pytest.mark.parametrize("shape", [(40, 6), (20, 30)])
def test_a_table_read_in_parts_gives_the_same_units(shape, monkeypatch):
    table = np.random.default_rng(4).normal(size=shape).astype(np.float32)
    kinds = (NormalScores, Whitening, lambda rows: Standardised(rows, np.zeros(rows.shape[1])))
    whole = [kind(table)(table) for kind in kinds]
    monkeypatch.setattr(scaling, "ROWS", 7)
    monkeypatch.setattr(scaling, "ENTRIES", 50)
    for kind, expected in zip(kinds, whole, strict=True):
        np.testing.assert_allclose(kind(table)(table), expected, rtol=1e-6, atol=1e-9)


def test_ranks_among_evenly_spaced_references_are_close_to_those_among_all(monkeypatch):
    table = np.random.default_rng(5).normal(size=(4000, 2)).astype(np.float32)
    whole = NormalScores(table)(table[:300])
    monkeypatch.setattr(scaling, "RANKED", 1000)
    found = NormalScores(table)(table[:300])
    assert np.abs(found - whole)[np.abs(whole) < 2].max() < 0.02


# Few distinct values, so that ties, columns without variation and lone extremes come up.
TABLES = st.tuples(st.integers(2, 9), st.integers(1, 4)).flatmap(
    lambda shape: arrays(np.float32, shape, elements=st.sampled_from([-40.0, 0.0, 0.25, 1.0, 3.0, 700.0]))
)


@given(TABLES)
@settings(max_examples=60, deadline=None)
def test_a_left_out_reference_has_the_normal_scores_of_a_new_graph(table):
    expected = [NormalScores(np.delete(table, i, axis=0))(table[[i]])[0] for i in range(len(table))]
    assert np.allclose(NormalScores(table).left_out(table), expected, atol=1e-5)


@given(TABLES, st.sampled_from([0.0, 0.1]))
@settings(max_examples=60, deadline=None)
def test_a_left_out_reference_is_standardised_by_the_others(table, least):
    scales = Standardised(table, np.full(table.shape[1], least))
    # Units without the reference, from those with it, where the bound does not cut them off.
    found = left_out_squares(scales(table), *scales.left_out(table), 0, len(table))
    for i in range(len(table)):
        own = Standardised(np.delete(table, i, axis=0), np.full(table.shape[1], least))
        assert np.allclose(found[i], squared_distances(own(table[[i]]), own(table))[0], rtol=1e-3, atol=1e-4)
