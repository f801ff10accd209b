"""One set of graphs, every way into the program: the scores are equal to the last bit."""

import json

import networkx
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from fastapi.testclient import TestClient
from typer.testing import CliRunner

from graphglass import GraphGlass, read_graphs, to_networkx, write_json_lines, write_parquet
from graphglass.cli.app import app
from graphglass.cluster.parts import Part, score_part
from graphglass.files.load import artifact_digest
from graphglass.serve.app import create_app
from graphglass.serve.service import Service

NORMALS = ["C" * size + end for size in range(2, 12) for end in ("O", "N", "F", "", "Cl")]
# An isotope, charges, a salt, stereo marks, a molecule written in another order, and one that is a reference.
ODD = ["[2H]C([2H])([2H])O", "C[N+](C)(C)C", "CC(=O)[O-].[Na+]", "F/C=C/F", "OCC(C)C", "[13CH4]", "N#N", "CCO"]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("everywhere")
    GraphGlass().fit(read_graphs(NORMALS, format="smi")).save(folder / "model")
    (folder / "q.smi").write_text("".join(f"{smiles} m{i}\n" for i, smiles in enumerate(ODD)))
    (folder / "q.csv").write_text("name,smiles\n" + "".join(f"m{i},{smiles}\n" for i, smiles in enumerate(ODD)))
    graphs = read_graphs(folder / "q.smi")
    write_json_lines(graphs, folder / "q.jsonl")
    write_parquet(graphs, folder / "q.parquet")
    return folder


@pytest.fixture(scope="module")
def expected(place):
    table = GraphGlass.load(place / "model").score_table(read_graphs(ODD, format="smi"))
    assert table.reference.tolist() == [False] * 7 + [True]
    return table


def test_objects(place, expected):
    detector, graphs = GraphGlass.load(place / "model"), read_graphs(place / "q.smi")
    frame = pd.DataFrame({"smiles": ODD})
    for source in (graphs, ODD, frame):
        found = detector.score_table(read_graphs(source, format="smi") if source is ODD else read_graphs(source))
        assert np.array_equal(found.scores, expected.scores)
        assert np.array_equal(found.p_values, expected.p_values)
    for row, graph in enumerate(graphs):
        assert detector.score_table(graph).scores[0] == expected.scores[row]


@pytest.mark.parametrize("name", ["q.smi", "q.csv", "q.jsonl", "q.parquet"])
def test_files(place, expected, name):
    output = place / f"{name}.out.jsonl"
    result = CliRunner().invoke(app, ["score", str(place / "model"), str(place / name), "-o", str(output), "-q"])
    assert result.exit_code == 0, (result.output, result.exception)
    rows = [json.loads(line) for line in output.read_text().splitlines()]
    assert [row["score"] for row in rows] == expected.scores.tolist()
    assert [row["reference"] for row in rows] == expected.reference.tolist()


def test_a_worker_of_a_cluster(place, expected):
    model = str(place / "model")
    for name in ("q.jsonl", "q.parquet"):
        part = Part(str(place / name), str(place / "part.parquet"))
        assert score_part(part, model, artifact_digest(model)).error is None
        table = pq.read_table(part.output)
        assert table["score"].to_pylist() == expected.scores.tolist()
        assert table["p_value"].to_pylist() == expected.p_values.tolist()


def test_the_service_and_what_the_inspector_uploads(place, expected):
    with TestClient(create_app(Service(place / "model"))) as client:
        direct = client.post("/v1/score", json={"smiles": ODD}).json()["results"]
        read = client.post(
            "/v1/read", params={"name": "q.csv"}, content=(place / "q.csv").read_bytes(),
            headers={"content-type": "application/octet-stream"},
        ).json()["graphs"]  # fmt: skip
        uploaded = client.post("/v1/score", json={"graphs": read}).json()["results"]
    for rows in (direct, uploaded):
        assert [row["score"] for row in rows] == expected.scores.tolist()
        assert [row["p_value"] for row in rows] == expected.p_values.tolist()


KINDS = {
    "plain": (),
    "labels": ("node label", "edge label"),
    "attributes": ("balance", "amount"),
    "directed": ("directed", "edge label"),
    "everything": ("directed", "node label", "edge label", "balance", "amount"),
    "typed": ("directed", "node type", "edge type", "balance", "amount"),
}


def _random_graph(parts, seed):
    """A connected NetworkX graph with what `parts` name: some values are negative, text or not whole."""
    random = np.random.default_rng(seed)
    size = int(random.integers(4, 9))
    graph = (networkx.DiGraph if "directed" in parts else networkx.Graph)(name=f"g{seed}")
    described = {"label": lambda: str(random.choice(["a", "b", "ü"])), "type": lambda: str(random.choice(["x", "y"]))}
    described |= {"balance": lambda: float(random.normal()), "amount": lambda: round(float(random.lognormal(3, 1)), 2)}

    def properties(owner):
        names = [part.removeprefix(f"{owner} ") for part in parts if part.startswith(owner)]
        number = "balance" if owner == "node" else "amount"
        return {name: described[name]() for name in (*names, *([number] if number in parts else []))}

    for node in range(size):
        graph.add_node(f"n{node}", **properties("node"))
    ends = [(random.integers(0, node), node) for node in range(1, size)] + random.integers(0, size, (4, 2)).tolist()
    for one, other in ends:
        if one != other and not graph.has_edge(f"n{one}", f"n{other}"):
            graph.add_edge(f"n{one}", f"n{other}", **properties("edge"))
    return graph


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", [0, 1])
def test_every_kind_of_graph_by_every_way(tmp_path, kind, seed):
    parts, first = KINDS[kind], 1000 * seed
    normals = [_random_graph(parts, first + number) for number in range(24)]
    objects = [*(_random_graph(parts, first + 500 + number) for number in range(5)), normals[3]]
    detector = GraphGlass().fit(normals)
    detector.save(tmp_path / "model")
    graphs = read_graphs(objects)
    table = detector.score_table(graphs)
    assert table.reference[-1]
    expected = table.scores.tolist()
    assert [detector.score_table([one]).scores[0] for one in objects] == expected
    assert detector.score_table(to_networkx(graphs)).scores.tolist() == expected

    write_json_lines(graphs, tmp_path / "q.jsonl")
    write_parquet(graphs, tmp_path / "q.parquet")
    write_parquet(graphs, tmp_path / "edges.parquet", nodes=tmp_path / "nodes.parquet")
    edges, nodes = (pq.read_table(tmp_path / f"{name}.parquet").to_pandas() for name in ("edges", "nodes"))
    edges.to_csv(tmp_path / "edges.csv", index=False)
    nodes.to_csv(tmp_path / "nodes.csv", index=False)
    for name in ("edges.parquet", "edges.csv"):
        tables = [tmp_path / name, "--nodes", tmp_path / name.replace("edges", "nodes")]
        assert _by_command(tmp_path, *tables) == expected, name
    for name in ("q.jsonl", "q.parquet"):
        assert _by_command(tmp_path, tmp_path / name) == expected
        part = Part(str(tmp_path / name), str(tmp_path / "part.parquet"))
        assert score_part(part, str(tmp_path / "model"), artifact_digest(tmp_path / "model")).error is None
        assert pq.read_table(part.output)["score"].to_pylist() == expected
    reading = detector.scorer_.reading
    assert detector.score_table(read_graphs(edges, nodes=nodes, reading=reading)).scores.tolist() == expected
    records = [json.loads(line) for line in (tmp_path / "q.jsonl").read_text().splitlines()]
    with TestClient(create_app(Service(tmp_path / "model"))) as client:
        answer = client.post("/v1/score", json={"graphs": records}).json()["results"]
        assert [row["score"] for row in answer] == expected


def _by_command(folder, *graphs):
    """The scores that ``glass score`` writes."""
    out = folder / "out.jsonl"
    result = CliRunner().invoke(app, ["score", str(folder / "model"), *map(str, graphs), "-o", str(out), "-q"])
    assert result.exit_code == 0, (result.output, result.exception)
    return [json.loads(line)["score"] for line in out.read_text().splitlines()]


def _payments(days, first, seed):
    """Payments of some days with a date, a running number and a text column, and the accounts behind them."""
    random = np.random.default_rng(seed)
    edges, nodes = [], []
    for day in range(days):
        name = f"2024-{first:02d}-{day + 1:02d}"
        ends = random.integers(0, 12, (random.integers(8, 15), 2))
        ends = ends[ends[:, 0] != ends[:, 1]]
        for number, (one, two) in enumerate(ends.tolist()):
            amount = round(float(random.lognormal(3, 1)), 2)
            edges.append((name, f"A{one}", f"A{two}", amount, f"{name}T{number:02d}:00", 1000 * first + len(edges)))
        nodes += [(name, f"A{node}", ["shop", "person"][node % 2], node / 4) for node in np.unique(ends).tolist()]
    columns = ["graph_id", "source", "target", "amount", "time", "number"]
    return pd.DataFrame(edges, columns=columns), pd.DataFrame(nodes, columns=["graph_id", "node", "kind", "balance"])


@pytest.fixture(scope="module")
def payments(tmp_path_factory):
    folder = tmp_path_factory.mktemp("payments")
    for name, table in zip(("edges", "nodes"), _payments(28, 1, 0), strict=True):
        table.to_csv(folder / f"old-{name}.csv", index=False)
    for name, table in zip(("edges", "nodes"), _payments(20, 2, 1), strict=True):
        table.to_csv(folder / f"new-{name}.csv", index=False)
    options = ["--nodes", str(folder / "old-nodes.csv"), "--node-label", "kind", "--directed", "-q"]
    fitted = CliRunner().invoke(app, ["fit", str(folder / "old-edges.csv"), "-o", str(folder / "model"), *options])
    assert fitted.exit_code == 0, (fitted.output, fitted.exception)
    out = str(folder / "scores.jsonl")
    query = [str(folder / "new-edges.csv"), "--nodes", str(folder / "new-nodes.csv")]
    scored = CliRunner().invoke(app, ["score", str(folder / "model"), *query, "-o", out, "-q"])
    assert scored.exit_code == 0, (scored.output, scored.exception)
    rows = [json.loads(line) for line in (folder / "scores.jsonl").read_text().splitlines()]
    return folder, [row["score"] for row in rows]


def test_payments_by_every_object(payments):
    folder, expected = payments
    detector = GraphGlass.load(folder / "model")
    reading = detector.scorer_.reading
    assert reading.directed
    edges, nodes = (pd.read_csv(folder / f"new-{name}.csv") for name in ("edges", "nodes"))
    graphs = read_graphs(edges, nodes=nodes, reading=reading)
    assert not {"time", "number"} & set(graphs.edge_attribute_names)
    assert detector.score_table(graphs).scores.tolist() == expected
    assert detector.score_table(to_networkx(graphs)).scores.tolist() == expected
    write_parquet(graphs, folder / "edges.parquet", nodes=folder / "nodes.parquet")
    flat = read_graphs(folder / "edges.parquet", nodes=folder / "nodes.parquet")
    assert detector.score_table(flat).scores.tolist() == expected


def test_payments_by_records_requests_and_parts(payments):
    folder, expected = payments
    model = str(folder / "model")
    detector = GraphGlass.load(model)
    tables = {"nodes": folder / "new-nodes.csv", "reading": detector.scorer_.reading}
    write_json_lines(read_graphs(folder / "new-edges.csv", **tables), folder / "new.jsonl")
    records = [json.loads(line) for line in (folder / "new.jsonl").read_text().splitlines()]
    unstated = [{key: value for key, value in record.items() if key != "directed"} for record in records]
    for some in (records, unstated):  # a record that states no direction has that of the references
        assert detector.score_table(some).scores.tolist() == expected
        with TestClient(create_app(Service(folder / "model"))) as client:
            answer = client.post("/v1/score", json={"graphs": some}).json()["results"]
        assert [row["score"] for row in answer] == expected
    part = Part(str(folder / "new.jsonl"), str(folder / "part.parquet"))
    assert score_part(part, model, artifact_digest(model)).error is None
    assert pq.read_table(part.output)["score"].to_pylist() == expected
    lines = "".join(json.dumps(record) + "\n" for record in unstated)
    watched = CliRunner().invoke(app, ["watch", model], input=lines)
    found = [json.loads(line) for line in watched.stdout.splitlines()]
    assert [row["score"] for row in found if "score" in row] == expected


def test_an_uploaded_edge_table_has_the_direction_of_the_references(tmp_path):
    (tmp_path / "old.csv").write_text(_payments(28, 1, 0)[0].to_csv(index=False))
    new = _payments(20, 2, 1)[0].to_csv(index=False)
    (tmp_path / "new.csv").write_text(new)
    detector = GraphGlass().fit(read_graphs(tmp_path / "old.csv", directed=True))
    detector.save(tmp_path / "model")
    expected = detector.score_table(tmp_path / "new.csv").scores.tolist()
    with TestClient(create_app(Service(tmp_path / "model"))) as client:
        kind = {"content-type": "application/octet-stream"}
        read = client.post("/v1/read", params={"name": "new.csv"}, content=new, headers=kind).json()["graphs"]
        uploaded = client.post("/v1/score", json={"graphs": read}).json()["results"]
    assert [row["score"] for row in uploaded] == expected


@pytest.mark.parametrize("options", [{"standardise": "largest-fragment"}, {"stereo": True}, {"standardise": "neutral"}])
def test_requests_are_read_as_the_references_were(tmp_path, options):
    detector = GraphGlass().fit(read_graphs(NORMALS, format="smi", **options))
    detector.save(tmp_path / "model")
    expected = detector.score_table(read_graphs(ODD, format="smi", **options)).scores.tolist()
    with TestClient(create_app(Service(tmp_path / "model"))) as client:
        answer = client.post("/v1/score", json={"smiles": ODD}).json()["results"]
    assert [row["score"] for row in answer] == expected
    lines = "".join(json.dumps({"smiles": smiles}) + "\n" for smiles in ODD)
    watched = CliRunner().invoke(app, ["watch", str(tmp_path / "model")], input=lines)
    found = [json.loads(line) for line in watched.stdout.splitlines()]
    assert [row["score"] for row in found if "score" in row] == expected


def _typed(seed, devices, extra=()):
    """Accounts with a balance, devices without, and whatever else one graph has."""
    random = np.random.default_rng(seed)
    graph = networkx.DiGraph(name=f"g{seed}")
    graph.add_nodes_from((f"a{i}", {"type": "account", "balance": float(random.normal())}) for i in range(4))
    graph.add_nodes_from((f"d{i}", {"type": "device", "age": float(random.integers(9))}) for i in range(devices))
    graph.add_nodes_from((name, {"type": name, "rank": 1.0}) for name in extra)
    names = list(graph)
    ends = random.integers(0, len(names), (9, 2)).tolist()
    graph.add_edges_from((names[one], names[two], {"type": "uses"}) for one, two in ends if one != two)
    return graph


def test_typed_graphs_alone_and_together():
    detector = GraphGlass().fit(read_graphs([_typed(seed, 3) for seed in range(30)]))
    queries = [_typed(100, 3), _typed(101, 0), _typed(102, 2, extra=("mule",))]
    together = detector.score_table(queries).scores
    assert [detector.score_table([query]).scores[0] for query in queries] == together.tolist()
    assert together.argmin() == 0  # no devices, or a type that no reference has, is stranger
    graphs = read_graphs(queries)
    assert detector.score_table(graphs).scores.tolist() == together.tolist()
