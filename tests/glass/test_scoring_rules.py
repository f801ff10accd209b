import numpy as np
import pytest

from graphglass.channels.profiled_graphs import ProfiledGraphs
from graphglass.errors import ParameterError
from graphglass.glass.code_channel import kde_score
from graphglass.glass.scoring_rules import (
    CONCENTRATION,
    SCORERS,
    fixed_weights,
    paper_channels,
    paper_fusion,
    paper_variants,
    reliability_weights,
)
from graphglass.glass.slices import normalise
from graphglass.structure.profile import profile

SLICES = (4, 8)


def codes_of(count, seed, spread):
    """Codes around one direction; text codes much closer together than graph codes."""
    random = np.random.default_rng(seed)
    return {
        f"{side}:{size}": normalise(np.eye(size)[0] + width * random.standard_normal((count, size))).astype(np.float32)
        for side, width in (("graph", spread), ("text", spread / 100))
        for size in SLICES
    }


@pytest.fixture(scope="module")
def both(make_graphs):
    graphs = make_graphs(count=12)
    structure = profile(graphs)
    references = ProfiledGraphs(graphs, structure, codes_of(12, 0, 0.3))
    return references, ProfiledGraphs(graphs[:6], structure[np.arange(6)], codes_of(6, 1, 0.9))


def knn(rows, others, k, leave_out=False):
    cosine = rows.astype(float) @ others.astype(float).T
    if leave_out:
        np.fill_diagonal(cosine, -2)
    return (1 - np.sort(cosine, axis=1)[:, ::-1][:, :k]).mean(axis=1)


def test_the_paper_score_is_calibrated_by_the_references(both):
    references, queries = both
    variants = paper_variants(queries, references, SLICES, k=3)
    weights = reliability_weights(references.codes, SLICES, 3)
    calibrated, raw = np.zeros(6), np.zeros(6)
    for name, weight in weights.items():
        left_out = knn(references.codes[name], references.codes[name], 3, leave_out=True)
        distance = knn(queries.codes[name], references.codes[name], 3)
        calibrated += weight * (distance - left_out.mean()) / left_out.std()
        raw += weight * distance
    np.testing.assert_allclose(variants["glass"], calibrated, rtol=1e-4)
    np.testing.assert_allclose(variants["glass raw"], raw, rtol=1e-4)


def test_calibrated_text_counts_however_close_together_its_codes_are(both):
    references, queries = both
    left_out = {name: knn(rows, rows, 3, leave_out=True) for name, rows in references.codes.items()}
    distances = {name: knn(rows, references.codes[name], 3) for name, rows in queries.codes.items()}

    def share(calibration):
        parts = paper_fusion(left_out, references.codes, SLICES, 3, scorer="fixed", calibration=calibration)
        found = {name: np.abs(values).mean() for name, values in parts.contributions(distances).items()}
        return sum(value for name, value in found.items() if name.startswith("text")) / sum(found.values())

    assert share("raw") < 0.01
    assert share("leave-one-out") > 0.2


def test_an_unknown_calibration_is_refused(both):
    with pytest.raises(ParameterError, match="leave-one-out, raw"):
        paper_fusion({}, both[0].codes, SLICES, 3, calibration="none")


def test_every_rule_by_hand(both):
    """Each scorer by name, channels and fusion together, against plain sums."""
    references, queries = both
    fixed = fixed_weights(SLICES)

    def z(values, own):
        return (values - own.mean()) / own.std()

    far = {n: knn(queries.codes[n], references.codes[n], 3) for n in fixed}
    own = {n: knn(references.codes[n], references.codes[n], 3, leave_out=True) for n in fixed}
    rare = {n: kde_score(queries.codes[n], references.codes[n], CONCENTRATION) for n in fixed}
    left = {n: kde_score(references.codes[n], references.codes[n], CONCENTRATION, exclude_self=True) for n in fixed}
    shares = {"graph": 2 * 0.85, "text": 2 * 0.15}
    expected = {
        "reliability": sum(w * z(far[n], own[n]) for n, w in reliability_weights(references.codes, SLICES, 3).items()),
        "fixed": sum(w * z(far[n], own[n]) for n, w in fixed.items()),
        "domain": sum(shares[n.split(":")[0]] * w * z(far[n], own[n]) for n, w in fixed.items()),
        "graph": sum(2 * w * far[n] for n, w in fixed.items() if "graph" in n),
        "text": sum(2 * w * far[n] for n, w in fixed.items() if "text" in n),
        "fusion": sum(w * far[n] for n, w in fixed.items()),
        "vmf": sum(2 * w * rare[n] for n, w in fixed.items() if "graph" in n),
        "sms": sum(w * z(rare[n], left[n]) for n, w in fixed.items()),
    }
    assert set(expected) == set(SCORERS)
    variants = paper_variants(queries, references, SLICES, 3, "mol")
    for scorer, scores in expected.items():
        channels = paper_channels(SLICES, 3, scorer)
        for channel in channels:
            channel.fit(references)
        fusion = paper_fusion(
            {c.name: c.left_out for c in channels}, references.codes, SLICES, 3, scorer=scorer, domain="mol"
        )
        found = fusion.scores({c.name: c.distances(c.encode(queries)) for c in channels})
        np.testing.assert_allclose(found, scores, rtol=1e-4)
        np.testing.assert_allclose(variants["glass" if scorer == "reliability" else scorer], found)


def test_an_unknown_scorer_is_refused(both):
    with pytest.raises(ParameterError, match="reliability, fixed, domain"):
        paper_fusion({}, both[0].codes, SLICES, 3, scorer="best")
