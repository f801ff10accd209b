import math

import numpy as np
import pytest

from graphglass.glass.scoring_rules import domain_weights, fixed_weights, reliability_weights


def test_fixed_rule_by_hand():
    weights = fixed_weights([64, 128])
    assert weights["graph:64"] == pytest.approx(math.log(64) / (math.log(64) + math.log(128)) / 2)
    assert weights["graph:64"] == weights["text:64"]
    assert sum(weights.values()) == pytest.approx(1)


def test_hand_computed_case():
    """Three references in the plane, k = 1, one slice: every term of the rule written out."""
    turn = np.deg2rad
    graph = np.array([[np.cos(turn(a)), np.sin(turn(a))] for a in (0, 10, 40)])
    text = np.array([[np.cos(turn(a)), np.sin(turn(a))] for a in (5, 25, 45)])
    cos = lambda degrees: math.cos(turn(degrees))  # noqa: E731

    residual = np.array([1 - cos(5), 1 - cos(15), 1 - cos(5)])
    common = 0.5 * (residual.mean() + 0.25 * residual.std())

    def penalty(distances, inconsistency):
        a, b = np.array(distances), np.array(inconsistency)
        iqr = np.percentile(a, 75) - np.percentile(a, 25)
        return a.mean() + 0.5 * (a.std() + 0.5 * iqr) + b.mean() + 0.5 * b.std() + common

    # graph neighbours: 0->1, 1->0, 2->1; text neighbours: 0->1, 1->0 (a tie with 2, the lower index wins), 2->1
    graph_penalty = penalty([1 - cos(10), 1 - cos(10), 1 - cos(30)], [1 - cos(20), 1 - cos(20), 1 - cos(20)])
    text_penalty = penalty([1 - cos(20)] * 3, [1 - cos(10), 1 - cos(10), 1 - cos(30)])
    rho = np.log(2) / np.array([graph_penalty, text_penalty])
    rho = np.clip(rho, *np.percentile(rho, (10, 90)))
    weights = reliability_weights({"graph:2": graph, "text:2": text}, [2], k=1)
    assert weights["graph:2"] == pytest.approx(rho[0] / rho.sum(), rel=1e-9)
    assert weights["text:2"] == pytest.approx(rho[1] / rho.sum(), rel=1e-9)


def test_a_single_reference_is_defined():
    one = {"graph:4": np.eye(4, dtype=np.float32)[:1], "text:4": np.eye(4, dtype=np.float32)[:1]}
    assert sum(reliability_weights(one, [4], k=5).values()) == pytest.approx(1)


@pytest.mark.parametrize(("domain", "share"), [("mol", 0.85), ("protein", 0.5), ("social", 0.4), ("graph", 0.4)])
def test_the_share_of_a_domain_is_set_by_hand(domain, share):
    weights = domain_weights([64, 128], domain)
    assert sum(weights[f"graph:{size}"] for size in (64, 128)) == pytest.approx(share)
    assert sum(weights.values()) == pytest.approx(1)
    assert weights["text:128"] / weights["text:64"] == pytest.approx(7 / 6)
