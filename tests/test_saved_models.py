"""A model of the present format is kept here, so that later versions read it or refuse it by its number."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from graphglass import ReferenceDetector, load_dataset
from graphglass.detector.model_files import KIND
from graphglass.errors import ArtifactError
from graphglass.files.manifest import format_version

MODELS = Path(__file__).with_name("models")
VERSION = format_version(KIND)


def test_a_stored_model_of_this_format_is_read_and_scores_as_when_it_was_stored():
    detector = ReferenceDetector.load(MODELS / f"version-{VERSION}")
    assert (len(detector.references_), len(detector.anomalies_)) == (12, 2)
    stored = json.loads((MODELS / f"version-{VERSION}-scores.json").read_text())
    queries = load_dataset("MUTAG").without_labels()[30:36]
    # A failure means that saved models changed their meaning: raise VERSIONS and run tests/models/make_model.py.
    np.testing.assert_allclose(detector.decision_function(queries), stored, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("number", [VERSION - 1, VERSION + 1])
def test_another_format_is_refused_with_what_to_do(number, tmp_path):
    model = shutil.copytree(MODELS / f"version-{VERSION}", tmp_path / "model")
    manifest = json.loads((model / "manifest.json").read_text())
    (model / "manifest.json").write_text(json.dumps(manifest | {"version": number}))
    with pytest.raises(
        ArtifactError, match=rf"format version {number}; .* reads version {VERSION}.*fit and save again"
    ):
        ReferenceDetector.load(model)


def test_a_model_of_the_first_format_is_refused():
    """Its channels have other columns than those of the same name today."""
    with pytest.raises(ArtifactError, match="format version 1"):
        ReferenceDetector.load(MODELS / "version-1")
