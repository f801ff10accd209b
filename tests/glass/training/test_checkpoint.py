import json
import os
from dataclasses import fields

import pytest
import torch

from graphglass.errors import ArtifactError
from graphglass.glass.training import checkpoint as checkpoints
from graphglass.glass.training.checkpoint import TrainingHistory
from graphglass.glass.training.config import TrainingConfig


@pytest.fixture
def saved():
    tensors = {"encoder.weight": torch.arange(6.0).reshape(2, 3)}
    return checkpoints.Checkpoint(tensors, TrainingConfig(epochs=9), TrainingHistory(), "digest")


def files(folder):
    return {path.name: path.read_bytes() for path in (folder / checkpoints.FOLDER).iterdir()}


def test_round_trip(tmp_path, saved):
    checkpoints.write(tmp_path / "new", saved)
    found = checkpoints.read(tmp_path / "new")
    assert (found.config, found.history, found.data) == (saved.config, saved.history, "digest")
    assert torch.equal(found.tensors["encoder.weight"], saved.tensors["encoder.weight"])


def test_no_checkpoint_is_none(tmp_path):
    assert checkpoints.read(tmp_path) is None


@pytest.mark.parametrize("name", ["manifest.json", "state-", "run-"])
@pytest.mark.parametrize("keep", [0, 5, -2])
def test_truncated_files_are_refused(tmp_path, saved, name, keep):
    checkpoints.write(tmp_path, saved)
    (path,) = (tmp_path / checkpoints.FOLDER).glob(f"{name}*")
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(ArtifactError, match="cannot be read"):
        checkpoints.read(tmp_path)


def test_a_failed_write_keeps_the_old_checkpoint(tmp_path, saved, monkeypatch):
    checkpoints.write(tmp_path, saved)
    before = files(tmp_path)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ArtifactError, match="No space left"):
        checkpoints.write(tmp_path, saved)
    assert files(tmp_path) == before


def test_grows_as_a_value_and_survives_json():
    empty = TrainingHistory()
    one = empty.extended(**{curve.name: float(index) for index, curve in enumerate(fields(TrainingHistory))})
    assert len(empty) == 0
    assert len(one) == 1
    assert one.gram == (2.0,)
    assert TrainingHistory.from_json(json.loads(json.dumps(one.to_json()))) == one


def test_time_is_not_compared():
    assert TrainingHistory().extended(loss=1.0, seconds=1.0) == TrainingHistory().extended(loss=1.0, seconds=2.0)
