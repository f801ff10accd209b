"""Fusion: between the weighted mean and the maximum, with contributions that sum to the score."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphglass.channels.fusion import Fusion, fit_fusion

LEFT_OUT = {"near": np.array([1.0, 3.0]), "flat": np.array([2.0, 2.0])}
EQUAL = {"near": 0.5, "flat": 0.5}
distances = st.floats(0, 1e6)


def test_without_sharpness_distances_are_measured_in_leave_one_out_deviations():
    fusion = fit_fusion(LEFT_OUT, EQUAL)
    found = fusion.contributions({"near": np.array([2.0, 5.0]), "flat": np.array([2.0, 2.5])})
    assert found["near"].tolist() == [0.0, 1.5]
    assert found["flat"].tolist() == [0.0, 0.25]  # a channel without spread keeps its own unit


def test_the_score_is_the_log_mean_exponential():
    fusion = Fusion({"a": 0.25, "b": 0.75}, {"a": 1.0, "b": 2.0}, {"a": 0.5, "b": 4.0}, sharpness=0.7)
    a, b = np.arcsinh((3.0 - 1.0) / 0.5), np.arcsinh((1.0 - 2.0) / 4.0)
    expected = np.log(0.25 * np.exp(0.7 * a) + 0.75 * np.exp(0.7 * b)) / 0.7
    assert fusion.scores({"a": np.array([3.0]), "b": np.array([1.0])})[0] == pytest.approx(expected)


@given(distances, distances)
def test_contributions_sum_to_the_score(near, flat):
    for sharpness in (None, 0.7):
        fusion = fit_fusion(LEFT_OUT, EQUAL, sharpness)
        given_distances = {"near": np.array([near]), "flat": np.array([flat])}
        total = sum(fusion.contributions(given_distances).values())
        assert total == pytest.approx(fusion.scores(given_distances), rel=1e-9, abs=1e-12)


def test_one_extreme_channel_counts_more_than_in_the_mean_and_less_than_alone():
    left_out = {name: np.tile([1.0, 2.0, 3.0], 20) for name in "abcd"}
    weights = dict.fromkeys("abcd", 0.25)
    one = {name: np.array([40.0 if name == "a" else 2.0]) for name in "abcd"}
    sharp, alone = fit_fusion(left_out, weights, 0.7), fit_fusion({"a": left_out["a"]}, {"a": 1.0}, 0.7)
    extreme = float(alone.scores(one)[0])
    assert extreme / 4 < float(sharp.scores(one)[0]) < extreme


def test_a_score_rises_with_every_distance():
    fusion = fit_fusion(LEFT_OUT, EQUAL, 0.7)
    line = np.linspace(0, 50, 100)
    for name in EQUAL:
        moving = {other: line if other == name else np.full(100, 2.0) for other in EQUAL}
        assert (np.diff(fusion.scores(moving)) > 0).all()


@pytest.mark.parametrize("copies", [1, 10, 1000])
def test_few_references_widen_the_deviation_and_many_leave_it_alone(copies):
    values = np.tile([1.0, 3.0], copies)  # mean 2, deviation 1
    scale = fit_fusion({"near": values}, {"near": 1.0}, 0.7).scales["near"]
    assert scale == pytest.approx((1 + (2.4 * 2 / (2 * copies)) ** 2) ** 0.5)


def test_a_row_has_the_same_bits_alone_and_among_others():
    random = np.random.default_rng(0)
    left_out = {str(i): random.gamma(2.0, size=30) for i in range(9)}
    fusion = fit_fusion(left_out, dict.fromkeys(left_out, 1 / 9), 0.7)
    rows = {name: random.gamma(2.0, size=50) for name in left_out}
    whole = fusion.scores(rows)
    for place in range(50):
        assert fusion.scores({name: row[place : place + 1] for name, row in rows.items()})[0] == whole[place]


def test_json_keeps_every_part():
    fusion = fit_fusion(LEFT_OUT, EQUAL, 0.7)
    assert Fusion.from_json(fusion.to_json()) == fusion
