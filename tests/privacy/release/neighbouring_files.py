"""Files of private graphs in every format a release reads, and odd records to put in place of one."""

import csv
import gzip
import io
import json
import math
import zipfile
from dataclasses import dataclass
from typing import Any

import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

N, PLACE = 8, 3  # records of a file, and the one that is replaced


@dataclass(frozen=True)
class Graph:
    """A graph as its writer knows it: rings with a tail, labelled or not."""

    nodes: list[Any]  # labels, None without
    edges: list[tuple[int, int, Any]]


def rings(labels, edge_labels, count=N):
    """Graphs of 4 to 11 nodes; labels are numbers, texts or None, and an edge may be listed back with another label."""
    made = []
    for i in range(count):
        n = 4 + i % 8
        pairs = [(k, (k + 1) % (n - 1)) for k in range(n - 1)] + [(0, n - 1)]
        edges = [(a, b, edge_labels and edge_labels[(a + i) % 2]) for a, b in pairs]
        made.append(Graph([labels and labels[(k + i) % 3] for k in range(n)], edges))
    return made


KINDS = {
    "bare": rings(None, None),
    "numbers": rings([0, 1, 2], [1, 2]),
    "texts": rings(["C", "N", "O"], ["single", "double"]),
}


def json_record(graph):
    nodes = [{"id": i} | ({} if label is None else {"label": label}) for i, label in enumerate(graph.nodes)]
    edges = [{"source": a, "target": b} | ({} if c is None else {"label": c}) for a, b, c in graph.edges]
    first = edges[0]
    back = first | {"source": first["target"], "target": first["source"]} | ({"label": 9} if "label" in first else {})
    return {"nodes": nodes, "edges": [*edges, back]}


def _lines(records):
    return b"".join(record + b"\n" for record in records)


# JSON Lines

ODD_JSON = [
    {"nodes": [{"id": 0, "label": "rare"}, {"id": 1}], "edges": [[0, 1]]},
    {"nodes": [{"id": 0, "label": 7}, {"id": 1, "label": 7}], "edges": [{"source": 0, "target": 1, "label": "odd"}]},
    {"nodes": 3, "edges": [{"source": 0, "target": 1, "label": 5}, [1, 2]]},
    {"nodes": 2, "edges": [{"source": 0, "target": 1, "label": 1.5}]},
    {"nodes": [{"id": 0, "label": None}, {"id": 1, "label": True}], "edges": []},
    {"directed": True, "nodes": 3, "edges": [[0, 1], [1, 2]]},
    {"directed": "no", "nodes": 3, "edges": [[0, 1], [1, 0]]},
    {"nodes": [{"id": 0, "attributes": {"charge": 1.0}}, {"id": 1}], "edges": [[0, 1]]},
    {"nodes": [{"id": 0, "attributes": [1e300, 2]}, {"id": 1, "attributes": [3]}], "edges": [[0, 1]]},
    {"nodes": 3, "edges": [{"source": 0, "target": 1, "attributes": {"amount": 1e9}}]},
    {"id": "twin", "nodes": 3, "edges": []}, {"id": None, "nodes": 3, "edges": []}, {"id": [], "nodes": 3},
    {"label": "class", "nodes": 3, "columns": {"name": "x"}}, {"label": 1, "columns": 5, "nodes": 3},
    {"nodes": 0}, {"nodes": 10**9}, {"nodes": -1}, {"nodes": "x"}, {"nodes": []}, {},
    {"nodes": 2, "edges": [[0, 9]]}, {"nodes": 2, "edges": [[0, 0], [0, 1], [0, 1]]}, {"nodes": 2, "edges": 7},
    {"nodes": ["a", "a"], "edges": []}, {"nodes": ["1", 1], "edges": []},
    {"nodes": 2, "chemistry": {"environments": [[1, 2, 3]] * 2, "contributions": [[0.0] * 3] * 2}},
    [], 7, "text", None,
]  # fmt: skip
ODD_LINES = [
    *(json.dumps(record).encode() for record in ODD_JSON),
    b"{", b"not JSON", b'{"nodes": 2, "edges": [[0, NaN]]}', b"\xff\xfe\x00", b'{"nodes": ' + b"9" * 5000 + b"}",
    b"[" * 5000, b'{"nodes": 2, "nodes": 5}', b'\xef\xbb\xbf{"nodes": 2}', b'{"id": "\\ud800", "nodes": 2}', b"\x00",
]  # fmt: skip


def json_lines(folder, graphs, odd=None):
    lines = [json.dumps(json_record(graph)).encode() for graph in graphs]
    (folder / "g.jsonl").write_bytes(
        _lines([*lines[:PLACE], lines[PLACE] if odd is None else odd, *lines[PLACE + 1 :]])
    )
    return folder / "g.jsonl"


# Molecules

SMILES = ["CCO", "CC(=O)O", "c1ccccc1", "CCN", "C1CC1", "CC#N", "OC=O", "CCCC"]
ODD_SMILES = [
    b"C", b"[H][H]", b"smiles name", b"C1CC", b"[Xx]", b"*", b"CCO twin", b"C" * 100_001, b"\xff", "CÖ".encode(),
    b"C.C",     b"N#N\tname", b'"', b'C,"C', b"C;C",
]  # fmt: skip


def _smiles(graphs):
    """As many molecules as there are graphs."""
    return [SMILES[i % len(SMILES)] for i in range(len(graphs))]


def smiles_lines(folder, graphs, odd=None):
    lines = [text.encode() for text in _smiles(graphs)]
    lines[PLACE] = lines[PLACE] if odd is None else odd
    (folder / "g.smi").write_bytes(_lines(lines))
    return folder / "g.smi"


def smiles_csv(folder, graphs, odd=None):
    lines = [f"{i},{text}".encode() for i, text in enumerate(_smiles(graphs))]
    lines[PLACE] = lines[PLACE] if odd is None else odd
    (folder / "m.csv").write_bytes(_lines([b"id,smiles", *lines]))
    return folder / "m.csv"


ODD_CELLS = [b"0,CCO", b'3,"C', b'"3,C', b"3", b"3,C,C", b"3,", b",", b'3,"C"', b"3,\xff", b"3,C\rC", b"3,not"]


def smiles_parquet(folder, graphs, odd=None):
    cells = _smiles(graphs)
    cells[PLACE] = cells[PLACE] if odd is None else odd[0]
    pq.write_table(pa.table({"smiles": pa.array(cells, pa.string())}), folder / "m.parquet")
    return folder / "m.parquet"


def sdf(folder, graphs, odd=None):
    from rdkit import Chem

    blocks = [Chem.MolToMolBlock(Chem.MolFromSmiles(text)).encode() for text in _smiles(graphs)]
    blocks[PLACE] = blocks[PLACE] if odd is None else odd
    (folder / "g.sdf").write_bytes(b"".join(block + b"$$$$\n" for block in blocks))
    return folder / "g.sdf"


ODD_BLOCKS = [
    b"", b"title\n\n\nno counts\nM  END\n", b"\xff\n\n\n  0  0  0  0  0  0  0  0  0  0999 V2000\nM  END\n",
    b"one\n\n\n  1  0  0  0  0  0  0  0  0  0999 V2000\n    0.0       0.0       0.0 C   0  0\nM  END\n> <label>\n1\n\n",
    b"\n\n\n999999  0  0 V3000\n",
]  # fmt: skip


# Tables


def _rows(graphs, odd):
    """(graph, source, target, label) of all edges; `odd` gives the rows of the replaced graph."""
    own = [[(f"g{i}", a, b, c) for a, b, c in graph.edges] for i, graph in enumerate(graphs)]
    if odd is not None:
        own[PLACE] = [(f"g{PLACE}", *row) for row in odd]
    return [row for rows in own for row in rows]


ODD_ROWS = [
    [(0, 1, 1)], [(0, 1, "rare")], [(0, 1, 1.5)], [(0, 1, None)], [(0, 1, 1), (1, 0, 2)], [(0, None, 1)],
    [(None, None, 1)], [("a", "b", 1)], [(0, 0, 1)], [(0, 1, 1), (0, 1, 2)], [(0, 1, float("nan"))],
    [(0, 1, 2**70)], [("007", "7", "7.0")],
]  # fmt: skip
ODD_EDGE_LINES = [b'g3,0,"1,1', b"g3,0,1,1,1", b"g3", b"g3,0", b"g3,0,1,\xff", b'"g3,0,1', b"g3,,,"]


def edge_csv(folder, graphs, odd=None):
    out = io.StringIO()
    rows = _rows(graphs, odd if isinstance(odd, list) else None)
    csv.writer(out, lineterminator="\n").writerows([["graph_id", "source", "target", "label"], *rows])
    lines = out.getvalue().encode().splitlines()
    if isinstance(odd, bytes):
        lines = [line for line in lines if not line.startswith(b"g3,")] + [b"g3,0,1,1", odd]
    (folder / "e.csv").write_bytes(_lines(lines))
    return folder / "e.csv"


def edge_parquet(folder, graphs, odd=None):
    """Types are declared as a writer with a schema would; what they cannot hold is no record of such a file."""
    rows = _rows(graphs, odd)
    labels = [row[3] for row in rows]
    kind = pa.string() if any(isinstance(label, str) for label in labels if label is not None) else pa.float64()
    if kind == pa.string():
        labels = [None if label is None else str(label) for label in labels]
    table = {
        "graph_id": pa.array([row[0] for row in rows]),
        "source": pa.array([None if row[1] is None else str(row[1]) for row in rows], pa.string()),
        "target": pa.array([None if row[2] is None else str(row[2]) for row in rows], pa.string()),
        "label": pa.array(labels, kind),
    }
    pq.write_table(pa.table(table), folder / "e.parquet")
    return folder / "e.parquet"


def graph_parquet(folder, graphs, odd=None):
    rows = [
        {"id": str(i), "nodes": len(g.nodes), "sources": [a for a, _, _ in g.edges],
         "targets": [b for _, b, _ in g.edges], "node_labels": [1] * len(g.nodes), "edge_labels": [2] * len(g.edges)}
        for i, g in enumerate(graphs)
    ]  # fmt: skip
    rows[PLACE] |= odd or {}
    lists = pa.list_(pa.int64())
    schema = pa.schema([("id", pa.string()), ("nodes", pa.int64()), *((name, lists) for name in list(rows[0])[2:])])
    pq.write_table(pa.Table.from_pylist(rows, schema), folder / "g.parquet")
    return folder / "g.parquet"


ODD_CELLS_OF_GRAPHS = [
    {"id": "0"}, {"id": None}, {"nodes": None}, {"nodes": 0}, {"nodes": 2**40}, {"nodes": -1}, {"sources": None},
    {"sources": [0], "targets": [99], "edge_labels": [1]}, {"node_labels": None}, {"node_labels": [5]},
    {"sources": [None], "targets": [0], "edge_labels": [1]}, {"edge_labels": [None] * 7}, {"targets": []},
]  # fmt: skip


def tu(folder, graphs, odd=None):
    """A TU folder; `odd` replaces lines of the third graph by file, and may add edges."""
    starts = np.cumsum([0, *(len(graph.nodes) for graph in graphs)])
    parts = {
        "graph_indicator": [str(i + 1) for i, graph in enumerate(graphs) for _ in graph.nodes],
        "node_labels": [str(label or 0) for graph in graphs for label in graph.nodes],
        "A": [f"{starts[i] + a + 1}, {starts[i] + b + 1}" for i, graph in enumerate(graphs) for a, b, _ in graph.edges],
        "graph_labels": ["1"] * len(graphs),
    }
    for part, line in (odd or {}).items():
        if part == "A":
            parts["A"].append(line)
        else:
            parts[part][starts[PLACE] if part == "node_labels" else PLACE] = line
    for part, lines in parts.items():
        (folder / f"T_{part}.txt").write_text("".join(f"{line}\n" for line in lines))
    return folder


# Node 1 is of the first graph, node 16 of the replaced one.
ODD_TU = [{"node_labels": text} for text in ("x", "1.5", "", "-5", "9" * 30, "1, 2", "nan")] + [
    {"A": line} for line in ("16, 1", "1, 16", "16, 0", "16, 9999", "16", "a, b", "16, 16", "16, 17, 18", "")
]  # fmt: skip


def graphml(folder, graphs, odd=None):
    for i, graph in enumerate(graphs):
        nx.write_graphml(networkx_graph(graph), folder / f"{i}.graphml")
    if odd is not None:
        (folder / f"{PLACE}.graphml").write_bytes(odd)
    return folder


_HEAD = (
    '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><key id="l" for="node" attr.name="label" attr.type="{}"/>'
)
_BODY = (
    '<graph edgedefault="{}"><node id="0"><data key="l">{}</data></node><node id="1"/>'
    '<edge source="0" target="1"/></graph>'
)
ODD_GRAPHML = [
    (_HEAD.format(kind) + _BODY.format(direction, label) * times + "</graphml>").encode()
    for kind, direction, label, times in (
        ("string", "undirected", "rare", 1), ("string", "directed", "C", 1), ("int", "undirected", "5", 1),
        ("int", "undirected", "x", 1), ("double", "undirected", "1.5", 1), ("string", "undirected", "C", 2),
        ("string", "undirected", "C", 0), ("nonsense", "sideways", "C", 1),
    )
] + [b"", b"<", b"\xff", b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "c">]><graphml>&b;</graphml>']  # fmt: skip


# Objects


def networkx_graph(graph):
    made = nx.Graph()
    made.add_nodes_from((i, {} if label is None else {"label": label}) for i, label in enumerate(graph.nodes))
    made.add_edges_from((a, b, {} if label is None else {"label": label}) for a, b, label in graph.edges)
    return made


def networkx_list(folder, graphs, odd=None):
    made = [networkx_graph(graph) for graph in graphs]
    if odd is not None:
        made[PLACE] = odd[0]
    return made


def _labelled(**properties):
    graph = nx.path_graph(3)
    graph.nodes[0].update(properties)
    return graph


def odd_networkx():
    edge, multi, named = nx.path_graph(2), nx.MultiDiGraph(), nx.path_graph(3)
    edge.edges[0, 1]["label"] = "odd"
    multi.add_edges_from([(0, 1), (0, 1), (1, 0)])
    named.graph.update(id="twin", name="twin", label="class")
    return [
        (one,)
        for one in (
            None,
            _labelled(label="rare"),
            _labelled(label=7),
            _labelled(label=1.5),
            _labelled(weight=3),
            _labelled(weight="x"),
            edge,
            multi,
            named,
            nx.DiGraph([(0, 1), (1, 0)]),
            nx.Graph(),
            nx.empty_graph(1),
            nx.path_graph(["a", "b"]),
            "text",
            5,
            [],
            {},
            {"nodes": 2},
            object(),
            np.eye(3),
            [nx.path_graph(3)],
            nx.Graph([(0, 0)]),
        )
    ]


def pyg_list(folder, graphs, odd=None):
    import torch
    from torch_geometric.data import Data

    made = []
    for graph in graphs:
        ends = torch.tensor([[a, b] for a, b, _ in graph.edges] + [[b, a] for a, b, _ in graph.edges]).T.contiguous()
        made.append(Data(edge_index=ends, num_nodes=len(graph.nodes)))
        if graph.nodes[0] is not None and not isinstance(graph.nodes[0], str):
            made[-1].z = torch.tensor(graph.nodes)
            made[-1].edge_attr = torch.tensor([c for *_, c in graph.edges] * 2)
    if odd is not None:
        made[PLACE] = odd[0]
    return made


def odd_pyg():
    import torch
    from torch_geometric.data import Batch, Data, HeteroData

    ends = torch.tensor([[0, 1], [1, 0]])
    plain = Data(edge_index=ends, num_nodes=2)
    return [
        (one,)
        for one in (
            None,
            plain,
            Data(edge_index=ends, num_nodes=2, z=torch.tensor([6, 8])),
            Data(edge_index=ends, x=torch.rand(2, 3)),
            Data(edge_index=ends, num_nodes=2, edge_attr=torch.tensor([1.5, 2.5])),
            Data(edge_index=ends, num_nodes=2, edge_attr=torch.eye(2)),
            Data(edge_index=ends, num_nodes=2, y=torch.tensor([1])),
            Data(edge_index=torch.tensor([[0], [1]]), num_nodes=2),
            Data(edge_index=torch.tensor([[0], [9]]), num_nodes=2),
            Data(num_nodes=0),
            Data(),
            Data(x=torch.tensor([[float("nan")]])),
            HeteroData(),
            Batch.from_data_list([plain] * 2),
            Data(edge_index=torch.tensor([[0.5], [1.0]]), num_nodes=2),
            nx.path_graph(3),
        )
    ]


# Molecules are what they are, TU files hold numbers, and a column of texts holds texts.
KINDS_OF = {
    **dict.fromkeys(("smiles", "smiles csv", "smiles parquet", "sdf", "graph parquet"), ("bare",)),
    **dict.fromkeys(("tu", "edge parquet", "pyg"), ("bare", "numbers")),
}
FORMATS = {
    "json lines": (json_lines, ODD_LINES),
    "smiles": (smiles_lines, ODD_SMILES),
    "smiles csv": (smiles_csv, ODD_CELLS),
    "smiles parquet": (smiles_parquet, [("",), (None,), ("not",), ("C",), ("\ud7ff",)]),
    "sdf": (sdf, ODD_BLOCKS),
    "edge csv": (edge_csv, [*ODD_ROWS, *ODD_EDGE_LINES]),
    "edge parquet": (
        edge_parquet,
        [rows for rows in ODD_ROWS if rows[0][2] in (1, 1.5, None)],
    ),
    "graph parquet": (graph_parquet, ODD_CELLS_OF_GRAPHS),
    "tu": (tu, ODD_TU),
    "graphml": (graphml, ODD_GRAPHML),
    "networkx": (networkx_list, odd_networkx),
    "pyg": (pyg_list, odd_pyg),
}


# Other ways to the same code, which the attack in one command leaves out.


def smiles_tsv(folder, graphs, odd=None):
    source = smiles_csv(folder, graphs, odd)
    (folder / "m.tsv").write_bytes(source.read_bytes().replace(b",", b"\t"))
    return folder / "m.tsv"


def zipped(write):
    def source(folder, graphs, odd=None):
        plain = write(folder, graphs, odd)
        packed = plain.with_name(f"{plain.name}.gz")
        packed.write_bytes(gzip.compress(plain.read_bytes()))
        return packed

    return source


def tu_zip(folder, graphs, odd=None):
    with zipfile.ZipFile(folder / "T.zip", "w") as archive:
        for part in sorted(tu(folder, graphs, odd).glob("*.txt")):
            archive.write(part, part.name)
    return folder / "T.zip"


def described_edges(folder, graphs, odd=None):
    """An edge table with a node table, `n.csv`; `odd` is a line of the replaced graph's nodes."""
    rows = [(f"g{i}", k, label) for i, graph in enumerate(graphs) for k, label in enumerate(graph.nodes)]
    lines = [f"{name},{node},{'' if label is None else label}".encode() for name, node, label in rows]
    (folder / "n.csv").write_bytes(_lines([b"graph_id,node,label", *lines, *([] if odd is None else [odd])]))
    return edge_csv(folder, graphs)


def documents(suffix, write):
    def source(folder, graphs, odd=None):
        for i, graph in enumerate(graphs):
            write(networkx_graph(graph), folder / f"{i}.{suffix}")
        if odd is not None:
            (folder / f"{PLACE}.{suffix}").write_bytes(odd)
        return folder

    return source


def matrices(folder, graphs, odd=None):
    found = [nx.to_numpy_array(networkx_graph(graph)) for graph in graphs]
    return found if odd is None else [*found[:PLACE], odd, *found[PLACE + 1 :]]


ODD_TABS = [*(cell for cell in ODD_CELLS if b"\r" not in cell), b'3,C,"', b'\\"3,C']
ODD_NODES = [
    b"g3,0,1",
    b'g3,99,"1',
    b'"g3,99,1',
    b"g3,99",
    b"g3,99,rare",
    b"g3,,1",
    b",99,1",
    b"g3,99,\xff",
    b"g3,99,1,1",
]
ODD_DOCUMENTS = [
    b"",
    b"x",
    b"<gexf/>",
    b"graph [ ]",
    b"\xff",
    b"graph [" * 500,
    b"graph [ directed 1 node [ id 0 label 7 ] node [ id 1 label 8 ] edge [ source 0 target 1 ] ]",
]
ODD_MATRICES = [
    np.zeros((0, 0)),
    np.ones((2, 3)),
    np.array([1]),
    np.full((3, 3), np.nan),
    np.array([["a"]]),
    None,
    "CC",
    np.array([[0, 1.5], [2, 0]]),
    np.full((3, 3), 1e300),
    {"nodes": 2},
]
OTHERS = {
    "json lines gz": (zipped(json_lines), ODD_LINES),
    "smiles gz": (zipped(smiles_lines), ODD_SMILES),
    "smiles tsv": (smiles_tsv, ODD_TABS),
    "tu zip": (tu_zip, ODD_TU),
    "edge csv and nodes": (described_edges, ODD_NODES),
    "gexf": (documents("gexf", nx.write_gexf), ODD_DOCUMENTS),
    "gml": (documents("gml", nx.write_gml), ODD_DOCUMENTS),
    "matrices": (matrices, ODD_MATRICES),
}
KINDS_OF |= dict.fromkeys(("smiles gz", "smiles tsv", "gexf", "gml", "matrices"), ("bare",))
KINDS_OF |= dict.fromkeys(("tu zip", "edge csv and nodes"), ("bare", "numbers"))


def odd_records(name):
    found = (FORMATS | OTHERS)[name][1]
    return found() if callable(found) else found


# The attack


def epsilon_proven(alarms, misses, draws, confidence=0.999):
    """The epsilon that so many errors of a test in `draws` releases a side refute, with this confidence."""
    from scipy.stats import beta

    upper = [1.0 if k == draws else float(beta.ppf((1 + confidence) / 2, k + 1, draws - k)) for k in (alarms, misses)]
    return math.log(max(1.0 - upper[1] - 1e-5, 1e-9) / upper[0])


def attacked_releases(name, folder, draws, epsilon):
    """Errors of each kind when releases of two neighbouring files, by the command line, are told apart.

    The attack knows both exact sums and tests along their difference. What moves the sum most of the odd records is in
    place of one record of the second file.
    """
    from typer.testing import CliRunner

    from graphglass.privacy import commands
    from graphglass.privacy.private_summary import PrivateSummary
    from graphglass.privacy.release.ledger import Ledger
    from graphglass.privacy.release.publish import GraphFeatures, exact_sum, release
    from graphglass.privacy.release.records import read_records
    from graphglass.privacy.sketch_features import SketchFeatures

    graphs = rings(None, None, 16)
    features = GraphFeatures(SketchFeatures.for_budget(len(graphs), epsilon, 1e-5), None)
    found = []
    for number, record in enumerate([(), *((odd,) for odd in odd_records(name))]):
        (folder / str(number)).mkdir()
        source = FORMATS[name][0](folder / str(number), graphs, *record)
        found.append((source, exact_sum(features, read_records(source, whole=False)).astype(float)))
    found[1:] = [max(found[1:], key=lambda pair: np.linalg.norm(pair[1] - found[0][1]))]
    direction = found[1][1] - found[0][1]
    assert 0 < np.linalg.norm(direction) <= 2 * 2**30
    middle = direction @ (found[0][1] + found[1][1]) / 2
    wrong = [0, 0]
    for draw in range(draws):
        for side, (source, _) in enumerate(found):
            ledger, output = folder / f"{draw}-{side}.db", folder / f"{draw}-{side}.summary"
            create = ["budget", "create", ledger, "--dataset", "d", "--epsilon", epsilon]
            make = ["release", source, "--ledger", ledger, "--epsilon", epsilon, "-o", output]
            for command in [create] if isinstance(source, list) else [create, make]:
                result = CliRunner().invoke(commands.app, [str(argument) for argument in command])
                assert result.exit_code == 0, (result.output, result.exception)
            if isinstance(source, list):  # objects have no path
                release(source, ledger=Ledger(ledger), dataset="d", epsilon=epsilon, output=output)
            wrong[side] += (PrivateSummary.load(output).total @ direction > middle) != bool(side)
    return tuple(wrong)
