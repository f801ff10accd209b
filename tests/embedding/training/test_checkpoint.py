import os

import pytest
import torch
from safetensors.torch import save_file

from graphglass.embedding.training import checkpoint as checkpoints
from graphglass.embedding.training.config import TrainingConfig
from graphglass.embedding.training.history import TrainingHistory
from graphglass.errors import ArtifactError


@pytest.fixture
def saved():
    tensors = {"encoder.weight": torch.arange(6.0).reshape(2, 3)}
    return checkpoints.Checkpoint(4, tensors, TrainingConfig(epochs=9), TrainingHistory(), "digest")


def test_round_trip(tmp_path, saved):
    checkpoints.write(tmp_path / "new", saved)
    found = checkpoints.read(tmp_path / "new")
    assert (found.epoch, found.config, found.history, found.data) == (4, saved.config, saved.history, "digest")
    assert torch.equal(found.tensors["encoder.weight"], saved.tensors["encoder.weight"])
    assert [path.name for path in (tmp_path / "new").iterdir()] == [checkpoints.FILE]


def test_no_checkpoint_is_none(tmp_path):
    assert checkpoints.read(tmp_path) is None


@pytest.mark.parametrize("keep", [0, 5, 60, -1])
def test_truncated_files_are_refused(tmp_path, saved, keep):
    path = checkpoints.write(tmp_path, saved)
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(ArtifactError, match="cannot be read"):
        checkpoints.read(tmp_path)


def test_foreign_files_and_formats_are_refused(tmp_path, saved):
    save_file({"a": torch.ones(1)}, tmp_path / checkpoints.FILE)
    with pytest.raises(ArtifactError, match="cannot be read"):
        checkpoints.read(tmp_path)
    save_file({"a": torch.ones(1)}, tmp_path / checkpoints.FILE, metadata={"graphglass": '{"format": 99}'})
    with pytest.raises(ArtifactError, match="format 99"):
        checkpoints.read(tmp_path)


def test_a_failed_write_keeps_the_old_checkpoint(tmp_path, saved, monkeypatch):
    path = checkpoints.write(tmp_path, saved)
    before = path.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ArtifactError, match="No space left"):
        checkpoints.write(tmp_path, saved)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == [checkpoints.FILE]
