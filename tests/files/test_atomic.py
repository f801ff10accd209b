"""Files appear whole or not at all."""

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from graphglass.errors import InputError
from graphglass.files import atomic
from graphglass.files.atomic import locked, replacing, write_whole
from graphglass.files.output_file import refuse_unless_writable
from graphglass.files.save import save_artifact


def test_content_takes_the_place_of_what_was_there(tmp_path):
    path = tmp_path / "file.txt"
    path.write_text("old")
    with replacing(path) as temporary:
        temporary.write_text("new")
        assert path.read_text() == "old"
        assert temporary.parent == tmp_path
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_failure_keeps_the_old_file_and_leaves_nothing(tmp_path, error):
    path = tmp_path / "file.txt"
    path.write_text("old")

    def fail():
        with replacing(path) as temporary:
            temporary.write_text("half")
            raise error

    with pytest.raises(error):
        fail()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_keeps_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "file.txt"
    path.write_text("old")

    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_whole(path, b"new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_and_modes_follow_the_umask(tmp_path):
    link, path = tmp_path / "link", tmp_path / "file"
    link.symlink_to(path)
    before = os.umask(0o027)
    try:
        write_whole(link, b"content")
    finally:
        os.umask(before)
    assert link.is_symlink()
    assert path.read_bytes() == b"content"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_only_the_owner_reads_what_is_for_the_owner(tmp_path):
    path = tmp_path / "head"
    path.write_bytes(b"old")
    path.chmod(0o644)
    write_whole(path, b"new", owner_only=True)
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_device_is_written_to_as_it_is():
    with replacing(Path(os.devnull)) as place:
        assert str(place) == os.devnull
    write_whole(place, b"gone")
    assert not place.is_file()


def test_no_umask_lets_everyone_write(tmp_path):
    before = os.umask(0)
    try:
        write_whole(tmp_path / "file", b"content")
        save_artifact(tmp_path / "model", "test", tensors={"a": {"x": np.zeros(2)}}, documents={"b": {}})
    finally:
        os.umask(before)
    for path in tmp_path.rglob("*"):
        assert not path.stat().st_mode & stat.S_IWOTH, path


def test_the_next_writer_removes_the_draft_of_a_killed_one_and_no_other(tmp_path, monkeypatch):
    code = (
        "import os, signal, sys; from pathlib import Path; from graphglass.files.atomic import replacing\n"
        "with replacing(Path(sys.argv[1])) as draft: os.kill(os.getpid(), signal.SIGKILL)"
    )
    killed = subprocess.run([sys.executable, "-c", code, str(tmp_path / "old.csv")])
    assert killed.returncode == -signal.SIGKILL
    assert len(list(tmp_path.iterdir())) == 1
    (tmp_path / ".someone.0123456789ab").write_text("not a draft")
    with locked(tmp_path), replacing(tmp_path / "held.csv") as held:
        monkeypatch.setattr(atomic, "_SWEPT", set())
        write_whole(tmp_path / "new.csv", b"content")
        assert held.exists()
    assert {path.name for path in tmp_path.iterdir()} == {"held.csv", "new.csv", ".someone.0123456789ab"}


def test_output_through_a_link_is_refused(tmp_path):
    (tmp_path / "link.csv").symlink_to(tmp_path / "target.csv")
    with pytest.raises(InputError, match="is a link"):
        refuse_unless_writable(tmp_path / "link.csv")
    refuse_unless_writable(Path("/dev/stdout"))
