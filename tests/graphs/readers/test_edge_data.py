"""One set of directed transfers through every format: direction, labels, amounts and repeated edges all arrive."""

from __future__ import annotations

import json
import resource
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import igraph
import networkx
import numpy as np
import pandas
import polars
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from scipy import sparse
from torch_geometric.data import Data, TemporalData

from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.read import read_graphs

# (source, target, kind, amount, time); the first two are parallel.
TRANSFERS = [
    ("a", "b", "card", 5.0, 1.0),
    ("a", "b", "card", 7.0, 3.0),
    ("b", "a", "cash", 1.5, 2.0),
    ("b", "c", "card", 2.0, 9.0),
]
EXPECTED = {("a", "b", "card", 12.0, 2.0, 2.0), ("b", "a", "cash", 1.5, 2.0, 1.0), ("b", "c", "card", 2.0, 9.0, 1.0)}
TABLE = {
    "graph_id": ["g"] * 4,
    **{name: [row[i] for row in TRANSFERS] for i, name in enumerate(("source", "target", "label", "amount", "time"))},
}


def transfers(graphs: GraphSet) -> set[tuple[Any, ...]]:
    """Each edge with the names of its ends, its label, amount, time and count."""
    assert graphs.directed
    assert graphs.node_names is not None
    listed = graphs.edge_list()
    assert listed.labels is not None
    assert listed.attributes is not None
    order = [graphs.edge_attribute_names.index(name) for name in ("amount", "time", "count")]
    names = graphs.node_names
    return {
        (str(names[source]), str(names[target]), graphs.label_names[int(code)], *row[order].tolist())
        for source, target, code, row in zip(
            listed.sources, listed.targets, listed.labels, listed.attributes, strict=True
        )
    }


def multi_graph() -> networkx.MultiDiGraph:
    graph = networkx.MultiDiGraph()
    graph.add_nodes_from("abc")
    for source, target, kind, amount, time in TRANSFERS:
        graph.add_edge(source, target, label=kind, amount=amount, time=time)
    return graph


def as_json(path: Path) -> Path:
    edges = [
        {"source": s, "target": t, "label": kind, "attributes": {"amount": amount, "time": time}}
        for s, t, kind, amount, time in TRANSFERS
    ]
    path = path.with_suffix(".jsonl")
    path.write_text(json.dumps({"id": "g", "directed": True, "nodes": ["a", "b", "c"], "edges": edges}))
    return path


def as_gexf(path: Path) -> Path:
    path = path.with_suffix(".gexf")
    edges = "".join(
        f'<edge source="{s}" target="{t}"><attvalues><attvalue for="0" value="{kind}"/><attvalue for="1" '
        f'value="{amount}"/><attvalue for="2" value="{time}"/></attvalues></edge>'
        for s, t, kind, amount, time in TRANSFERS
    )
    path.write_text(
        '<gexf xmlns="http://gexf.net/1.3" version="1.3"><graph defaultedgetype="directed"><attributes class="edge">'
        '<attribute id="0" title="label" type="string"/><attribute id="1" title="amount" type="double"/>'
        '<attribute id="2" title="time" type="float"/></attributes><nodes><node id="a"/><node id="b"/><node id="c"/>'
        f"</nodes><edges>{edges}</edges></graph></gexf>"
    )
    return path


def as_csv(path: Path) -> Path:
    pandas.DataFrame(TABLE).to_csv(path.with_suffix(".csv"), index=False)
    return path.with_suffix(".csv")


def as_parquet(path: Path) -> Path:
    pq.write_table(pa.table(TABLE), path.with_suffix(".parquet"))
    return path.with_suffix(".parquet")


def as_graphml(path: Path) -> Path:
    networkx.write_graphml(multi_graph(), path.with_suffix(".graphml"))
    return path.with_suffix(".graphml")


def as_gml(path: Path) -> Path:
    edges = "".join(
        f'edge [ source {"abc".index(s)} target {"abc".index(t)} label "{kind}" amount {amount} time {time} ]\n'
        for s, t, kind, amount, time in TRANSFERS
    )
    path = path.with_suffix(".gml")
    path.write_text(f"# three accounts\ngraph [ directed 1 node [ id 0 ] node [ id 1 ] node [ id 2 ]\n{edges}]\n")
    return path


def as_igraph(_: Path) -> igraph.Graph:
    graph = igraph.Graph(directed=True)
    graph.add_vertices(["a", "b", "c"])
    graph.add_edges([row[:2] for row in TRANSFERS])
    for place, name in enumerate(("label", "amount", "time"), 2):
        graph.es[name] = [row[place] for row in TRANSFERS]
    return graph


@pytest.mark.parametrize(
    "make",
    [
        as_json, as_csv, as_parquet, as_graphml, as_gexf, as_igraph, lambda _: multi_graph(),
        lambda _: pandas.DataFrame(TABLE), lambda _: polars.DataFrame(TABLE), lambda _: pa.table(TABLE),
        lambda _: pandas.DataFrame(TABLE).astype({"label": "category", "source": "category"}),
    ],
)  # fmt: skip
def test_every_format_carries_direction_labels_and_numbers(make: Callable[[Path], Any], tmp_path: Path) -> None:
    graphs = read_graphs(make(tmp_path / "g"), directed=True)
    assert transfers(graphs) == EXPECTED
    smallest = read_graphs(make(tmp_path / "g"), directed=True, merge={"amount": "min", "time": "max"})
    assert ("a", "b", "card", 5.0, 3.0, 2.0) in transfers(smallest)


@pytest.mark.parametrize("make", [as_json, as_graphml, as_gexf, as_gml, as_igraph, lambda _: multi_graph()])
def test_the_input_says_that_edges_have_a_direction(make: Callable[[Path], Any], tmp_path: Path) -> None:
    assert read_graphs(make(tmp_path / "g")).directed
    assert not read_graphs(make(tmp_path / "g"), directed=False).directed


def test_columns_of_other_names(tmp_path: Path) -> None:
    frame = pandas.DataFrame(TABLE).rename(
        columns={"graph_id": "case", "source": "from", "target": "to", "label": "kind"}
    )
    names = {"graph_column": "case", "source_column": "from", "target_column": "to", "edge_label": "kind"}
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_parquet(tmp_path / "a.parquet")
    for source in (tmp_path / "a.csv", tmp_path / "a.parquet", frame):
        graphs = read_graphs(source, directed=True, **names)
        assert transfers(graphs) == EXPECTED
        assert graphs.ids == ("g",)


def test_tu_edge_attributes(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "T.zip", "w") as archive:
        for part, lines in {
            "A": "1, 2\n2, 1\n2, 3\n3, 2\n4, 5\n5, 4\n", "graph_indicator": "1\n1\n1\n2\n2\n",
            "edge_attributes": "0.5, 1\n0.5, 1\n2, 3\n4, 5\n7, 8\n7, 8\n",
        }.items():  # fmt: skip
            archive.writestr(f"T/T_{part}.txt", lines)
    graphs = read_graphs(tmp_path / "T.zip")
    assert graphs.edge_attribute_names == ("value_0", "value_1")
    listed = graphs.edge_list()
    assert listed.attributes is not None
    assert listed.attributes.tolist() == [[0.5, 1.0], [3.0, 4.0], [7.0, 8.0]]  # both ways, another value: the mean
    directed = read_graphs(tmp_path / "T.zip", directed=True)[0].edge_list()
    assert directed.attributes is not None
    assert directed.attributes.tolist() == [[0.5, 1.0], [0.5, 1.0], [2.0, 3.0], [4.0, 5.0]]


def test_pyg_weights_and_events() -> None:
    edges = torch.tensor([[0, 0, 1], [1, 1, 2]])
    graphs = read_graphs(Data(edge_index=edges, edge_weight=torch.tensor([1.0, 2.0, 4.0]), num_nodes=3))
    assert (graphs.directed, graphs.edge_attribute_names) == (True, ("weight", "count"))
    assert graphs.edge_list().attributes.tolist() == [[3.0, 2.0], [4.0, 1.0]]
    events = TemporalData(
        src=torch.tensor([0, 0, 2]), dst=torch.tensor([1, 1, 0]), t=torch.tensor([10, 20, 2**40]),
        msg=torch.tensor([[0.5], [1.5], [2.5]]),
    )  # fmt: skip
    graphs = read_graphs(events)
    assert (graphs.directed, graphs.edge_attribute_names) == (True, ("time", "msg_0", "count"))
    assert graphs.edge_list().attributes.tolist() == [[15.0, 1.0, 2.0], [float(2**40), 2.5, 1.0]]


def test_matrix_values_are_weights() -> None:
    one_way = sparse.csr_array(np.array([[0, 2.5, 0], [0, 0, 0], [-1, 0, 0]]))
    graphs = read_graphs(one_way)
    listed = graphs.edge_list()
    assert (graphs.directed, graphs.edge_attribute_names) == (True, ("weight",))
    assert (listed.sources.tolist(), listed.targets.tolist()) == ([0, 2], [1, 0])
    assert listed.attributes.tolist() == [[2.5], [-1.0]]
    both = read_graphs(one_way + one_way.T)
    assert not both.directed
    assert both.edge_list().attributes.tolist() == [[2.5], [-1.0]]


@pytest.mark.slow
def test_a_million_directed_weighted_edges_are_read_in_seconds(tmp_path: Path) -> None:
    edges, random = 1_000_000, np.random.default_rng(0)
    graph = np.sort(random.integers(0, 20_000, edges))
    table = {
        "graph_id": graph, "source": random.integers(0, 40, edges), "target": random.integers(0, 40, edges),
        "amount": random.lognormal(size=edges), "time": random.integers(0, 10**9, edges),
    }  # fmt: skip
    pq.write_table(pa.table(table), tmp_path / "edges.parquet")
    before = resource.getrusage(resource.RUSAGE_SELF)
    graphs = read_graphs(tmp_path / "edges.parquet", directed=True)
    after = resource.getrusage(resource.RUSAGE_SELF)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 30  # measured: about 3
    loops = table["source"] == table["target"]
    assert graphs.edge_list().attributes[:, 0].sum() == pytest.approx(table["amount"][~loops].sum())
    assert graphs.removed[:, 0].sum() == loops.sum()
