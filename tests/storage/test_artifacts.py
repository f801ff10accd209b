import json
import os

import numpy as np
import pytest

from graphglass.errors import ArtifactError
from graphglass.storage import load
from graphglass.storage.load import load_artifact
from graphglass.storage.manifest import MANIFEST
from graphglass.storage.save import save_artifact


def save(path, value=1.0):
    return save_artifact(path, "model", tensors={"weights": {"w": np.full(3, value)}}, documents={"config": {"k": 5}})


def test_round_trip(tmp_path):
    save(tmp_path / "m")
    loaded = load_artifact(tmp_path / "m", "model")
    assert loaded.tensors["weights"]["w"].tolist() == [1, 1, 1]
    assert loaded.documents["config"] == {"k": 5}


def test_saving_again_replaces_and_leaves_no_stale_file(tmp_path):
    save(tmp_path / "m", 1.0)
    save(tmp_path / "m", 2.0)
    assert load_artifact(tmp_path / "m", "model").tensors["weights"]["w"][0] == 2
    assert len(list((tmp_path / "m").iterdir())) == 3


@pytest.mark.parametrize("damage", [lambda b: b[:-1], lambda b: b[:-1] + bytes([b[-1] ^ 1]), lambda b: b""])
def test_altered_or_truncated_files_are_refused(tmp_path, damage):
    manifest = save(tmp_path / "m")
    file = tmp_path / "m" / manifest.entries["weights"].file
    file.write_bytes(damage(file.read_bytes()))
    with pytest.raises(ArtifactError, match="not what was saved"):
        load_artifact(tmp_path / "m", "model")


def test_unknown_version_and_other_kind(tmp_path):
    save(tmp_path / "m")
    with pytest.raises(ArtifactError, match="a 'summary' was expected"):
        load_artifact(tmp_path / "m", "summary")
    body = json.loads((tmp_path / "m" / MANIFEST).read_text())
    (tmp_path / "m" / MANIFEST).write_text(json.dumps({**body, "version": 99}))
    with pytest.raises(ArtifactError, match="format version 99"):
        load_artifact(tmp_path / "m", "model")


def test_manifest_cannot_point_outside(tmp_path):
    save(tmp_path / "m")
    body = json.loads((tmp_path / "m" / MANIFEST).read_text())
    body["files"]["weights"]["file"] = "../secret.safetensors"
    (tmp_path / "m" / MANIFEST).write_text(json.dumps(body))
    with pytest.raises(ArtifactError, match="outside the directory"):
        load_artifact(tmp_path / "m", "model")


@pytest.mark.parametrize("text", ["", "{", "[]", '{"kind": "model"}'])
def test_unreadable_manifest(tmp_path, text):
    save(tmp_path / "m")
    (tmp_path / "m" / MANIFEST).write_text(text)
    with pytest.raises(ArtifactError, match="not a readable manifest"):
        load_artifact(tmp_path / "m", "model")


def test_missing_directory(tmp_path):
    with pytest.raises(ArtifactError, match=r"has no manifest\.json"):
        load_artifact(tmp_path / "nothing", "model")


def test_nan_is_neither_saved_nor_loaded(tmp_path):
    with pytest.raises(ArtifactError, match="NaN or infinite"):
        save(tmp_path / "m", np.nan)
    assert not (tmp_path / "m").exists()


def test_foreign_directories_are_left_alone(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(ArtifactError, match="holds other files"):
        save(tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["notes.txt"]


def test_a_full_disk_keeps_the_state_before(tmp_path, monkeypatch):
    save(tmp_path / "m", 1.0)
    real = os.replace

    def full(source, target):
        if str(target).endswith(MANIFEST):
            raise OSError(28, "No space left on device")
        real(source, target)

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(ArtifactError, match="No space left"):
        save(tmp_path / "m", 2.0)
    monkeypatch.undo()
    assert load_artifact(tmp_path / "m", "model").tensors["weights"]["w"][0] == 1
    assert len(list((tmp_path / "m").iterdir())) == 3


def test_a_url_reads_the_same(tmp_path):
    save(tmp_path / "m")
    assert load_artifact(f"file://{tmp_path}/m", "model").tensors["weights"]["w"].tolist() == [1, 1, 1]


def test_a_save_while_reading_gives_the_new_state(tmp_path, monkeypatch):
    """The reader holds the old manifest when its files go."""
    save(tmp_path / "m", 1.0)
    real, values = load._read, [2.0, 3.0]

    def read(where, name):
        content = real(where, name)
        if name == MANIFEST and values:
            save(tmp_path / "m", values.pop(0))
        return content

    monkeypatch.setattr(load, "_read", read)
    assert load_artifact(tmp_path / "m", "model").tensors["weights"]["w"][0] == 3


def test_a_file_that_is_gone_is_told(tmp_path):
    manifest = save(tmp_path / "m")
    (tmp_path / "m" / manifest.entries["weights"].file).unlink()
    with pytest.raises(ArtifactError, match="incomplete"):
        load_artifact(tmp_path / "m", "model")
