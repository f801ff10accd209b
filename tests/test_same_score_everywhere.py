"""One set of graphs, every way into the program: the scores are equal to the last bit."""

import json

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


def test_networkx_graphs(mutag):
    normals, queries = mutag[:60].without_labels(), mutag[60:70].without_labels()
    detector = GraphGlass().fit(normals)
    again = read_graphs(to_networkx(queries))
    assert np.array_equal(detector.score_table(again).scores, detector.score_table(queries).scores)
