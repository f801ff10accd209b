"""Private references must not decide how the encoder reads them: its label columns would tell of them without noise."""

import json
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

from graphglass import GLASS, ReferenceDetector, concatenate
from graphglass.cli.app import app
from graphglass.detector import indexed_scorer
from graphglass.errors import PrivacyError
from graphglass.graphs.readers.json_lines import json_records
from graphglass.privacy.release.publish import release


def relabelled(graphs):
    """The same graphs with node labels that no training graph has."""
    return replace(graphs.without_labels(), node_labels=graphs.node_labels + 100, label_names={})


@pytest.fixture(scope="module")
def trained(queries):
    """A public model of one domain."""
    return GLASS(encoder="numeric", epochs=1).fit(queries)


@pytest.fixture(scope="module")
def private(normals):
    return relabelled(normals[:12])


@pytest.fixture(scope="module")
def public(normals):
    """Public graphs with the labels of the private ones."""
    return relabelled(normals[12:])


def refused(model, graphs, ledger):
    with pytest.raises(PrivacyError, match=r"of the reference graphs are part of the model.*as it was trained.*public"):
        release(graphs, model=model, ledger=ledger, dataset="clinic", epsilon=1.0)
    assert ledger.budget("clinic").releases == 0


def test_the_fingerprint_would_tell_a_private_label(trained, private):
    """Why this is refused: one graph more with a label of its own gives another encoder."""
    rare = replace(private[:2], node_labels=np.full(private[:2].node_count, 999))
    prints = {trained.with_references(graphs).encoder_fingerprint() for graphs in (private[:2], rare)}
    assert len(prints) == 2


def test_references_that_chose_the_vocabulary_are_refused(trained, private, ledger):
    refused(trained.with_references(private), private, ledger)


def test_one_of_them_is_enough(trained, private, public, ledger):
    refused(trained.with_references(concatenate([private[:1], public[:1]])), private, ledger)


def test_a_large_set_keeps_some_whole_and_refuses_all(trained, private, ledger, monkeypatch):
    monkeypatch.setattr(indexed_scorer, "EXACT_UP_TO", 8)
    monkeypatch.setattr(indexed_scorer, "CALIBRATED", 8)
    moved = trained.with_references(private)
    outside = private[np.array([name not in moved.references_.graphs.ids for name in private.ids])]
    assert len(outside) == 4
    refused(moved, outside, ledger)


def test_taking_them_out_again_does_not_help(trained, private, public, ledger):
    """The vocabulary stays, so the refusal has to."""
    moved = trained.with_references(private).add_references(replace(public[:2], ids=("another", "third")))
    refused(moved.remove_references(private.ids), private, ledger)


def test_the_refusal_survives_saving(trained, private, ledger, tmp_path):
    trained.with_references(private).save(tmp_path / "model")
    refused(ReferenceDetector.load(tmp_path / "model"), private, ledger)


def test_the_command_line_refuses_too(trained, private, ledger, tmp_path):
    trained.save(tmp_path / "model")
    graphs = tmp_path / "private.jsonl"
    graphs.write_text("".join(json.dumps(record) + "\n" for record in json_records(private)))
    command = ["private", "release", str(graphs), "--model", str(tmp_path / "model"), "--epsilon", "1",
               "--ledger", str(tmp_path / "ledger.db"), "-o", str(tmp_path / "summary")]  # fmt: skip
    replaced = CliRunner().invoke(app, ["references", str(tmp_path / "model"), "replace", str(graphs)])
    assert replaced.exit_code == 0, replaced.output
    result = CliRunner().invoke(app, command)
    assert isinstance(result.exception, PrivacyError)
    assert not (tmp_path / "summary").exists()
    assert ledger.budget("clinic").releases == 0


def test_the_detector_as_trained_may_release_them(trained, private, ledger):
    summary = release(private, model=trained, ledger=ledger, dataset="clinic", epsilon=1.0)
    assert summary.encoder == trained.encoder_fingerprint()


def test_a_public_vocabulary_may_release_them(trained, private, public, ledger):
    moved = trained.with_references(public)
    summary = release(private, model=moved, ledger=ledger, dataset="clinic", epsilon=1.0)
    assert summary.encoder == moved.encoder_fingerprint() != trained.encoder_fingerprint()
