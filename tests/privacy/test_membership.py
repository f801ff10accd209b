"""Membership inference against a release: whether one graph was among the references."""

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import beta

from graphglass.glass.joint_features import JointFeatures
from graphglass.graphs.canonical import canonical_graph_set
from graphglass.privacy.release.mechanism import Mechanism, discrete_gaussian
from graphglass.privacy.release.publish import GraphFeatures, exact_sum
from graphglass.privacy.release.records import read_records

pytest.importorskip("opendp")
EPSILON, DELTA, RELEASES, CONFIDENCE = 1.0, 1e-5, 5000, 1e-4


@pytest.fixture(scope="module")
def worlds():
    """The exact sums of two collections that differ in one graph, by a real encoder.

    The replaced graph is the worst of many: of all candidates, the pair whose features lie farthest apart.
    """
    from graphglass import GLASS, load_dataset

    molecules = load_dataset("MUTAG").without_labels()
    model = GLASS(encoder="numeric", epochs=1, slices=(16, 32)).fit(molecules[:60].structure_only())
    candidates = _candidates()
    features = JointFeatures((("graph:16", 16), ("text:16", 16)), 2, 256.0)
    rows = features(model.channel_embeddings(candidates))
    left, right = np.unravel_index(np.argmin(rows @ rows.T), (len(rows), len(rows)))
    mechanism = Mechanism(EPSILON, DELTA, features.dimension)
    features_of = GraphFeatures(features, model)
    base = exact_sum(features_of, read_records(molecules[60:67].structure_only()))
    sums = [base + exact_sum(features_of, read_records(candidates[int(i)])) for i in (left, right)]
    return mechanism, sums


def _candidates():
    """Rings, stars and paths of 4 to 23 nodes."""
    counts, sources, targets, first = [], [], [], 0
    for n in range(4, 24):
        ring = np.arange(n)
        for edges in ((ring, (ring + 1) % n), (np.zeros(n - 1, int), ring[1:]), (ring[:-1], ring[1:])):
            counts.append(n)
            sources.append(first + edges[0])
            targets.append(first + edges[1])
            first += n
    return canonical_graph_set(np.array(counts), np.concatenate(sources), np.concatenate(targets))


def attack(mechanism, sums, factor=1.0):
    """True and false alarms of the likelihood-ratio test, which no test beats, over many releases of both worlds."""
    difference = (sums[0] - sums[1]).astype(float)
    middle = difference @ (sums[0] + sums[1]).astype(float) / 2
    alarms = []
    for exact in sums:
        noise = np.zeros((RELEASES, mechanism.dimension))
        if factor:
            scale = max(1, round(mechanism.scale * factor))
            noise = discrete_gaussian(scale, noise.size).reshape(noise.shape)
        alarms.append(int(((exact + noise) @ difference > middle).sum()))
    return alarms


def interval(count):
    """Exact binomial bounds on a probability."""
    low = 0.0 if count == 0 else float(beta.ppf(CONFIDENCE, count, RELEASES - count + 1))
    high = 1.0 if count == RELEASES else float(beta.ppf(1 - CONFIDENCE, count + 1, RELEASES - count))
    return low, high


def proven_advantage(alarms):
    """What true minus false alarms exceed with confidence."""
    return interval(alarms[0])[0] - interval(alarms[1])[1]


def allowed_advantage():
    """The largest true minus false alarms that (epsilon, delta) leaves to anyone."""
    return (np.exp(EPSILON) - 1 + 2 * DELTA) / (np.exp(EPSILON) + 1)


def test_the_attack_stays_below_the_promise(worlds):
    mechanism, sums = worlds
    alarms = attack(mechanism, sums)
    low, high = interval(alarms[0])[0], interval(alarms[1])[1]
    assert low <= np.exp(EPSILON) * high + DELTA
    assert proven_advantage(alarms) <= allowed_advantage()
    # The Gaussian promise is sharper: no advantage above 2 Phi(mu / 2) - 1.
    assert proven_advantage(alarms) <= 2 * ndtr(float(mechanism.mu_squared) ** 0.5 / 2) - 1


def test_the_attack_is_strong_enough_to_tell(worlds):
    """Without noise it is always right, and with too little noise it breaks the promise."""
    mechanism, sums = worlds
    assert np.linalg.norm((sums[0] - sums[1]) / 2.0**30) > 1.0  # the worst pair is a serious one
    assert attack(mechanism, sums, factor=0.0) == [RELEASES, 0]
    assert proven_advantage(attack(mechanism, sums, factor=0.125)) > allowed_advantage()
    assert proven_advantage(attack(mechanism, sums, factor=0.25)) > 2 * ndtr(float(mechanism.mu_squared) ** 0.5 / 2) - 1
