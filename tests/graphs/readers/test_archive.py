"""Zips that are broken or hostile are refused before anything is unpacked."""

from __future__ import annotations

import stat
import zipfile
from pathlib import Path

import pytest

from graphglass.errors import FormatError, LimitError
from graphglass.graphs.datasets import bundled_path
from graphglass.graphs.limits import DEFAULT_LIMITS, Limits
from graphglass.graphs.read import read_graphs
from graphglass.graphs.readers.tu import open_archive


def make(path: Path, members: dict[str, str]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return path


def test_a_truncated_zip(tmp_path: Path) -> None:
    content = bundled_path("MUTAG").read_bytes()
    path = tmp_path / "cut.zip"
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(FormatError, match=r"cut.zip is not a readable zip archive.*truncated"):
        read_graphs(path)


def test_a_flipped_byte_is_found_by_the_checksum(tmp_path: Path) -> None:
    content = bytearray(bundled_path("MUTAG").read_bytes())
    content[2000] ^= 0xFF
    path = tmp_path / "bent.zip"
    path.write_bytes(content)
    with pytest.raises(FormatError):
        read_graphs(path)


def test_not_a_zip_at_all(tmp_path: Path) -> None:
    path = tmp_path / "words.zip"
    path.write_text("words")
    with pytest.raises(FormatError, match="not a readable zip"):
        read_graphs(path)


@pytest.mark.parametrize("name", ["../evil.txt", "/etc/evil.txt", "a/../../evil.txt", "..\\evil.txt", "C:\\evil.txt"])
def test_a_path_that_leaves_the_archive(tmp_path: Path, name: str) -> None:
    path = make(tmp_path / "t.zip", {name: "1\n", "T_graph_indicator.txt": "1\n", "T_A.txt": ""})
    with pytest.raises(FormatError, match="leaves the archive"):
        read_graphs(path)
    assert not (tmp_path.parent / "evil.txt").exists()


def test_a_bomb_is_refused_by_its_ratio(tmp_path: Path) -> None:
    path = make(tmp_path / "bomb.zip", {"T_A.txt": "0" * (70 << 20), "T_graph_indicator.txt": "1\n"})
    assert path.stat().st_size < 1 << 20
    with pytest.raises(LimitError, match="decompression bomb"):
        read_graphs(path)


def test_a_bomb_is_refused_by_its_size_and_by_its_members(tmp_path: Path) -> None:
    path = make(tmp_path / "many.zip", {f"{i}.txt": "x" * 100 for i in range(20)})
    with pytest.raises(LimitError, match="max_zip_bytes is 1,000"):
        read_graphs(path, limits=Limits(max_zip_bytes=1000))
    with pytest.raises(LimitError, match="max_zip_entries is 10"):
        read_graphs(path, limits=Limits(max_zip_entries=10))


def test_links_and_encryption_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "link.zip"
    with zipfile.ZipFile(path, "w") as archive:
        link = zipfile.ZipInfo("T_A.txt")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
    with pytest.raises(FormatError, match="symbolic link"):
        read_graphs(path)
    content = bytearray(make(tmp_path / "locked.zip", {"T_A.txt": "1,2\n"}).read_bytes())
    content[content.index(b"PK\x01\x02") + 8] |= 1  # the flag in the table of contents
    (tmp_path / "locked.zip").write_bytes(content)
    with pytest.raises(FormatError, match="encrypted"):
        read_graphs(tmp_path / "locked.zip")


def test_a_member_that_is_longer_than_it_says_stays_bounded(tmp_path: Path) -> None:
    content = bytearray(make(tmp_path / "liar.zip", {"T_A.txt": "1,1\n" * 5000}).read_bytes())
    where = content.index(b"PK\x01\x02") + 24
    content[where : where + 4] = (40).to_bytes(4, "little")
    (tmp_path / "liar.zip").write_bytes(content)
    with pytest.raises(FormatError), open_archive(tmp_path / "liar.zip", DEFAULT_LIMITS) as archive:
        assert len(archive.read("T_A.txt")) <= 40
