import numpy as np
import pytest

from graphglass.errors import ParameterError
from graphglass.serve.drift import DriftMartingale, changed_families, drift_curve


def _first_alarm(scores, **options):
    martingale = DriftMartingale(**options)
    return next((place for place, score in enumerate(scores) if martingale.take(score)), None)


@pytest.mark.parametrize("law", ["normal", "heavy", "few values"])
def test_exchangeable_scores_seldom_alarm(law):
    """Ville: at threshold 20, at most one stream in 20 ever alarms; 60 streams give 3 on average at the worst."""
    alarms = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        laws = {"normal": rng.normal, "heavy": rng.standard_cauchy, "few values": rng.random}
        scores = laws[law](size=250)
        scores = np.floor(4 * scores) if law == "few values" else scores
        alarms += _first_alarm(scores, threshold=20, seed=seed) is not None
    assert alarms <= 7  # more has a chance below 1 in 100 even if the bound were met exactly


def test_wealth_is_a_martingale():
    """The mean of the wealth after a few uniform p-values is 1."""
    rng = np.random.default_rng(0)
    wealths = []
    for _ in range(1500):
        martingale = DriftMartingale()
        for p in rng.uniform(size=3):
            martingale.bet(float(p))
        wealths.append(martingale.wealth)
    assert np.mean(wealths) == pytest.approx(1, abs=4 * np.std(wealths) / np.sqrt(len(wealths)))


@pytest.mark.parametrize("shift", [1.5, -1.5])
@pytest.mark.parametrize("start", [100, 600])
def test_a_shift_is_found(shift, start):
    rng = np.random.default_rng(3)
    scores = np.concatenate([rng.normal(size=start), rng.normal(shift, size=300)])
    found = _first_alarm(scores)
    assert found is not None
    assert start <= found < start + 120


def test_a_stream_unlike_the_past_is_found_and_one_like_it_is_not():
    rng = np.random.default_rng(4)
    past = rng.normal(size=200)
    assert _first_alarm(rng.normal(2, size=100), past=past) < 60
    assert _first_alarm(rng.normal(2, size=100)) is None
    assert _first_alarm(rng.normal(size=300), past=past) is None


def test_it_starts_anew_after_an_alarm():
    martingale = DriftMartingale()
    rng = np.random.default_rng(5)
    places = [0.0, 4.0, 0.0]
    found = [martingale.take(score) for place in places for score in rng.normal(place, size=200)]
    assert martingale.alarms == sum(alarm is not None for alarm in found) == 2
    assert martingale.seen < 200


def test_threshold():
    with pytest.raises(ParameterError, match="threshold"):
        DriftMartingale(1.0)


def test_the_curve_finds_the_alarm_and_the_beginning_of_the_change():
    rng = np.random.default_rng(4)
    scores = np.concatenate([rng.normal(size=80), rng.normal(3, 1, 40)])
    evidence, alarms = drift_curve(scores.tolist())
    assert len(evidence) == len(scores)
    place, began = alarms[0]
    assert 80 < place < 110
    assert 60 <= began <= 90
    assert evidence[place] == pytest.approx(2)
    assert max(evidence[:80]) < 2
    assert drift_curve(rng.normal(size=60).tolist())[1] == []


def test_the_families_that_changed_are_named_by_their_share():
    words = changed_families(
        {"patterns": 0.0, "size": 1.0, "structure": 0.1}, {"patterns": 3.0, "size": 2.0, "structure": 0.1}
    )
    assert words == "scores rose by 4 on average; of the change: patterns 75%, size 25%"
    assert changed_families({"size": 1.0}, {"size": 0.5}).startswith("scores fell by 0.5")
