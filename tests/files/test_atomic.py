"""Files appear whole or not at all."""

import os
import stat
from pathlib import Path

import pytest

from graphglass.files.atomic import replacing, write_whole


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
