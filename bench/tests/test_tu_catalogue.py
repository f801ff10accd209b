"""The datasets by name: found, verified, fetched from a server of the test's own, never hanging."""

from __future__ import annotations

import shutil
import socket
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from glassbench.tu_catalogue import CATALOGUE, copy_bundled, dataset_entry, fetch_dataset, verify_dataset
from graphglass.errors import DataError
from graphglass.graphs.datasets import bundled_path, find_dataset, load_dataset


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def site(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A web server and the folder it serves."""
    folder = tmp_path / "site"
    folder.mkdir()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}", folder
        server.shutdown()
        thread.join()


def test_twelve_names_with_the_counts_of_the_paper() -> None:
    # graphs, classes, average nodes, average edges as printed in tab:dataset_stats; AIDS as TU publishes it
    paper = {
        "PROTEINS": (1113, 2, 39.1, 72.8), "DD": (1178, 2, 284.3, 715.7), "ENZYMES": (600, 6, 32.6, 62.1),
        "MUTAG": (188, 2, 17.9, 19.8), "DHFR": (756, 2, 42.4, 44.5), "BZR": (405, 2, 35.8, 38.4),
        "COX2": (467, 2, 41.2, 43.5), "AIDS": (2000, 2, 15.7, 16.2), "NCI1": (4110, 2, 29.8, 32.3),
        "IMDB-BINARY": (1000, 2, 19.8, 96.5), "COLLAB": (5000, 3, 74.5, 2457.8),
        "REDDIT-BINARY": (2000, 2, 429.6, 497.8),
    }  # fmt: skip
    assert set(CATALOGUE) == set(paper)
    for name, (graphs, classes, nodes, edges) in paper.items():
        entry = CATALOGUE[name]
        assert (entry.graphs, entry.classes) == (graphs, classes)
        assert entry.average_nodes == pytest.approx(nodes, abs=0.08)
        assert entry.average_edges == pytest.approx(edges, abs=0.6 if name == "COLLAB" else 0.06)
        assert len(entry.sha256) == 64


def test_names_in_any_case_and_as_the_paper_writes_them() -> None:
    assert dataset_entry("mutag").name == "MUTAG"
    assert dataset_entry("D&D").name == "DD"
    assert dataset_entry("reddit-b").name == "REDDIT-BINARY"
    with pytest.raises(DataError, match=r"no dataset called 'CORA'. Known: MUTAG"):
        dataset_entry("CORA")


def test_mutag_needs_nothing_and_others_say_how_to_get_them(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("GRAPHGLASS_DATA", raising=False)
    assert len(load_dataset("MUTAG")) == 188
    with pytest.raises(DataError, match=r"glassbench data get NCI1 --data-root"):
        load_dataset("NCI1")
    shutil.unpack_archive(str(bundled_path("MUTAG")), tmp_path)
    monkeypatch.setenv("GRAPHGLASS_DATA", str(tmp_path))
    assert find_dataset("MUTAG") == tmp_path / "MUTAG"
    assert len(load_dataset("MUTAG")) == 188


def test_hash_and_counts_are_told_apart(tmp_path: Path) -> None:
    path = copy_bundled("MUTAG", tmp_path)
    assert path is not None
    check = verify_dataset("MUTAG", path)
    assert (check.hash_matches, check.counts_match, check.accepted) == (True, True, True)
    path.write_bytes(path.read_bytes() + b"\0")  # another file with the same graphs
    again = verify_dataset("MUTAG", path)
    assert (again.hash_matches, again.counts_match, again.accepted) == (False, True, True)
    other = verify_dataset("NCI1", path)
    assert (other.hash_matches, other.counts_match, other.accepted) == (False, False, False)


def test_fetching_keeps_only_the_right_dataset(site: tuple[str, Path], tmp_path: Path) -> None:
    address, folder = site
    copy_bundled("MUTAG", folder)
    root = tmp_path / "root"
    assert fetch_dataset("MUTAG", root, site=address) == root / "MUTAG.zip"
    assert verify_dataset("MUTAG", root / "MUTAG.zip").hash_matches
    shutil.copy(folder / "MUTAG.zip", folder / "NCI1.zip")
    with pytest.raises(DataError, match="is not NCI1"):
        fetch_dataset("NCI1", root, site=address)
    (folder / "DD.zip").write_text("words")
    with pytest.raises(DataError, match=r"DD could not be fetched.*not a readable zip"):
        fetch_dataset("DD", root, site=address)
    with pytest.raises(DataError, match="404"):
        fetch_dataset("BZR", root, site=address)
    assert [path.name for path in root.iterdir()] == ["MUTAG.zip"]


def test_a_silent_server_and_a_closed_port_end_in_an_error(tmp_path: Path) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(DataError, match="timed out"):
            fetch_dataset("NCI1", tmp_path, site=address, timeout=0.3)
    with pytest.raises(DataError, match=r"put NCI1.zip into"):
        fetch_dataset("NCI1", tmp_path, site=address, timeout=0.3)
    with pytest.raises(DataError, match="http or https"):
        fetch_dataset("NCI1", tmp_path, site="file:///etc")
    assert not list(tmp_path.iterdir())
