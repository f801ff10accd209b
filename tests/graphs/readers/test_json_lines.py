"""JSON Lines records: the documented forms, and what each mistake is called."""

from __future__ import annotations

import json
import re
import time
import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pytest

from graphglass.errors import GraphError, LimitError
from graphglass.graphs.canonical import canonical_graph_set
from graphglass.graphs.concatenation import concatenate
from graphglass.graphs.labels import text_code
from graphglass.graphs.limits import Limits
from graphglass.graphs.read import read_graphs, read_report
from graphglass.graphs.readers.json_lines import write_json_lines
from graphglass.graphs.readers.rejects import ReadResult

EDGE = {"id": "ok", "nodes": 2, "edges": [[0, 1]]}


def read(tmp_path: Path, *lines: Any, **options: Any) -> ReadResult:
    path = tmp_path / "g.jsonl"
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines) + "\n")
    return read_report(path, **options)


def test_string_ids_labels_and_both_forms_of_edges(tmp_path: Path) -> None:
    result = read(
        tmp_path,
        {
            "id": "a",
            "label": "normal",
            "nodes": [{"id": "x", "label": "C"}, {"id": "y", "label": "O"}, {"id": "z"}],
            "edges": [{"source": "x", "target": "y", "label": "double"}, ["y", "z"]],
        },
    )
    graphs = result.graphs
    assert not result.rejects
    assert graphs.node_names is not None
    assert graphs.node_names.tolist() == ["x", "y", "z"]
    assert graphs.node_labels is not None
    assert [graphs.label_names[code] for code in graphs.node_labels.tolist()] == ["C", "O", ""]
    assert graphs.edge_labels is not None
    assert [graphs.label_names[code] for code in graphs.edge_labels.tolist()] == ["double", "double", "", ""]
    assert graphs.labels is not None
    assert graphs.labels.tolist() == ["normal"]
    assert graphs.removed.tolist() == [[0, 0, 0]]


def test_codes_of_text_are_the_same_everywhere() -> None:
    assert text_code("C") == 3660663412060528133
    assert text_code("C") != text_code("O")


def test_directed_records_keep_their_direction(tmp_path: Path) -> None:
    record = {"id": "d", "directed": True, "nodes": 3, "edges": [[0, 1], [1, 0], [1, 2], [2, 2], [1, 2]]}
    graphs = read(tmp_path, record).graphs
    assert graphs.edge_count == 2
    assert graphs.removed.tolist() == [[1, 1, 0]]
    assert graphs.neighbours.tolist() == [1, 0, 2, 1]
    assert graphs.outgoing.tolist() == [True, True, True, False]
    assert graphs.edge_attribute_names == ("count",)
    assert graphs.edge_attributes[:, 0].tolist() == [1, 1, 2, 2]
    undirected = read(tmp_path, record, directed=False).graphs
    assert undirected.removed.tolist() == [[1, 1, 1]]
    assert not undirected.directed
    assert undirected.edge_attributes is None


def test_networkx_node_link_data_is_understood() -> None:
    import networkx as nx

    data = nx.node_link_data(nx.path_graph(4), edges="links")
    assert read_graphs(data).edge_count == 3


def test_attributes_by_name_or_in_a_list(tmp_path: Path) -> None:
    named = {"id": "a", "nodes": [{"attributes": {"q": 1, "m": 2.5}}, {"attributes": {"m": 3, "q": 4}}]}
    graphs = read(tmp_path, named, {"id": "b", "nodes": [{"attributes": {"m": 7, "q": 8}}]}).graphs
    assert graphs.attribute_names == ("q", "m")
    np.testing.assert_array_equal(graphs.attributes, [[1, 2.5], [4, 3], [8, 7]])
    listed = read(tmp_path, {"id": "a", "nodes": [{"features": [1, 2]}]}).graphs
    assert listed.attribute_names == ("attribute_0", "attribute_1")


BAD = [
    ("{", "not a JSON record"),
    ("[1]", "a record is an object"),
    ('{"id": "b"}', "no 'nodes'"),
    ('{"id": "b", "nodes": "x"}', "'nodes' must be a list"),
    ('{"id": "b", "nodes": []}', "no nodes"),
    ('{"id": "b", "nodes": 0}', "no nodes"),
    ('{"id": "b", "nodes": 2, "edges": [[0, 2]]}', "edge 0 names node 2"),
    ('{"id": "b", "nodes": 2, "edges": [[0, -1]]}', "edge 0 names node -1"),
    ('{"id": "b", "nodes": 2, "edges": [[0, [1]]]}', r"edge 0 names node \[1\]"),
    ('{"id": "b", "nodes": 2, "edges": [[0, 1, 2]]}', "edge 0 must be an object"),
    ('{"id": "b", "nodes": 2, "edges": {"0": 1}}', "'edges' must be a list"),
    ('{"id": "b", "nodes": [{"id": 1}, {"id": "1"}]}', "node id '1' occurs more than once"),
    ('{"id": "b", "nodes": [{"id": 1.5}]}', "must be text or a whole number"),
    ('{"id": "b", "nodes": [{"label": 1.5}]}', "a label must be text or a whole number"),
    ('{"id": "b", "nodes": [{"attributes": {"q": NaN}}]}', "NaN; every number must be finite"),
    ('{"id": "b", "nodes": [{"attributes": [Infinity]}]}', "must be finite"),
    ('{"id": "b", "nodes": [{"attributes": [1e300]}]}', "has 1 attribute"),
    ('{"id": "b", "nodes": [{"attributes": ["x"]}]}', "must hold numbers"),
    ('{"id": "b", "nodes": [{"attributes": 3}]}', "must be an object or a list"),
    ('{"id": 1.5, "nodes": 1}', "the id must be text or a whole number, and not empty, found 1.5"),
    ('{"id": "", "nodes": 1}', "the id must be .* found ''"),
    ('{"id": ["x"], "nodes": 1}', r"the id must be .* found \['x'\]"),
    ('{"id": "b", "nodes": 999999999999}', "the limit max_nodes_per_graph"),
    ('{"id": "b", "nodes": 1, "label": [1]}', "class 'label'"),
    ("[" * 100_000, "not a JSON record"),
]


@pytest.mark.parametrize(("line", "reason"), BAD)
def test_a_bad_record_is_left_out_with_its_line_and_the_rest_goes_on(tmp_path: Path, line: str, reason: str) -> None:
    result = read(tmp_path, EDGE, "", line, {**EDGE, "id": "last"})
    assert result.graphs.ids == ("ok", "last")
    (reject,) = result.rejects
    assert reject.position == 3
    assert re.search(reason, reject.reason)


@pytest.mark.parametrize(("line", "reason"), BAD[:-1])
def test_strict_stops_at_the_first(tmp_path: Path, line: str, reason: str) -> None:
    with pytest.raises(GraphError, match=reason):
        read(tmp_path, EDGE, line, strict=True)


def test_bytes_that_are_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "g.jsonl"
    path.write_bytes(b'{"id": "\xff", "nodes": 1}\n{"id": "b", "nodes": 1}\n')
    result = read_report(path)
    assert result.graphs.ids == ("b",)
    assert result.rejects[0].position == 1


def test_mixed_attributes_follow_the_majority_or_the_fill(tmp_path: Path) -> None:
    lines = [
        {"id": "wide", "nodes": [{"attributes": [1, 2, 3]}]},
        {"id": "a", "nodes": [{"attributes": [1, 2]}]},
        {"id": "b", "nodes": [{"attributes": [3, 4]}]},
        {"id": "none", "nodes": 1},
        {"id": "gap", "nodes": [{"attributes": [5, 6]}, {}]},
    ]
    result = read(tmp_path, *lines)
    assert result.graphs.ids == ("a", "b")
    assert [(reject.position, reject.id) for reject in result.rejects] == [(1, "wide"), (4, "none"), (5, "gap")]
    assert "3 attributes" in result.rejects[0].reason
    assert "most records have 2 attributes" in result.rejects[0].reason
    assert "node 1 has no attribute 'attribute_0'" in result.rejects[2].reason
    filled = read(tmp_path, *lines, fill=-1.0)
    assert not filled.rejects
    assert filled.graphs.attributes is not None
    none = [-1, -1, -1]
    assert filled.graphs.attributes.tolist() == [[1, 2, 3], [1, 2, -1], [3, 4, -1], none, [5, 6, -1], none]


def test_whole_inputs_past_the_limits_stop(tmp_path: Path) -> None:
    with pytest.raises(LimitError, match="max_graphs is 1"):
        read(tmp_path, EDGE, {**EDGE, "id": "b"}, limits=Limits(max_graphs=1))
    with pytest.raises(LimitError, match="line 1 is longer than 10 bytes"):
        read(tmp_path, EDGE, limits=Limits(max_record_bytes=10))
    with pytest.raises(LimitError, match="max_file_bytes"):
        read(tmp_path, EDGE, {**EDGE, "id": "b"}, limits=Limits(max_file_bytes=60))


def test_some_class_labels_are_no_class_labels(tmp_path: Path) -> None:
    result = read(tmp_path, {**EDGE, "label": 1}, {"id": "b", "nodes": 1})
    assert result.graphs.labels is None
    assert "1 of 2 graphs have no class label" in result.notes[0]


@pytest.mark.parametrize("name", ["g.jsonl", "g.jsonl.gz"])
def test_a_failed_write_keeps_the_old_file(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    good = canonical_graph_set([2], [0], [1], attributes=[[1.0], [2.0]])
    write_json_lines(replace(good, ids=("old",)), path)
    before = path.read_bytes()
    bad = replace(concatenate([good, replace(good, ids=("b",))]), attributes=np.float32([[1], [2], [3], [np.nan]]))
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json_lines(bad, path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_compressed_lines_carry_the_name_of_their_file(tmp_path: Path) -> None:
    write_json_lines(canonical_graph_set([2], [0], [1]), tmp_path / "g.jsonl.gz")
    assert b"g.jsonl\0" in (tmp_path / "g.jsonl.gz").read_bytes()[:20]
    assert len(read_graphs(tmp_path / "g.jsonl.gz")) == 1


def test_text_among_numbers_is_called_text() -> None:
    record = {"nodes": [{"attributes": {"x": 1, "y": "a"}}, {"attributes": {"x": "12", "y": "b"}}], "edges": []}
    (reject,) = read_report([record]).rejects
    assert reject.reason == "attribute 'x' must be a number, found the text '12'"


def test_a_width_mismatch_shows_a_few_names() -> None:
    def graph(width: int) -> dict[str, object]:
        return {"id": str(width), "nodes": [{"attributes": [1.0] * width}], "edges": []}

    (reject,) = read_report([graph(200), {**graph(200), "id": "b"}, graph(1)]).rejects
    assert "most records have 200 attributes (attribute_0, " in reject.reason
    assert "attribute_5, ... (200 in all))" in reject.reason
    assert "attribute_6" not in reject.reason


@pytest.mark.parametrize("owner", ["node", "edge"])
def test_missing_attributes_take_no_memory(owner: str) -> None:
    """One item has all the attributes, or every item its own: as a table they would be gigabytes."""
    for count, names in ((60_000, {0: 4_000}), (2_000, dict.fromkeys(range(2_000), 50))):
        items: list[dict[str, Any]] = [{"id": i, "source": i, "target": i + 1} for i in range(count)]
        for place, width in names.items():
            items[place]["attributes"] = {f"a{place}_{i}": 1.0 for i in range(width)}
        nodes = items if owner == "node" else count + 1
        tracemalloc.start()
        result = read_report([{"nodes": nodes, "edges": [] if owner == "node" else items}, EDGE], format="json-lines")
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 200 << 20
        assert f"give every {owner} the same attributes" in result.rejects[0].reason
        assert result.graphs.ids == ("ok",)


def test_missing_attributes_of_many_records_take_no_memory() -> None:
    """With a value in place of the missing ones, all names that occur are columns of all graphs."""
    records = [{"nodes": [{"id": 0, "attributes": {f"a{i}_{k}": 1 for k in range(40)}}]} for i in range(90)]
    with pytest.raises(LimitError, match="Read graphs with the same attributes together"):
        read_report([*records, {"nodes": [{"id": i} for i in range(90_000)]}], format="json-lines", fill=0.0)
    with pytest.raises(LimitError, match="max_attributes"):
        read_report(records, format="json-lines", fill=0.0, limits=Limits(max_attributes=100))


def test_attributes_in_any_order_are_joined_at_once() -> None:
    names = [f"a{i}" for i in range(2_000)]
    records = []
    for place in range(100):
        order = names[place:] + names[:place]
        records.append({"nodes": [{"id": 0, "attributes": {name: int(name[1:]) for name in order}}]})
    start = time.process_time()
    graphs = read_report(records, format="json-lines").graphs
    assert time.process_time() - start < 2
    assert (graphs.attributes == np.arange(2_000)).all()


def test_a_record_without_an_id_is_called_by_its_line(tmp_path: Path) -> None:
    assert read(tmp_path, {"id": None, "nodes": 1}, {"nodes": 1}, {"id": 0, "nodes": 1}).graphs.ids == (
        "line-1", "line-2", "0",
    )  # fmt: skip
    assert read_report([{"id": 1.5, "nodes": 1}, {"nodes": 1}]).graphs.ids == ("graph-1",)


def test_half_of_a_surrogate_pair_is_refused_and_a_whole_one_is_read(tmp_path: Path) -> None:
    path = tmp_path / "g.jsonl"
    rows = (r'{"id": "a\ud800", "nodes": 1}', r'{"nodes": 1, "batch": "\udc00"}', r'{"id": "\ud83d\ude00", "nodes": 1}')
    path.write_text("\n".join(rows))
    result = read_report(path, keep="all")
    assert result.graphs.ids == ("\U0001f600",)
    assert [reject.position for reject in result.rejects] == [1, 2]
    assert result.rejects[0].reason.startswith(r"the escape \ud800 is half of a character")


def test_own_fields_of_nodes_and_edges_are_read_as_networkx_reads_them() -> None:
    nodes = [{"id": i, "service": name, "ms": 2.5 * i, "epoch": 1.7e9 + i} for i, name in enumerate("abc")]
    edges = [{"source": 0, "target": 1, "bytes": 7}, {"source": 1, "target": 2, "bytes": 9}]
    record = {"id": "t", "nodes": nodes, "edges": edges}
    graph = networkx.Graph(name="t")
    for node in nodes:
        graph.add_node(node["id"], **{key: node[key] for key in node if key != "id"})
    for edge in edges:
        graph.add_edge(edge["source"], edge["target"], bytes=edge["bytes"])
    found, expected = read_report([record], node_label="service"), read_report([graph], node_label="service")
    assert found.graphs.attribute_names == ("ms",)  # the time stamp is not compared
    assert found.graphs.edge_attribute_names == ("bytes",)
    assert found.graphs.content_hashes() == expected.graphs.content_hashes()
    assert "property 'service' is text and was not used; pass node_label='service'" in read_report([record]).notes[0]


def test_where_attributes_are_stated_other_fields_are_named_and_unused() -> None:
    node = {"id": 0, "attributes": {"mass": 1.0}, "rank": 3}
    result = read_report([{"id": "a", "nodes": [node], "edges": []}])
    assert result.graphs.attribute_names == ("mass",)
    assert result.notes == ("node field 'rank' was not used; put it into 'attributes' of the node",)


def test_a_graph_past_the_limit_is_refused_before_its_nodes_are_read() -> None:
    """Two million empty objects in place of nodes took five seconds and 900 MB to be refused."""
    (reject,) = read_report([{"nodes": [None] * 4}], limits=Limits(max_nodes_per_graph=3)).rejects
    assert "the limit max_nodes_per_graph is 3" in reject.reason
