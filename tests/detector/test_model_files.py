import json

import numpy as np
import pytest

from graphglass import GLASS, GraphGlass, ReferenceDetector
from graphglass.detector.model_files import CARD
from graphglass.errors import ArtifactError, NotFittedError
from graphglass.files.manifest import MANIFEST
from graphglass.glass.encoders.numeric import NumericEncoder


@pytest.fixture
def saved(fitted, tmp_path):
    fitted.save(tmp_path / "model")
    return tmp_path / "model"


def test_saved_and_loaded_is_the_same_detector(fitted, saved, queries):
    loaded = ReferenceDetector.load(saved)
    assert np.allclose(loaded.decision_function(queries), fitted.decision_function(queries), atol=1e-6)
    assert np.array_equal(loaded.p_values(queries), fitted.p_values(queries))
    assert loaded.threshold_ == fitted.threshold_
    assert loaded.get_params() == fitted.get_params()
    if isinstance(fitted, GLASS):
        assert loaded.encoder_fingerprint() == fitted.encoder_fingerprint()
        assert loaded.training_hashes() == fitted.training_hashes()
        assert loaded.embedder_.graph.history == fitted.embedder_.graph.history
    assert loaded.explain(queries[0]).neighbours == fitted.explain(queries[0]).neighbours


def test_a_loaded_detector_can_be_saved_again_and_changed(saved, queries):
    loaded = ReferenceDetector.load(saved)
    loaded.add_references(queries[:2]).save(saved)
    again = ReferenceDetector.load(saved)
    assert again.references_.graphs.ids[-2:] == queries.ids[:2]
    assert np.allclose(again.decision_function(queries), loaded.decision_function(queries), atol=1e-6)


def test_mixed_references_survive(fitted, tmp_path, queries):
    zero_shot = fitted.for_any_domain()
    zero_shot.save(tmp_path / "zero")
    loaded = ReferenceDetector.load(tmp_path / "zero")
    assert np.allclose(loaded.decision_function(queries), zero_shot.decision_function(queries), atol=1e-6)


def test_another_text_encoder_is_refused(saved, fitted):
    if isinstance(fitted, GraphGlass):
        return  # no text encoder
    with pytest.raises(ArtifactError, match="was made with text encoder numeric"):
        GLASS.load(saved, encoder=NumericEncoder(dimension=512))


def test_every_file_is_checked(saved):
    for file in sorted(saved.iterdir()):
        if file.name == CARD:
            continue  # for people; nothing reads it
        content = file.read_bytes()
        file.write_bytes(content[: len(content) // 2])
        with pytest.raises(ArtifactError):
            ReferenceDetector.load(saved)
        file.unlink()
        with pytest.raises(ArtifactError):
            ReferenceDetector.load(saved)
        file.write_bytes(content)
    ReferenceDetector.load(saved)


def test_a_missing_part_is_an_incomplete_detector(saved):
    body = json.loads((saved / MANIFEST).read_text())
    del body["files"]["reference_names"]
    (saved / MANIFEST).write_text(json.dumps(body))
    with pytest.raises(ArtifactError, match="not a complete detector"):
        ReferenceDetector.load(saved)


def test_unfitted_is_not_saved(tmp_path):
    with pytest.raises(NotFittedError):
        GraphGlass().save(tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_a_url_loads_read_only(saved, fitted, queries):
    loaded = ReferenceDetector.load(f"file://{saved}")
    assert np.allclose(loaded.decision_function(queries), fitted.decision_function(queries), atol=1e-6)
