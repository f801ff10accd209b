"""Metrics against their definitions and by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glassbench.metrics import average_ranks, evaluate, summary
from graphglass.errors import BenchError


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 60), st.booleans())
def test_equal_their_definitions(seed: int, size: int, tied: bool) -> None:
    rng = np.random.default_rng(seed)
    truth = np.zeros(size, bool)
    truth[: rng.integers(1, size)] = True
    rng.shuffle(truth)
    scores = rng.integers(0, 5, size).astype(float) if tied else rng.normal(size=size)
    found = evaluate(scores, truth)
    odd, normal = scores[truth][:, None], scores[~truth][None, :]
    assert found["auroc"] == pytest.approx(100 * ((odd > normal) + 0.5 * (odd == normal)).mean())
    recall, precision, false_rate = [0.0], [], []
    for threshold in sorted(set(scores), reverse=True):
        flagged = scores >= threshold
        recall.append(flagged[truth].mean())
        precision.append(truth[flagged].mean())
        false_rate.append(flagged[~truth].mean())
    assert found["auprc"] == pytest.approx(100 * float(np.diff(recall) @ np.array(precision)))
    first = next(i for i, value in enumerate(recall[1:]) if value >= 0.95 - 1e-12)
    assert found["fpr95"] == pytest.approx(100 * false_rate[first])


def test_by_hand() -> None:
    found = evaluate([4.0, 3.0, 2.0, 1.0], [True, False, True, False])
    assert found == {"auroc": 75.0, "auprc": pytest.approx(100 * (1.0 + 2 / 3) / 2), "fpr95": 50.0}
    assert evaluate([1.0, 1.0], [True, False])["auroc"] == 50.0


def test_the_direction_is_higher_is_more_anomalous() -> None:
    assert evaluate([9.0, 1.0], [True, False])["auroc"] == 100.0
    assert evaluate([1.0, 9.0], [True, False])["auroc"] == 0.0


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
