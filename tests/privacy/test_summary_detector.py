import numpy as np
import pytest

from graphglass import GLASS
from graphglass.errors import ArtifactError, InputError
from graphglass.privacy.release.ledger import Ledger
from graphglass.privacy.release.publish import release
from graphglass.privacy.release.records import identities
from graphglass.privacy.summary_detector import SummaryDetector


@pytest.fixture(scope="module")
def model(queries):
    """A public model; the normals of the other fixtures are private to it."""
    return GLASS(encoder="numeric", epochs=1).fit(queries)


@pytest.fixture(scope="module")
def summary(model, normals, tmp_path_factory):
    folder = tmp_path_factory.mktemp("ledger")
    ledger = Ledger.create(folder / "ledger.db")
    ledger.grant("site", epsilon=8, delta=1e-5)
    return release(normals, model=model, ledger=ledger, dataset="site", epsilon=8)


def test_scores_come_from_the_summary_alone(model, summary, normals):
    detector = SummaryDetector.of(summary, model)
    scores = detector.decision_function(normals)
    assert np.allclose(scores, summary.scores(model.channel_embeddings(normals)))
    assert np.allclose(np.sum(list(detector.contributions(normals).values()), axis=0), scores)


def test_the_fingerprint_tells_summaries_and_priors_apart(model, normals, queries, tmp_path):
    ledger = Ledger.create(tmp_path / "ledger.db")
    ledger.grant("site", epsilon=8, delta=1e-5)
    private = set(identities(normals))
    public = queries.without_labels()[[i for i, item in enumerate(identities(queries)) if item not in private]]
    made = [release(normals, model=model, ledger=ledger, dataset="site", epsilon=1, source=public) for _ in range(2)]
    detectors = [SummaryDetector.of(summary, model, source_prior=prior) for summary in made for prior in (False, True)]
    assert len({detector.fingerprint for detector in detectors}) == 4
    detectors[1].save(tmp_path / "saved")
    assert SummaryDetector.load(tmp_path / "saved").fingerprint == detectors[1].fingerprint


def test_saved_detector_holds_no_reference(model, summary, normals, tmp_path):
    detector = SummaryDetector.of(summary, model)
    detector.save(tmp_path / "released")
    stored = b"".join(file.read_bytes() for file in (tmp_path / "released").iterdir())
    for identifier in (*normals.ids, *model.references_.graphs.ids):
        assert identifier.encode() not in stored
    loaded = SummaryDetector.load(tmp_path / "released")
    assert np.allclose(loaded.decision_function(normals), detector.decision_function(normals))
    assert loaded.summary.sites == detector.summary.sites


def test_the_wrong_model_or_a_missing_prior_is_refused(summary, model, normals):
    with pytest.raises(ArtifactError, match="released with encoder"):
        SummaryDetector.of(summary, GLASS(encoder="numeric", epochs=1, random_state=9).fit(normals))
    with pytest.raises(ArtifactError, match="no source prior"):
        SummaryDetector.of(summary, model, source_prior=True)
    with pytest.raises(InputError, match="no graph to score"):
        SummaryDetector.of(summary, model).decision_function(normals[:0])
