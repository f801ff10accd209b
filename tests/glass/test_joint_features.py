"""The joint feature: one unit norm over all channels, and a digest that covers everything."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphglass.errors import ArtifactError, ParameterError
from graphglass.glass.joint_features import JointFeatures


def unit(seed, n, width):
    rows = np.random.default_rng(seed).standard_normal((n, width))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_main_configuration_has_1024_coordinates():
    assert JointFeatures().dimension == 1024


@settings(max_examples=25, deadline=None)
@given(
    widths=st.lists(st.integers(1, 20), min_size=1, max_size=4),
    frequencies=st.integers(1, 20),
    kappa=st.floats(0.1, 100),
    seed=st.integers(0, 1000),
)
def test_norm_is_one(widths, frequencies, kappa, seed):
    channels = tuple((f"c{i}", width) for i, width in enumerate(widths))
    features = JointFeatures(channels, frequencies, kappa, seed)
    rows = features({name: unit(seed + i, 5, width) for i, (name, width) in enumerate(channels)})
    assert rows.shape == (5, features.dimension)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1.0, rtol=1e-13)


def test_inner_product_is_the_mean_of_the_channel_kernels():
    channels, rows = (("a", 12), ("b", 30)), {"a": unit(0, 10, 12), "b": unit(1, 10, 30)}
    features = JointFeatures(channels, 8192, 3.0)(rows)
    kernels = [np.exp(3.0 * (rows[name] @ rows[name].T - 1)) for name in rows]
    np.testing.assert_allclose(features @ features.T, np.mean(kernels, axis=0), atol=0.03)


def test_digest_covers_every_setting():
    base = {"channels": (("a", 8), ("b", 8)), "frequencies": 4}
    variants = [
        JointFeatures(**base),
        JointFeatures(**{**base, "channels": (("b", 8), ("a", 8))}),
        JointFeatures(**{**base, "frequencies": 5}),
        JointFeatures(**base, kappa=5.0),
        JointFeatures(**base, seed=1),
    ]
    assert len({variant.digest() for variant in variants}) == len(variants)
    for variant in variants:
        assert JointFeatures.from_json(variant.to_json()).digest() == variant.digest()


@pytest.mark.parametrize(
    "settings_",
    [{"channels": ()}, {"channels": (("a", 4), ("a", 4))}, {"channels": (("a", 0),)}, {"frequencies": 0},
     {"kappa": 0.0}, {"kappa": float("nan")}, {"channels": (("a", 10**8),)},
     {"frequencies": 10**8}],
)  # fmt: skip
def test_impossible_settings_are_refused(settings_):
    with pytest.raises(ParameterError):
        JointFeatures(**settings_)


def test_the_digest_of_a_summary_of_the_first_release_stays_valid():
    assert JointFeatures().digest() == "472b701d7e6ca408b3aea40562cac3feff723d2bc1dec41be6ce02c9c7f7e381"


@pytest.mark.parametrize("change", [{"kappas": [64.0, 256.0]}, {"orthogonal": True}])
def test_kernels_of_the_first_release_alone_are_refused(change):
    with pytest.raises(ArtifactError, match=r"only release 0\.1\.0"):
        JointFeatures.from_json(JointFeatures().to_json() | change)
