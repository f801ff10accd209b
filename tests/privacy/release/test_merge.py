"""Merging disjoint sites: the sum of what was released, and the law of its noise."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphglass.errors import ParameterError, PrivacyError
from graphglass.glass.joint_features import JointFeatures
from graphglass.privacy.private_summary import PrivateSummary, merge
from graphglass.privacy.release.mechanism import Mechanism
from graphglass.privacy.terms import PrivacyTerms

FEATURES = JointFeatures((("text:64", 64),), frequencies=4)


def site(name, n, *, epsilon=4.0, features=FEATURES, encoder="e", total=None, prior=None, rng=None):
    mechanism = Mechanism(epsilon, 1e-5, features.dimension)
    terms = PrivacyTerms(epsilon, 1e-5, mechanism.delta_slack, n, 1, mechanism.scale, 30, features.dimension,
                         f"release {name}", f"collection {name}", 2, "0" * 64)  # fmt: skip
    if total is None:
        rng = rng or np.random.default_rng(n)
        total = np.rint(rng.normal(0, mechanism.scale, features.dimension)).astype(np.int64)
    return PrivateSummary(total, features, (terms,), encoder, prior)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(1, 500), min_size=2, max_size=6))
def test_merge_is_the_size_weighted_mean_and_variances_add(sizes):
    parts = [site(i, n) for i, n in enumerate(sizes)]
    merged = merge(parts, disjoint=True)
    assert merged.references == sum(sizes)
    np.testing.assert_array_equal(merged.total, np.sum([part.total for part in parts], axis=0))
    weights = np.array(sizes) / sum(sizes)
    np.testing.assert_allclose(merged.mean, weights @ np.array([part.mean for part in parts]), rtol=1e-12)
    law = sum((w * part.sigma) ** 2 for w, part in zip(weights, parts, strict=True)) ** 0.5
    assert merged.sigma == pytest.approx(law)


@pytest.mark.parametrize("sites", [2, 4, 8])
def test_equal_sites_pay_the_square_root(sites):
    merged = merge([site(i, 128 // sites) for i in range(sites)], disjoint=True)
    assert merged.sigma == pytest.approx(sites**0.5 * site("central", 128).sigma)


def test_noise_of_merged_releases_has_the_stated_size():
    rng = np.random.default_rng(0)
    means = [merge([site(i, 16, rng=rng) for i in range(4)], disjoint=True) for _ in range(80)]
    assert np.std([summary.mean for summary in means]) == pytest.approx(means[0].sigma, rel=0.12)


def test_statement_names_every_site_and_the_declaration():
    merged = merge([site("a", 10, epsilon=1.0), site("b", 20)], disjoint=True)
    for text in ("2 releases", "disjoint", "Site 1", "Site 2", "(1, 1e-05)", "(4, 1e-05)", "n = 10", "n = 20"):
        assert text in merged.statement
    assert PrivateSummary.from_bytes(merged.to_bytes()).sites == merged.sites


def test_merging_is_associative():
    a, b, c = site("a", 3), site("b", 5), site("c", 7)
    left = merge([merge([a, b], disjoint=True), c], disjoint=True)
    np.testing.assert_array_equal(left.total, merge([a, b, c], disjoint=True).total)


def test_what_cannot_be_merged():
    a = site("a", 10)
    with pytest.raises(PrivacyError, match="compose"):
        merge([a, site("b", 10)], disjoint=False)
    with pytest.raises(ParameterError):
        merge([a], disjoint=True)
    with pytest.raises(PrivacyError, match="same release"):
        merge([a, a], disjoint=True)
    other = JointFeatures((("text:64", 64),), frequencies=4, seed=1)
    for stranger in (site("b", 10, features=other), site("b", 10, encoder="f")):
        with pytest.raises(PrivacyError, match="share encoder"):
            merge([a, stranger], disjoint=True)


def test_two_releases_about_one_dataset_are_not_disjoint(model, graphs, ledger):
    from graphglass.privacy.release.publish import release

    first, second = (release(graphs, model=model, ledger=ledger, dataset="clinic", epsilon=1.0) for _ in range(2))
    with pytest.raises(PrivacyError, match="same dataset"):
        merge([first, second], disjoint=True)


def test_prior_survives_only_if_shared():
    prior = np.full(FEATURES.dimension, 0.1)
    shared = merge([site("a", 1, prior=prior), site("b", 1, prior=prior)], disjoint=True)
    np.testing.assert_array_equal(shared.prior, prior)
    assert merge([site("a", 1, prior=prior), site("b", 1)], disjoint=True).prior is None
