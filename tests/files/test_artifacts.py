import json
import os
import stat
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from graphglass.errors import ArtifactError
from graphglass.files import load
from graphglass.files.atomic import write_whole
from graphglass.files.load import load_artifact
from graphglass.files.manifest import MANIFEST, digest
from graphglass.files.save import save_artifact


def save(path, value=1.0):
    return save_artifact(path, "model", tensors={"weights": {"w": np.full(3, value)}}, documents={"config": {"k": 5}})


def claim(folder, **changes):
    """Change what the manifest says about the weights."""
    body = json.loads((folder / MANIFEST).read_text())
    body["files"]["weights"].update(changes)
    (folder / MANIFEST).write_text(json.dumps(body))


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
    claim(tmp_path / "m", file="../secret.safetensors")
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


def test_saving_makes_no_second_copy_of_the_arrays(tmp_path):
    rows = np.ones(2_000_000)
    tracemalloc.start()
    try:
        save_artifact(tmp_path / "m", "model", tensors={"rows": {"r": rows}}, documents={})
        assert tracemalloc.get_traced_memory()[1] < rows.nbytes / 2
    finally:
        tracemalloc.stop()


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX systems")
def test_every_file_can_be_read_by_whom_the_umask_allows(tmp_path):
    before = os.umask(0o027)
    try:
        save(tmp_path / "m")
    finally:
        os.umask(before)
    assert {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "m").iterdir()} == {0o640}


@pytest.mark.parametrize("before", [False, True])
def test_what_a_killed_save_left_is_removed_by_the_next(tmp_path, before):
    """A process that runs out of memory cannot clean up: its drafts and finished parts stay."""
    if before:
        save(tmp_path / "m", 1.0)
    else:
        (tmp_path / "m").mkdir()
    for name in (".weights.safetensors.0123456789ab", "index-0123456789ab.faiss", ".manifest.json.0123456789ab"):
        (tmp_path / "m" / name).write_bytes(b"half")
    save(tmp_path / "m", 2.0)
    assert load_artifact(tmp_path / "m", "model").tensors["weights"]["w"][0] == 2
    assert len(list((tmp_path / "m").iterdir())) == 3


@pytest.mark.parametrize("late", [False, True])
def test_ctrl_c_leaves_no_half_made_artifact_and_takes_back_no_finished_one(tmp_path, monkeypatch, late):
    def interrupted(path, content, write=write_whole):
        if path.name != MANIFEST or late:
            write(path, content)
        if path.name == MANIFEST:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("graphglass.files.save.write_whole", interrupted)
        with pytest.raises(KeyboardInterrupt):
            save(tmp_path / "m")
    if late:
        assert load_artifact(tmp_path / "m", "model").documents["config"] == {"k": 5}
    else:
        assert not (tmp_path / "m").exists()
    save(tmp_path / "m")


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


def test_a_url_that_cannot_be_read_says_why(monkeypatch):
    with pytest.raises(ArtifactError, match="Protocol not known: carrier-pigeon"):
        load_artifact("carrier-pigeon://coop/m", "model")
    monkeypatch.setitem(sys.modules, "s3fs", None)
    with pytest.raises(ArtifactError, match="Install s3fs"):
        load_artifact("s3://bucket/m", "model")


@pytest.mark.parametrize("path", ["memory://folder", Path("memory://folder"), "s3://bucket/folder"])
def test_a_url_is_not_written(tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ArtifactError, match="Name a local directory"):
        save_artifact(path, "model", tensors={}, documents={})
    assert list(tmp_path.iterdir()) == []


def test_a_save_while_reading_gives_the_new_state(tmp_path, monkeypatch):
    """The reader holds the old manifest when its files go."""
    save(tmp_path / "m", 1.0)
    real, values = load._read, [2.0, 3.0]

    def read(where, name, expected=None):
        content = real(where, name, expected)
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


def reseal(folder, role, content):
    """Put other bytes behind a role, with a manifest that vouches for them."""
    body = json.loads((folder / MANIFEST).read_text())
    entry = body["files"][role]
    (folder / entry["file"]).write_bytes(content)
    entry.update(bytes=len(content), sha256=digest(content))
    (folder / MANIFEST).write_text(json.dumps(body))


@pytest.mark.parametrize(
    "header",
    [(2**62).to_bytes(8, "little"), (10**8).to_bytes(8, "little") + b"{}",
     b"\x4b\0\0\0\0\0\0\0" + b'{"w":{"dtype":"F64","shape":[1000000000000],"data_offsets":[0,8000000000000]}}'],
)  # fmt: skip
def test_an_oversize_header_in_a_resealed_model_is_refused(tmp_path, header):
    save(tmp_path / "m")
    reseal(tmp_path / "m", "weights", header + bytes(64))
    with pytest.raises(ArtifactError, match="cannot be decoded"):
        load_artifact(tmp_path / "m", "model")


@pytest.mark.parametrize("text", [b"[" * 200_000, b"\xff", b"{", b"9" * 5000])
def test_a_resealed_document_that_is_no_json_is_refused(tmp_path, text):
    save(tmp_path / "m")
    reseal(tmp_path / "m", "config", text)
    with pytest.raises(ArtifactError, match="cannot be decoded"):
        load_artifact(tmp_path / "m", "model")


@pytest.mark.parametrize("size", ["1", -1, None, 1.5])
def test_a_manifest_with_impossible_sizes_is_refused(tmp_path, size):
    save(tmp_path / "m")
    claim(tmp_path / "m", bytes=size)
    with pytest.raises(ArtifactError, match="not a readable manifest"):
        load_artifact(tmp_path / "m", "model")


def test_a_size_that_a_manifest_claims_is_not_reserved(tmp_path):
    save(tmp_path / "m")
    claim(tmp_path / "m", bytes=2**60)
    with pytest.raises(ArtifactError, match="not what was saved"):
        load_artifact(tmp_path / "m", "model")


@pytest.mark.parametrize("role", ["weights", "manifest"])
def test_links_out_of_the_folder_are_refused(tmp_path, role):
    """A folder from elsewhere must not make its reader open other files, devices or pipes."""
    manifest = save(tmp_path / "m")
    file = tmp_path / "m" / (MANIFEST if role == "manifest" else manifest.entries[role].file)
    file.rename(tmp_path / "outside")
    for target in (tmp_path / "outside", "/dev/zero"):
        file.symlink_to(target)
        with pytest.raises(ArtifactError, match="leads elsewhere"):
            load_artifact(tmp_path / "m", "model")
        file.unlink()


def test_a_file_that_grew_is_not_read_whole(tmp_path):
    manifest = save(tmp_path / "m")
    os.truncate(tmp_path / "m" / manifest.entries["weights"].file, 2**40)  # sparse: no disk is used
    with pytest.raises(ArtifactError, match=f"found {2**40} bytes"):
        load_artifact(tmp_path / "m", "model")


def test_two_writers_of_one_folder_leave_one_whole_model(tmp_path):
    """Each removes files it does not know; without a lock one removes what the other is about to name."""
    code = """
import sys
import numpy as np
from graphglass.files.save import save_artifact
for i in range(40):
    value = float(sys.argv[2]) + i
    save_artifact(sys.argv[1], "model", tensors={f"part{j}": {"w": np.full(3, value)} for j in range(4)}, documents={})
"""
    save_artifact(tmp_path / "m", "model", tensors={}, documents={})
    writers = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "m"), base]) for base in ("1000", "2000")]
    try:
        while any(writer.poll() is None for writer in writers):
            load_artifact(tmp_path / "m", "model")
    finally:
        for writer in writers:
            writer.wait()
    assert [writer.returncode for writer in writers] == [0, 0]
    parts = load_artifact(tmp_path / "m", "model").tensors.values()
    assert len({float(part["w"][0]) for part in parts}) == 1


def test_a_disk_that_fills_up_while_saving_keeps_the_state_before(tmp_path):
    """No file of the child may grow past 64 KiB, as on a full disk."""
    save(tmp_path / "m", 1.0)
    code = """
import resource, signal, sys
import numpy as np
from graphglass.errors import ArtifactError
from graphglass.files.save import save_artifact
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))
try:
    save_artifact(sys.argv[1], "model", tensors={"a": {"w": np.ones(3)}, "b": {"w": np.ones(10**5)}}, documents={})
except ArtifactError as error:
    print("refused", error)
"""
    result = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "m")], capture_output=True, text=True, check=True
    )
    assert result.stdout.startswith("refused")
    assert load_artifact(tmp_path / "m", "model").tensors["weights"]["w"][0] == 1
    assert len(list((tmp_path / "m").iterdir())) == 3
