"""Metrics against scikit-learn and by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score, roc_curve

from graphglass.bench.metrics import auprc, auroc, average_ranks, evaluate, fpr95, summary
from graphglass.errors import BenchError


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 60), st.booleans())
def test_equal_scikit_learn(seed: int, size: int, tied: bool) -> None:
    rng = np.random.default_rng(seed)
    truth = np.zeros(size, bool)
    truth[: rng.integers(1, size)] = True
    rng.shuffle(truth)
    scores = rng.integers(0, 5, size).astype(float) if tied else rng.normal(size=size)
    assert auroc(scores, truth) == pytest.approx(100 * roc_auc_score(truth, scores))
    assert auprc(scores, truth) == pytest.approx(100 * average_precision_score(truth, scores))
    false, true, _ = roc_curve(truth, scores, drop_intermediate=False)
    assert fpr95(scores, truth) == pytest.approx(100 * false[np.argmax(true >= 0.95 - 1e-12)])


def test_by_hand() -> None:
    scores, truth = [4.0, 3.0, 2.0, 1.0], [True, False, True, False]
    assert auroc(scores, truth) == 75.0
    assert auprc(scores, truth) == pytest.approx(100 * (1.0 + 2 / 3) / 2)
    assert fpr95(scores, truth) == 50.0
    assert auroc([1.0, 1.0], [True, False]) == 50.0
    assert set(evaluate(scores, truth)) == {"auroc", "auprc", "fpr95"}


def test_the_direction_is_higher_is_more_anomalous() -> None:
    assert auroc([9.0, 1.0], [True, False]) == 100.0
    assert auroc([1.0, 9.0], [True, False]) == 0.0


def test_sample_standard_deviation() -> None:
    assert summary([1.0, 3.0]) == (2.0, pytest.approx(math.sqrt(2.0)), 2)
    assert math.isnan(summary([1.0])[1])
    with pytest.raises(BenchError, match="at least one"):
        summary([])


def test_ranks_use_shared_columns_and_share_ties() -> None:
    table = {"a": {"x": 3.0, "y": 1.0}, "b": {"x": 2.0, "y": 1.0}, "c": {"x": 1.0, "y": 0.0, "z": 9.0}}
    assert average_ranks(table) == {"a": 1.25, "b": 1.75, "c": 3.0}


@pytest.mark.parametrize(
    ("scores", "truth", "match"),
    [
        ([1.0, np.nan], [True, False], "finite"),
        ([1.0, 2.0], [True, True], "one kind"),
        ([1.0], [True, False], "length"),
    ],
)
def test_bad_input(scores: list[float], truth: list[bool], match: str) -> None:
    with pytest.raises(BenchError, match=match):
        evaluate(scores, truth)
