"""Valid files of every kind that GraphGlass reads, and seeded ways to damage them."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import random
import re
import shutil
import sqlite3
import string
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save as to_safetensors

from graphglass import GLASS, GraphGlass, read_graphs, write_json_lines, write_parquet
from graphglass.graphs.canonical import canonical_graph_set
from graphglass.privacy.release.ledger import Ledger
from graphglass.privacy.release.publish import release
from graphglass.privacy.single_file import pack_artifact

MOLECULES = (
    "CCO", "CC(=O)O", "c1ccccc1", "Cc1ccccc1", "Oc1ccccc1", "CC(=O)Oc1ccccc1C(=O)O", "C[N+](C)(C)CC(=O)[O-]",
    "CCN(CC)CC",
    "[Na+].CC(=O)[O-]", "c1ccc2ccccc2c1", "O=C(O)c1ccccc1O", "CS(=O)(=O)N", "Clc1ccc(Cl)cc1", "C1CCCCC1", "NCC(=O)O",
)  # fmt: skip
EDGES = "graph_id,source,target,amount,label\n" + "".join(
    f"g{g},{i},{(i + 1) % 5},{g + i / 2},{'xy'[i % 2]}\n" for g in range(6) for i in range(5)
)
GRAPHML = (
    '<?xml version="1.0" encoding="UTF-8"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    '<key id="w" for="edge" attr.name="weight" attr.type="double"/><key id="l" for="node" attr.name="label" '
    'attr.type="string"/><graph id="g" edgedefault="directed"><node id="a"><data key="l">C</data></node><node id="b"/>'
    '<edge source="a" target="b"><data key="w">2.5</data></edge></graph></graphml>'
)
GEXF = (
    '<?xml version="1.0"?><gexf xmlns="http://gexf.net/1.3" version="1.3"><graph defaultedgetype="undirected">'
    '<attributes class="node"><attribute id="0" title="q" type="double"/></attributes><nodes><node id="a" label="C">'
    '<attvalues><attvalue for="0" value="1.5"/></attvalues></node><node id="b" label="O"/></nodes><edges>'
    '<edge id="0" source="a" target="b" weight="2"/></edges></graph></gexf>'
)
GML = 'graph [ directed 1 node [ id 0 label "C" q 0.5 ] node [ id 1 label "O" q 1 ] edge [ source 0 target 1 w 2 ] ]\n'
READING = {
    "smiles_column": "smiles", "id_column": "name", "label_column": "y", "graph_column": "g", "node_label": "label",
    "attributes": ["q"], "ignore": ["y"], "use": ["q"], "directed": False, "merge": {"w": "sum"}, "fill": 0.5,
    "standardise": "neutral", "stereo": True,
}  # fmt: skip
# Values that a field of another type may be replaced by.
ODD: tuple[Any, ...] = (
    None, True, -1, 0, 1, 2**31, 2**53, 2**63, 10**30, -(10**18), 0.5, 1e308, -1e308, 1e-320, "", "\x00",
    "\u202e", "a" * 500, "../x", "/dev/zero", [], {}, [[]], [None], {"": {}}, [0] * 50, [[0, 0]] * 50, [2**40],
    {"nodes": -1}, {"nodes": 10**12}, list(range(999)),
)  # fmt: skip
_NUMBERS = (b"-1", b"0", b"99999999999", b"1e400", b"nan", b"-0.0", b"9" * 5000, b"2147483648", b"1e-400", b"inf")
_PIECES = (
    b"\x00", b"\r", b"\n\n", b"\xff\xfe", b'"', b",", b"\t", b"&", b"<", b"{", b"[" * 2000, b" " * 4000,
    b"\xe2\x80\xae", b"=1+1",
)  # fmt: skip


def write_samples(folder: Path) -> None:
    """One valid file of every format, a model of each preset, a summary and a ledger with a release."""
    graphs = folder / "graphs"
    graphs.mkdir(parents=True)
    (graphs / "m.smi").write_text("".join(f"{text} m{i}\n" for i, text in enumerate(MOLECULES[4:10])))
    (graphs / "m.csv").write_text(
        "name,smiles,y\n" + "".join(f"m{i},{text},{i}\n" for i, text in enumerate(MOLECULES[4:10]))
    )
    (graphs / "e.csv").write_text(EDGES)
    (graphs / "e.tsv").write_text(EDGES.replace(",", "\t"))
    (graphs / "g.graphml").write_text(GRAPHML)
    (graphs / "g.gexf").write_text(GEXF)
    (graphs / "g.gml").write_text(GML)
    molecules = read_graphs(list(MOLECULES), format="smi")
    _write_sdf(graphs / "m.sdf")
    flows = canonical_graph_set(
        [4, 3, 5], [0, 1, 2, 4, 5, 7, 8, 9, 10], [1, 2, 3, 5, 6, 8, 9, 10, 11], directed=True,
        node_labels=[i % 3 for i in range(12)], edge_attributes=[[i / 2] for i in range(9)],
    )  # fmt: skip
    for name in ("g.jsonl", "g.jsonl.gz"):
        write_json_lines(flows, graphs / name)
    write_parquet(flows, graphs / "g.parquet")
    write_parquet(flows, graphs / "e.parquet", nodes=folder / "nodes.parquet")
    with zipfile.ZipFile(graphs / "t.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        parts = {"A": "1,2\n2,1\n3,4\n4,3\n", "graph_indicator": "1\n1\n2\n2\n", "graph_labels": "1\n-1\n",
                 "node_labels": "0\n1\n1\n0\n", "node_attributes": "0.5\n1\n2\n3\n"}  # fmt: skip
        for name, text in parts.items():
            archive.writestr(f"T_{name}.txt", text)
    GraphGlass().fit(molecules).save(folder / "model")
    GraphGlass().fit(flows[[0, 1, 2, 0, 1, 2, 0, 1, 2]]).save(folder / "flow-model")
    GLASS(encoder="numeric", epochs=1).fit(molecules).save(folder / "paper-model")
    (folder / "ledger").mkdir()
    ledger = Ledger.create(folder / "ledger" / "l.db")
    ledger.grant("ward", epsilon=4.0, delta=1e-5)
    release(molecules, ledger=ledger, dataset="ward", epsilon=2.0, source=flows).save(folder / "s.summary")


def _write_sdf(path: Path) -> None:
    from rdkit import Chem

    blocks = [Chem.MolToMolBlock(Chem.MolFromSmiles(text)) for text in MOLECULES[:4]]
    path.write_text("".join(f"{block}> <name>\nm{i}\n\n$$$$\n" for i, block in enumerate(blocks)))


def damaged_bytes(rng: random.Random, content: bytes) -> bytes:
    """A few edits: flipped, cut, repeated, exchanged or inserted bytes, and other numbers."""
    data = bytearray(content)
    for _ in range(rng.choice((1, 1, 2, 4, 8))):
        place, length = rng.randrange(len(data) + 1), rng.choice((1, 2, 8, 64, 512))
        match rng.randrange(7):
            case 0 if data:
                data[min(place, len(data) - 1)] = rng.randrange(256)
            case 1:
                del data[place : place + length]
            case 2:
                data[place:place] = data[place : place + length] * rng.choice((1, 2, 50))
            case 3:
                data[place:place] = rng.choice(_PIECES)
            case 4:
                data = data[:place]
            case 5 if numbers := list(re.finditer(rb"\d+", bytes(data[:100_000]))):
                number = rng.choice(numbers)
                data[number.start() : number.end()] = rng.choice(_NUMBERS)
            case _:
                other = rng.randrange(len(data) + 1)
                data[place : place + length] = data[other : other + length]
    return bytes(data)


def damaged_file(rng: random.Random, path: Path) -> bytes:
    """The bytes of a graph file, damaged; half the time inside its compression."""
    content = path.read_bytes()
    if rng.random() < 0.5:
        return damaged_bytes(rng, content)
    if path.suffix == ".gz":
        return gzip.compress(damaged_bytes(rng, gzip.decompress(content)))
    if path.suffix == ".zip":
        out = io.BytesIO()
        with zipfile.ZipFile(path) as archive, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
            chosen = rng.choice(archive.namelist())
            for name in archive.namelist():
                part = archive.read(name)
                made.writestr(name, damaged_bytes(rng, part) if name == chosen else part)
        return out.getvalue()
    if path.suffix == ".parquet":
        return _damaged_table(rng, content)
    return damaged_bytes(rng, content)


def _damaged_table(rng: random.Random, content: bytes) -> bytes:
    """A Parquet file with other values, types or names in its columns."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pq.read_table(io.BytesIO(content))
    columns = {name: table.column(name).to_pylist() for name in table.column_names}
    name = rng.choice(sorted(columns))
    match rng.randrange(4):
        case 0:
            columns[rng.choice(("", "id", "x" * 300))] = columns.pop(name)
        case 1:
            columns[name] = [rng.choice(ODD[:14]) for _ in columns[name]]
        case 2:
            columns[name] = [str(value) for value in columns[name]]
        case _:
            columns[name] = damaged_value(rng, columns[name], 0.3)
    rows = min(map(len, columns.values()))
    try:
        made = pa.table({key: values[:rows] for key, values in columns.items()}, metadata=table.schema.metadata)
    except (pa.ArrowException, OverflowError):
        return damaged_bytes(rng, content)
    out = io.BytesIO()
    pq.write_table(made, out)
    return out.getvalue()


def damaged_value(rng: random.Random, value: Any, rate: float = 0.1, depth: int = 0) -> Any:
    """A JSON value with fields removed, added or replaced."""
    if (depth and rng.random() < rate) or depth > 12:
        return rng.choice(ODD)
    if isinstance(value, dict):
        changed = {
            key: damaged_value(rng, item, rate, depth + 1) for key, item in value.items() if rng.random() > rate / 4
        }
        if rng.random() < rate / 2:
            changed["".join(rng.choices(string.ascii_lowercase, k=4))] = rng.choice(ODD)
        return changed
    if isinstance(value, list):
        return [damaged_value(rng, item, rate / max(1, len(value) / 4), depth + 1) for item in value] * rng.choice(
            (1,) * 19 + (3,)
        )
    return value


def damaged_arrays(rng: random.Random, arrays: dict[str, Any]) -> dict[str, Any]:
    """Arrays with other values, shapes, types or names."""
    changed = {name: np.array(value) for name, value in arrays.items()}
    for _ in range(rng.choice((1, 1, 2, 3))):
        name = rng.choice(sorted(changed))
        array = changed[name]
        match rng.randrange(6):
            case 0 if array.size:
                flat = array.reshape(-1)
                odd = (
                    (-1, 0, 1, 2**31 - 1, -(2**31), flat.size, 10**6)
                    if array.dtype.kind in "iu"
                    else (0.0, -1.0, 1e30, -1e300)
                )
                with np.errstate(over="ignore"):
                    flat[rng.randrange(flat.size)] = np.asarray(rng.choice(odd)).astype(array.dtype)
            case 1:
                changed[name] = array[: rng.randrange(len(array) + 1)] if array.ndim else array
            case 2:
                changed[name] = np.concatenate([array, array]) if array.ndim else array
            case 3:
                changed[name] = array.astype(rng.choice(("f4", "i4", "u1", "i8", "f8", "?")))
            case 4:
                changed[name] = array.reshape(-1) if rng.random() < 0.5 else array[None]
            case _:
                del changed[name]
                if not changed:
                    return changed
    return changed


def marks(rng: random.Random, ids: Sequence[str]) -> bytes:
    """A file of marks of a review, with odd values in some lines."""
    mark = {"id": ids[0], "verdict": "anomaly", "reviewer": "r", "time": "2026-01-01T00:00:00+00:00", "comment": ""}
    lines = [mark | {"id": rng.choice(ids), "verdict": rng.choice(("anomaly", "normal", "unsure"))} for _ in range(4)]
    return "".join(json.dumps(damaged_value(rng, line, rng.choice((0.0, 0.1)))) + "\n" for line in lines).encode()


def odd_networkx(rng: random.Random) -> Any:
    """A NetworkX graph of any class with odd nodes, edges and properties."""
    import networkx as nx

    graph = rng.choice((nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph))()
    plain = [value for value in ODD if not isinstance(value, list | dict) and value is not None]
    nodes = rng.choices((*range(6), *plain, (1, "a"), frozenset({1}), b"x"), k=rng.randrange(7))
    properties = ("label", "q", "time", "", 7, "type")
    for node in nodes:
        graph.add_node(node, **{str(name): rng.choice((*ODD, float("nan"), b"x", object())) for name in
                                rng.sample(properties, rng.choice((0, 0, 1, 2)))})  # fmt: skip
    for _ in range(rng.randrange(9) if nodes else 0):
        values = {name: rng.choice(ODD) for name in rng.sample(("label", "weight", "key"), rng.choice((0, 0, 1)))}
        values.pop("key", None)
        graph.add_edge(rng.choice(nodes), rng.choice(nodes), **values)
    if rng.random() < 0.2:
        graph.graph.update(label=rng.choice(ODD), id=rng.choice(ODD), name=rng.choice(ODD))
    return graph


def odd_hetero(rng: random.Random) -> Any:
    """A HeteroData with odd types, sizes, columns and edges."""
    import torch
    from torch_geometric.data import HeteroData

    data, kinds = HeteroData(), rng.sample(("user", "item", "a b", "\u202e", "x" * 300), rng.randrange(1, 4))
    tables = (
        torch.ones(3, 2), torch.ones(3), torch.full((3, 2), torch.nan), torch.full((3, 1), 1e300, dtype=torch.float64),
        torch.zeros(0, 4), torch.ones(3, 2, 2), torch.tensor(1.0), torch.ones(3, 1).to_sparse(), "text", None, [1, 2],
        torch.ones(3, 1, dtype=torch.complex64),
    )  # fmt: skip
    ends = (
        torch.tensor([[0, 1], [1, 2]]), torch.tensor([[0, -1], [1, 2]]), torch.tensor([[0], [99]]), torch.zeros(2, 0),
        torch.tensor([[0.5], [1.0]]), torch.tensor([0, 1]), torch.tensor([[2**62], [0]]), None, "text", [[0], [1]],
        torch.zeros(3, 2, dtype=torch.long),
    )  # fmt: skip
    for kind in kinds:
        if rng.random() < 0.8:
            data[kind].x = rng.choice((tables[0],) * 4 + tables)
        if rng.random() < 0.5:
            data[kind].num_nodes = rng.choice((3, 3, 3, 0, -1, 10**12, 2.5, None))
        if rng.random() < 0.2:
            data[kind][rng.choice(("y", "time", "node_id", "edge_attr"))] = rng.choice(tables)
    for _ in range(rng.randrange(3)):
        relation = rng.choice(kinds), rng.choice(("to", "", "rev to")), rng.choice((*kinds, "absent"))
        data[relation].edge_index = rng.choice((ends[0],) * 4 + ends)
        if rng.random() < 0.4:
            data[relation].edge_attr = rng.choice(tables)
    if rng.random() < 0.2:
        data.y = rng.choice(tables)
    return data


def damage_model(rng: random.Random, folder: Path, how: str) -> None:
    """Alter a saved model: raw bytes, or one part of it under a manifest that vouches for the new content."""
    manifest = folder / "manifest.json"
    body = json.loads(manifest.read_text())
    if how == "manifest":
        manifest.write_text(json.dumps(damaged_value(rng, body, 0.05)))
        return
    if how == "bytes":
        path = rng.choice(sorted(folder.iterdir()))
        path.write_bytes(damaged_bytes(rng, path.read_bytes()))
        return
    suffix = ".json" if how in ("document", "reading") else ".safetensors"
    roles = sorted(role for role, item in body["files"].items() if item["file"].endswith(suffix))
    entry = body["files"]["detector" if how == "reading" else rng.choice(roles)]
    path = folder / entry["file"]
    content = path.read_bytes()
    if how == "reading":
        names = rng.sample(sorted(READING), rng.randrange(1, 5))
        options = damaged_value(rng, {name: READING[name] for name in names}, rng.choice((0.0, 0.2, 0.5)))
        content = json.dumps(json.loads(content) | {"reading": options}).encode()
    elif how == "document":
        content = json.dumps(damaged_value(rng, json.loads(content), 0.03)).encode()
    elif how == "arrays":
        from safetensors.numpy import load

        content = to_safetensors(damaged_arrays(rng, load(content)))
    else:
        size = int.from_bytes(content[:8], "little")
        header = json.dumps(damaged_value(rng, json.loads(content[8 : 8 + size]), 0.03)).encode()
        claimed = rng.choice((len(header),) * 4 + (2**62, 10**8, 0))
        content = claimed.to_bytes(8, "little") + header + content[8 + size :]
    path.write_bytes(content)
    entry.update(bytes=len(content), sha256=hashlib.sha256(content).hexdigest())
    manifest.write_text(json.dumps(body))


def damaged_summary(rng: random.Random, content: bytes, how: str) -> bytes:
    """Alter a summary: raw bytes, or its document or arrays under checksums that fit."""
    from safetensors.numpy import load

    if how == "bytes":
        return damaged_bytes(rng, content)
    size = int.from_bytes(content[:8], "little")
    document = json.loads(json.loads(json.loads(content[8 : 8 + size])["__metadata__"]["artifact"])[2])
    arrays: dict[str, Any] = load(content)
    if how == "document":
        document = damaged_value(rng, document, 0.06)
    else:
        arrays = damaged_arrays(rng, arrays)
    return pack_artifact("graphglass-private-summary", arrays, document)


def damage_ledger(rng: random.Random, path: Path, how: str) -> None:
    """Alter a ledger: its bytes, its head file, or one entry under hashes that fit."""
    head = path.with_name(path.name + ".head")
    if how == "bytes":
        path.write_bytes(damaged_bytes(rng, path.read_bytes()))
    elif how == "head":
        head.write_bytes(damaged_bytes(rng, head.read_bytes()) if rng.random() < 0.5 else json.dumps(
            damaged_value(rng, json.loads(head.read_text()), 0.4)).encode())  # fmt: skip
    else:
        connection = sqlite3.connect(path, isolation_level=None)
        for (trigger,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {trigger}")
        rows = connection.execute("SELECT sequence, kind, body FROM entries ORDER BY sequence").fetchall()
        chosen, previous = rng.randrange(len(rows)), "0" * 64
        for sequence, kind, body in rows:
            if sequence == chosen:
                body = json.dumps(damaged_value(rng, json.loads(body), 0.2))
                kind = rng.choice((kind,) * 9 + ("charge", "budget", "artifact", "?"))
            digest = hashlib.sha256(json.dumps([sequence, kind, body, previous]).encode()).hexdigest()
            connection.execute("UPDATE entries SET kind = ?, body = ?, previous = ?, digest = ? WHERE sequence = ?",
                               (kind, body, previous, digest, sequence))  # fmt: skip
            previous = digest
        connection.close()
        head.write_text(json.dumps({"sequence": len(rows) - 1, "digest": previous}))


def copy_sample(source: Path, target: Path) -> Path:
    """A fresh copy to damage."""
    if target.is_dir():
        shutil.rmtree(target)
    elif target.exists():
        target.unlink()
    return Path(shutil.copytree(source, target) if source.is_dir() else shutil.copy2(source, target))
