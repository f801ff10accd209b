"""The benchmark simulator: repeatable, of the right size, and unable to pose as a release."""

import numpy as np
import pytest

from glassbench.private_series import simulate
from graphglass.errors import PrivacyError
from graphglass.privacy.noise_scale import gaussian_sigma

FEATURES = np.random.default_rng(0).standard_normal((50, 64)) / 8


def test_seeded_and_of_the_calibrated_size():
    one, again, other = (simulate(FEATURES, epsilon=4.0, seed=seed, draws=200) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.means, again.means)
    assert (one.means != other.means).any()
    assert one.sigma == gaussian_sigma(4.0, 1e-5, 50)
    assert np.std(one.means - FEATURES.mean(axis=0)) == pytest.approx(one.sigma, rel=0.03)


def test_sites_and_the_noiseless_control():
    assert simulate(FEATURES, epsilon=4.0, seed=0, sites=4).sigma == pytest.approx(2 * gaussian_sigma(4.0, 1e-5, 50))
    exact = simulate(FEATURES, epsilon=float("inf"), seed=0, draws=2)
    np.testing.assert_allclose(exact.scores(FEATURES[:3]), np.tile(-FEATURES[:3] @ FEATURES.mean(axis=0), (2, 1)))
    mixed = exact.with_prior(np.zeros(64), references=32)
    np.testing.assert_allclose(mixed.means, exact.means / 2)


def test_it_refuses_to_write_a_release(tmp_path):
    simulated = simulate(FEATURES, epsilon=4.0, seed=0)
    with pytest.raises(PrivacyError, match="protects nobody"):
        simulated.save(tmp_path / "summary")
    with pytest.raises(PrivacyError):
        simulated.to_bytes()
    assert not list(tmp_path.iterdir())
