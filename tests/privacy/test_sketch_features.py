"""Releases of sketches: no model, sharpness by public arithmetic, and the same promises."""

import math
from dataclasses import replace

import numpy as np
import pytest

from graphglass import load_dataset
from graphglass.errors import ArtifactError, ParameterError, PrivacyError
from graphglass.glass.joint_features import JointFeatures
from graphglass.privacy.noise_scale import gaussian_sigma
from graphglass.privacy.private_summary import KIND, PrivateSummary, merge
from graphglass.privacy.release import publish
from graphglass.privacy.release.ledger import Ledger
from graphglass.privacy.release.publish import release
from graphglass.privacy.single_file import pack_artifact, unpack_artifact
from graphglass.privacy.sketch_features import SketchFeatures
from graphglass.privacy.summary_detector import SummaryDetector

SMALL = SketchFeatures(dimension=256, sharpness=2)


@pytest.fixture(scope="module")
def molecules():
    return load_dataset("MUTAG").without_labels()


def no_noise(scale, size):
    return np.zeros(size, np.int64)


def exact(graphs, ledger, features=SMALL, **changes):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(publish, "discrete_gaussian", no_noise)
        return release(graphs, ledger=ledger, dataset="clinic", epsilon=1.0, features=features, **changes)


def test_a_release_needs_no_model(molecules, ledger, tmp_path):
    summary = release(molecules[:100], ledger=ledger, dataset="clinic", epsilon=4.0, output=tmp_path / "s")
    assert summary.encoder is None
    assert summary.features.dimension == 4096
    for text in (
        "public sketch, version 1",
        "nothing in it was learned",
        "n = 100",
        "(4, 1e-05)",
        "4096 mean features",
    ):
        assert text in summary.statement
    assert "ncoder" not in summary.statement
    loaded = PrivateSummary.load(tmp_path / "s")
    assert ledger.check(loaded) == loaded.sites
    np.testing.assert_array_equal(loaded.scores(molecules[100:110]), summary.scores(molecules[100:110]))
    noise = (summary.mean - summary.features(molecules[:100]).mean(axis=0)) / summary.sigma
    assert np.mean(noise**2) == pytest.approx(1.0, abs=5 * math.sqrt(2 / 4096))


def test_without_noise_it_is_the_mean_sketch_in_any_batch(molecules, ledger):
    graphs = molecules[:40]
    summary = exact(graphs, ledger)
    np.testing.assert_allclose(summary.mean, SMALL(graphs).mean(axis=0), atol=1e-8)
    apart = [exact(graphs[i : i + 1], ledger) for i in range(3)]
    np.testing.assert_array_equal(exact(graphs[:3], ledger).total, np.sum([one.total for one in apart], axis=0))


def test_replacing_a_graph_moves_the_sum_by_at_most_two(molecules, make_graphs, ledger):
    one = exact(molecules[:30].structure_only(), ledger)
    changed = exact(molecules[1:30].structure_only(), ledger).total + exact(make_graphs([50]), ledger).total
    difference = [int(value) for value in one.total - changed]
    assert 0 < sum(value**2 for value in difference) <= (2 * 2**30) ** 2


@pytest.mark.parametrize(("n", "epsilon", "power"), [(8, 4.0, 1), (128, 4.0, 2), (128, 1.0, 1), (1645, 4.0, 5),
                                                     (10**6, 8.0, 8)])  # fmt: skip
def test_sharpness_is_public_arithmetic(n, epsilon, power):
    features = SketchFeatures.for_budget(n, epsilon, 1e-5)
    assert features.sharpness == power
    if 1 < power < 8:
        sigma = gaussian_sigma(epsilon, 1e-5, n)
        assert 2.0**-power >= 12 * sigma > 2.0 ** -(power + 1)


def test_scores_are_the_densities_of_the_blocks(molecules, ledger):
    summary = exact(molecules[:60], ledger)
    queries, mean = molecules[60:70], SMALL(molecules[:60]).mean(axis=0)
    parts = summary.contributions(queries)
    assert list(parts) == ["labels", "shape", "size", "structure"]
    np.testing.assert_allclose(sum(parts.values()), summary.scores(queries), rtol=1e-12)
    rows = SMALL(queries).reshape(10, -1, 8)[:, :, 4:6].reshape(10, -1)
    density = rows @ mean.reshape(-1, 8)[:, 4:6].ravel() * 6
    np.testing.assert_allclose(
        parts["size"], -np.log(density + 10 * math.hypot(summary.sigma, 0.1 / 16) * math.sqrt(6)), atol=1e-6
    )


def test_strangers_score_higher(molecules, make_graphs, ledger):
    """Long paths without labels among molecules without labels."""
    summary = release(molecules[:125].structure_only(), ledger=ledger, dataset="clinic", epsilon=4.0)
    normal, strange = summary.scores(molecules[125:].structure_only()), summary.scores(make_graphs(range(60, 90)))
    assert np.median(normal) < strange.min()


def test_disjoint_sites_merge_and_carry_a_prior(molecules, make_graphs, ledger, tmp_path):
    other = Ledger.create(tmp_path / "other.db")
    other.grant("elsewhere", epsilon=4.0, delta=1e-5)
    source = make_graphs(range(60, 90))
    one = release(molecules[:50], ledger=ledger, dataset="clinic", epsilon=2.0, features=SMALL, source=source)
    two = release(molecules[50:120], ledger=other, dataset="elsewhere", epsilon=2.0, features=SMALL, source=source)
    both = merge([one, two], disjoint=True)
    assert both.references == 120
    assert "2 releases" in both.statement
    assert both.scores(molecules[120:125], source_prior=True).shape == (5,)
    sharper = release(molecules[50:120], ledger=other, dataset="elsewhere", epsilon=1.0,
                      features=replace(SMALL, sharpness=3))  # fmt: skip
    with pytest.raises(PrivacyError, match="one --sharpness"):
        merge([one, sharper], disjoint=True)


def test_another_version_or_another_size_is_refused(molecules, ledger):
    """A release refuses a sketch it cannot verify, and a file cannot claim one larger than its values."""
    document, arrays = unpack_artifact(exact(molecules[:20], ledger).to_bytes(), KIND, "here")

    def edited(**changes):
        return pack_artifact(KIND, arrays, {**document, "features": {**document["features"], **changes}})

    for changes in ({"version": 2}, {"dimension": 2**17}, {"dimension": 10**9}, {"sharpness": 10**9}, {"sharpness": 3}):
        with pytest.raises((ArtifactError, ParameterError)):
            PrivateSummary.from_bytes(edited(**changes))
    with pytest.raises(ArtifactError, match="sketch version 2"):
        SketchFeatures(version=2)
    for change in ({"kind": "codes"}, {"kind": "other"}, {"encoder": "e"}):
        with pytest.raises(ArtifactError):
            PrivateSummary.from_bytes(pack_artifact(KIND, arrays, {**document, **change}))


def test_a_detector_around_a_summary_needs_no_model(molecules, ledger, tmp_path):
    summary = release(molecules[:60], ledger=ledger, dataset="clinic", epsilon=2.0, features=SMALL)
    detector = SummaryDetector.of(summary)
    detector.save(tmp_path / "released")
    loaded = SummaryDetector.load(tmp_path / "released")
    np.testing.assert_array_equal(loaded.decision_function(molecules[60:65]), summary.scores(molecules[60:65]))
    assert loaded.embedder is None


def test_features_and_model_must_fit(model, molecules, ledger):
    with pytest.raises(ParameterError, match="with a model"):
        release(molecules[:5], ledger=ledger, dataset="clinic", epsilon=1.0, features=JointFeatures())
    with pytest.raises(ParameterError, match="needs no model"):
        release(molecules[:5], ledger=ledger, dataset="clinic", epsilon=1.0, features=SMALL, model=model)
    assert ledger.budget("clinic").releases == 0


def test_directed_graphs_with_amounts_are_released(flows, ledger):
    summary = release(flows(), ledger=ledger, dataset="clinic", epsilon=4.0)
    queries, larger = flows(seed=1), flows(seed=1, amount=1e6)
    np.testing.assert_array_equal(summary.scores(queries), summary.scores(larger))
    assert "edge attributes and directions do not enter" in summary.statement
