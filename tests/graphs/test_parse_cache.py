"""The cache gives the same graphs, faster, and never a wrong one."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphglass.files import cache_root
from graphglass.graphs import parse_cache
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.limits import Limits
from graphglass.graphs.parse_cache import cache_entry, load_entry, store_entry
from graphglass.graphs.read import read_report
from graphglass.graphs.readers.tu import read_tu


@pytest.fixture
def dataset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(parse_cache, "_WORTHWHILE", 1)
    monkeypatch.setenv("GRAPHGLASS_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "T"
    folder.mkdir()
    (folder / "T_A.txt").write_text("1,2\n2,1\n3,4\n")
    (folder / "T_graph_indicator.txt").write_text("1\n1\n2\n2\n2\n")
    return folder


@given(st.from_type(GraphSet))
@settings(max_examples=25, deadline=None)
def test_columns_come_back_as_they_were(graphs: GraphSet) -> None:
    with tempfile.TemporaryDirectory() as name:
        store_entry(graphs, Path(name) / "entry.npz")
        back = load_entry(Path(name) / "entry.npz")
    assert back is not None
    assert back.ids == graphs.ids
    assert back.content_hashes() == graphs.content_hashes()
    assert back.label_names == graphs.label_names
    assert back.attribute_names == graphs.attribute_names
    np.testing.assert_array_equal(back.removed, graphs.removed)
    np.testing.assert_array_equal(back.labels, graphs.labels)
    np.testing.assert_array_equal(back.node_names, graphs.node_names)


def test_the_second_load_does_not_parse(dataset: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = read_tu(dataset)
    monkeypatch.setattr("graphglass.graphs.readers.tu._read", lambda *_: pytest.fail("parsed again"))
    assert read_tu(dataset).content_hashes() == first.content_hashes()


def test_only_the_owner_can_read_the_cached_graphs(dataset: Path) -> None:
    read_tu(dataset)
    modes = {path.stat().st_mode & 0o777 for path in cache_root().rglob("*.npz")}
    assert modes == {0o600}


def test_a_changed_source_is_parsed_again(dataset: Path) -> None:
    assert read_tu(dataset).edge_count == 2
    (dataset / "T_A.txt").write_text("1,2\n2,1\n3,4\n4,5\n")
    assert read_tu(dataset).edge_count == 3


@pytest.mark.parametrize("damage", ["flip", "cut", "remove", "words"])
def test_a_damaged_entry_is_made_again(dataset: Path, damage: str) -> None:
    first = read_tu(dataset)
    entry = cache_entry(dataset)
    assert entry is not None
    content = entry.read_bytes()
    if damage == "flip":
        place = content.index(first.neighbours.tobytes())
        entry.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
    elif damage == "cut":
        entry.write_bytes(content[:-3])
    elif damage == "remove":
        entry.unlink()
    else:
        entry.write_text("words")
    assert load_entry(entry) is None
    assert read_tu(dataset).content_hashes() == first.content_hashes()
    assert load_entry(entry) is not None


def test_limits_hold_for_cached_graphs_too(dataset: Path) -> None:
    assert len(read_tu(dataset)) == 2
    result = read_report(dataset, limits=Limits(max_nodes_per_graph=2))
    assert result.graphs.ids == ("T-1",)
    assert len(read_tu(dataset)) == 2


def test_a_cache_that_cannot_be_written_costs_nothing_but_time(dataset: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = dataset / "file"
    blocked.write_text("")
    monkeypatch.setenv("GRAPHGLASS_CACHE", str(blocked))
    assert len(read_tu(dataset)) == 2
    assert cache_root() == blocked


def test_a_large_set_loads_from_the_cache_in_time(tmp_path: Path) -> None:
    # as many edge ends as COLLAB
    nodes, ends = 370_000, 24_572_158
    offsets = np.linspace(0, ends, nodes + 1).astype(np.int64)
    graphs = GraphSet(np.array([0, nodes]), offsets, np.zeros(ends, np.int32), ("g",))
    store_entry(graphs, tmp_path / "entry.npz")
    start = time.process_time()  # not the clock on the wall: other work on the machine is not ours
    assert load_entry(tmp_path / "entry.npz") is not None
    assert time.process_time() - start < 2.0
