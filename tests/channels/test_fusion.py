"""Fusion: centred, scaled, weighted distances whose contributions sum to the score."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from graphglass.channels.fusion import Fusion, fit_fusion

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


def test_past_the_farthest_reference_a_channel_counts_in_full():
    left_out = dict.fromkeys(("open", "closed"), np.tile([1.0, 2.0, 3.0], 11))
    fusion = fit_fusion(left_out, weights={"open": 1.0, "closed": 1.0}, bounded=True, open_ended=["open"])
    scale = fusion.scales["open"]
    assert fusion.farthest == {"open": pytest.approx(1 / scale)}
    found = fusion.contributions({"open": np.array([2.5, 103.0]), "closed": np.array([2.5, 103.0])})
    assert found["open"][0] == found["closed"][0]
    assert found["open"][1] - found["closed"][1] == pytest.approx(100 / scale)
    assert Fusion.from_json(fusion.to_json()) == fusion


def test_a_left_out_reference_is_measured_from_the_others():
    left_out = {"near": np.array([*[1.0, 2.0] * 20, 9.0])}
    fusion = fit_fusion(left_out, bounded=True, open_ended=["near"])
    found, plain = fusion.left_out_contributions(left_out)["near"], fusion.contributions(left_out)["near"]
    assert found[:40].tolist() == plain[:40].tolist()
    assert found[40] - plain[40] == pytest.approx(7 / fusion.scales["near"])


def test_the_farthest_of_a_handful_opens_nothing():
    assert fit_fusion({"near": np.arange(31.0)}, bounded=True, open_ended=["near"]).farthest == {}
    assert set(fit_fusion({"near": np.arange(32.0)}, bounded=True, open_ended=["near"]).farthest) == {"near"}


def test_references_alike_up_to_rounding_keep_their_unit():
    assert fit_fusion({"same": np.full(3, 0.1)}).scales["same"] == 1.0
