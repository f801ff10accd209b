"""TU folders and zips: right when they are right, and a message that helps when they are not."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from graphglass.errors import FormatError, GraphError, LimitError
from graphglass.graphs.limits import Limits
from graphglass.graphs.molecules import node_label_text
from graphglass.graphs.read import read_graphs, read_report
from graphglass.graphs.readers.tu import read_tu

# Two graphs: a path 1-2-3 with node 4 alone, and an edge 5-6.
GOOD = {
    "A": "1, 2\n2, 1\n2,3\n3,2\n5, 6\n6, 5\n",
    "graph_indicator": "1\n1\n1\n1\n2\n2\n",
    "graph_labels": "-1\n1\n",
    "node_labels": "6\n7\n6\n8\n6\n6\n",
    "node_attributes": "0.5, 1\n1.5, 2\n2.5, 3\n3.5, 4\n4.5, 5\n5.5, 6\n",
    "edge_labels": "0\n0\n1\n1\n2\n2\n",
}
Make = Callable[..., Path]


@pytest.fixture(params=["folder", "zip"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    """Writes a dataset called TOY; a part given as None is left out."""

    def write(**changes: str | None) -> Path:
        parts = {name: text for name, text in {**GOOD, **changes}.items() if text is not None}
        if request.param == "folder":
            folder = tmp_path / "TOY"
            folder.mkdir()
            for name, text in parts.items():
                (folder / f"TOY_{name}.txt").write_text(text)
            return folder
        path = tmp_path / "TOY.zip"
        with zipfile.ZipFile(path, "w") as archive:
            for name, text in parts.items():
                archive.writestr(f"TOY/TOY_{name}.txt", text)
            archive.writestr("__MACOSX/TOY/._TOY_A.txt", "junk")
            archive.writestr("TOY/README.txt", "words")
        return path

    return write


def test_every_part_is_read(make: Make) -> None:
    graphs = read_tu(make())
    assert graphs.ids == ("TOY-1", "TOY-2")
    assert graphs.sizes.tolist() == [4, 2]
    assert graphs.edge_counts.tolist() == [2, 1]
    assert graphs.labels is not None
    assert graphs.labels.tolist() == [-1, 1]
    assert graphs.node_labels is not None
    assert graphs.node_labels.tolist() == [6, 7, 6, 8, 6, 6]
    assert graphs.attributes is not None
    assert graphs.attributes[:, 1].tolist() == [1, 2, 3, 4, 5, 6]
    assert graphs.edge_labels is not None
    assert graphs.edge_labels.tolist() == [0, 0, 1, 1, 2, 2]
    assert graphs.removed.tolist() == [[0, 0, 0], [0, 0, 0]]


def test_edges_once_or_four_times_are_the_same_graphs(make: Make, tmp_path: Path) -> None:
    bare = {"edge_labels": None}
    once = read_tu(make(A="1,2\n2,3\n5,6\n", **bare))
    other = tmp_path / "again"
    other.mkdir()
    for name, text in {**GOOD, "A": GOOD["A"] * 2}.items():
        if name != "edge_labels":
            (other / f"TOY_{name}.txt").write_text(text)
    assert read_tu(other).content_hashes() == once.content_hashes()
    assert read_tu(other).removed[:, 1].tolist() == [4, 2]


def test_rows_of_a_graph_need_not_stand_together(make: Make) -> None:
    graphs = read_tu(
        make(
            graph_indicator="2\n1\n2\n1\n1\n2\n",
            A="1,3\n3,6\n2,4\n",
            edge_labels=None,
            node_labels="1\n2\n3\n4\n5\n6\n",
        )
    )
    assert graphs.node_labels is not None
    assert graphs.node_labels.tolist() == [2, 4, 5, 1, 3, 6]
    assert graphs.edge_counts.tolist() == [1, 2]


def test_no_edges_no_extras_and_windows_line_ends(make: Make) -> None:
    only = dict.fromkeys(("graph_labels", "node_labels", "node_attributes", "edge_labels"))
    graphs = read_tu(make(A="", graph_indicator="1\r\n1\r\n\r\n", **only))
    assert (len(graphs), graphs.node_count, graphs.edge_count, graphs.labels) == (1, 2, 0, None)


def test_regression_targets_stay_floats(make: Make) -> None:
    labels = read_tu(make(graph_labels="0.25\n1.5\n")).labels
    assert labels is not None
    assert labels.tolist() == [0.25, 1.5]


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"A": "1, 2\n2\n"}, FormatError, r"TOY_A.txt line 2: expected 2 whole numbers, found 1 columns: '2'"),
        ({"A": "1, 2, 3\n"}, FormatError, r"TOY_A.txt line 1: expected 2"),
        ({"A": "1, two\n"}, FormatError, r"TOY_A.txt line 1: .*'1, two'"),
        ({"A": "1, 7\n", "edge_labels": None}, GraphError, r"line 1 joins nodes 1 and 7.*nodes 1\.\.6"),
        ({"A": "0, 1\n", "edge_labels": None}, GraphError, r"line 1 joins nodes 0 and 1"),
        ({"node_attributes": "1,2\n" * 5 + "1\n"}, FormatError, r"TOY_node_attributes.txt line 6: expected 2"),
        ({"node_attributes": "1,2\n" * 5}, FormatError, r"5 lines, but the dataset has 6 nodes"),
        ({"node_labels": "1\n" * 7}, FormatError, r"7 lines, but the dataset has 6 nodes"),
        ({"edge_labels": "1\n"}, FormatError, r"1 lines, but the dataset has 6 edges"),
        ({"graph_labels": "1\n"}, FormatError, r"graph_labels.txt has 1 lines.*graphs up to 2"),
        ({"graph_indicator": "0\n1\n"}, FormatError, r"line 1: graphs count from 1, found 0"),
        ({"graph_indicator": ""}, FormatError, r"is empty"),
        ({"graph_indicator": None}, FormatError, r"one NAME_graph_indicator.txt"),
        ({"A": None}, FormatError, r"no TOY_A.txt"),
    ],
)
def test_broken_files_are_named_with_their_line(
    make: Make, changes: dict[str, str | None], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        read_tu(make(**changes))


@pytest.mark.parametrize("bad", ["nan", "NaN", "inf", "-inf", "1e300"])
def test_a_graph_with_a_value_that_is_not_finite_is_left_out(make: Make, bad: str) -> None:
    result = read_report(make(node_attributes=GOOD["node_attributes"].replace("2.5", bad)))
    assert result.graphs.ids == ("TOY-2",)
    assert result.graphs.attributes is not None
    assert result.graphs.attributes[:, 0].tolist() == [4.5, 5.5]
    (reject,) = result.rejects
    assert (reject.id, reject.position) == ("TOY-1", 1)
    assert re.search("node 2 (has no attribute|is infinite)|of node 2 is infinite", reject.reason)


def test_an_edge_across_graphs_leaves_both_out(make: Make) -> None:
    third = {"graph_indicator": GOOD["graph_indicator"] + "3\n", "graph_labels": "0\n0\n1\n"}
    path = make(A="1,2\n4,5\n", edge_labels=None, node_labels=None, node_attributes=None, **third)
    result = read_report(path)
    assert result.graphs.ids == ("TOY-3",)
    assert [reject.id for reject in result.rejects] == ["TOY-1", "TOY-2"]
    assert "TOY_A.txt line 2 joins TOY-1 to TOY-2" in result.rejects[0].reason
    with pytest.raises(GraphError, match="line 2 joins TOY-1 to TOY-2"):
        read_graphs(path, strict=True)


def test_an_empty_graph_is_left_out_and_rows_stay_aligned(make: Make) -> None:
    result = read_report(make(graph_indicator="1\n1\n1\n1\n3\n3\n", graph_labels="7\n8\n9\n"))
    assert result.graphs.ids == ("TOY-1", "TOY-3")
    assert result.graphs.labels is not None
    assert result.graphs.labels.tolist() == [7, 9]
    assert [(reject.id, "empty" in reject.reason) for reject in result.rejects] == [("TOY-2", True)]


def test_graphs_past_the_limits_are_left_out(make: Make) -> None:
    path = make()
    result = read_report(path, limits=Limits(max_nodes_per_graph=3))
    assert result.graphs.ids == ("TOY-2",)
    assert "4 nodes, the limit max_nodes_per_graph is 3" in result.rejects[0].reason
    result = read_report(path, limits=Limits(max_edges_per_graph=3))
    assert result.graphs.ids == ("TOY-2",)


@pytest.mark.parametrize(
    "limits", [Limits(max_nodes=5), Limits(max_edges=5), Limits(max_graphs=1), Limits(max_attributes=1)]
)
def test_a_dataset_past_the_limits_is_refused(make: Make, limits: Limits) -> None:
    with pytest.raises(LimitError, match="the limit max_"):
        read_tu(make(), limits=limits)


def test_two_datasets_in_one_place_are_refused(make: Make, tmp_path: Path) -> None:
    path = make()
    if path.is_dir():
        (path / "OTHER_graph_indicator.txt").write_text("1\n")
        with pytest.raises(FormatError, match="several datasets"):
            read_tu(path)


def test_the_bundled_molecules_are_right() -> None:
    from graphglass.graphs.datasets import load_dataset

    graphs = load_dataset("MUTAG")
    assert (len(graphs), graphs.node_count, graphs.edge_count) == (188, 3371, 3721)
    assert graphs.labels is not None
    assert np.bincount(graphs.labels + 1).tolist() == [63, 0, 125]


@pytest.mark.parametrize(
    "readme",
    ["Node labels:\n\n  6  C\n  7  N\n\nEdge labels:\n\n 0 single\n", "Node labels were\nC 6\nN 7\n"],
)
def test_the_readme_says_what_labels_stand_for(make: Make, readme: str) -> None:
    graphs = read_tu(make(label_readme=f"{readme}\nClass labels were converted:\n\n\t0\tx\n"))
    assert graphs.code_names["node"] == {6: "C", 7: "N"}
    assert graphs.code_names.get("edge", {}) == ({0: "single"} if "single" in readme else {})
    assert [node_label_text(graphs, code) for code in (6, 7, 8)] == ["C", "N", "8"]
    assert graphs[0].code_names == graphs.code_names
