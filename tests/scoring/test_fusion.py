"""Fusion: centred, scaled, weighted distances whose contributions sum to the score."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from graphglass.scoring.fusion import Fusion, fit_fusion

LEFT_OUT = {"near": np.array([1.0, 3.0]), "flat": np.array([2.0, 2.0])}


def test_distances_are_measured_in_leave_one_out_deviations():
    fusion = fit_fusion(LEFT_OUT)
    found = fusion.contributions({"near": np.array([2.0, 5.0]), "flat": np.array([2.0, 2.5])})
    assert found["near"].tolist() == [0.0, 1.5]
    assert found["flat"].tolist() == [0.0, 0.25]  # a channel without spread keeps its own unit


def test_bounded_is_the_same_near_the_references_and_logarithmic_far_away():
    plain = fit_fusion(LEFT_OUT, weights={"near": 1.0, "flat": 0.0})
    bounded = replace(plain, bounded=True)
    distances = {"near": np.array([2.001, 2002.0]), "flat": np.zeros(2)}
    one, other = plain.contributions(distances)["near"], bounded.contributions(distances)["near"]
    assert other[0] == pytest.approx(one[0], rel=1e-5)
    assert other[1] == pytest.approx(np.log(2 * one[1]), rel=1e-6)


@pytest.mark.parametrize("copies", [1, 10, 1000])
def test_few_references_widen_the_deviation_and_many_leave_it_alone(copies):
    values = np.tile([1.0, 3.0], copies)  # mean 2, deviation 1
    scale = fit_fusion({"near": values}, bounded=True).scales["near"]
    assert scale == pytest.approx((1 + (2.4 * 2 / (2 * copies)) ** 2) ** 0.5)


def test_json_keeps_every_part_and_reads_what_was_written_without_a_bound():
    fusion = fit_fusion(LEFT_OUT, bounded=True)
    assert Fusion.from_json(fusion.to_json()) == fusion
    older = {key: value for key, value in fusion.to_json().items() if key != "bounded"}
    assert not Fusion.from_json(older).bounded
