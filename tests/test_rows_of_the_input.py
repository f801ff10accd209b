"""As many rows out as records in, each at its place: a record that cannot be read has no score, and an error."""

import csv
import json

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from fastapi.testclient import TestClient
from typer.testing import CliRunner

from graphglass import GraphGlass, read_graphs
from graphglass.cli.app import app
from graphglass.cluster.parts import Part, score_part
from graphglass.files.load import artifact_digest
from graphglass.graphs.concatenation import concatenate
from graphglass.serve.app import create_app
from graphglass.serve.service import Service

MOLECULES = [
    "bad", "CCO", "CCN", "", "C1CC", "OCCO", "CC(C)(C)(C)C", "CCCl",
    *(f"{'C' * size}{end}" for size in range(3, 9) for end in ("O", "N", "F")), "C(",
]  # fmt: skip
BAD = [place for place, smiles in enumerate(MOLECULES) if smiles in ("bad", "", "C1CC", "CC(C)(C)(C)C", "C(")]
NAMES = [f"m{place}" for place in range(len(MOLECULES))]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    rows = [f"{name},{smiles},{place}.5" for place, (name, smiles) in enumerate(zip(NAMES, MOLECULES, strict=True))]
    (folder / "m.csv").write_text("\n".join(["name,smiles,price", *rows]) + "\n")
    GraphGlass().fit(read_graphs([s for s in MOLECULES if s not in MOLECULES[:5]], format="smi")[:15]).save(
        folder / "model"
    )
    return folder


def run(*arguments):
    result = CliRunner().invoke(app, [str(item) for item in arguments])
    assert result.exit_code == 0, (result.output, result.exception)
    return result.output


def check(ids, scores, errors):
    assert list(ids) == NAMES
    lost = [place for place, score in enumerate(scores) if score is None or score == "" or score != score]
    assert lost == BAD
    assert [place for place, error in enumerate(errors) if isinstance(error, str) and error] == BAD


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("command", ["score", "outliers"])
def test_files(place, command, suffix):
    out = place / f"{command}.{suffix}"
    model = (place / "model",) if command == "score" else ()
    run(command, *model, place / "m.csv", "-o", out, "--keep", "price", "-q")
    if suffix == "csv":
        rows = list(csv.DictReader(out.read_text().splitlines()))
    else:
        rows = [json.loads(line) for line in out.read_text().splitlines()] if suffix == "jsonl" else None
    frame = pd.read_parquet(out) if rows is None else pd.DataFrame(rows)
    check(frame["id"], frame["score"], frame["error"])
    assert [str(value) for value in frame["price"]] == [f"{row}.5" for row in range(len(MOLECULES))]


def test_the_printed_ranking_skips_what_was_not_read(place):
    text = run("score", place / "model", place / "m.csv", "--top", "100", "-q")
    assert [name for name in NAMES if f" {name} " not in text] == [NAMES[row] for row in BAD]


def test_a_data_frame_keeps_its_index(place):
    frame = pd.read_csv(place / "m.csv").sample(frac=1, random_state=0).set_index("price")
    table = GraphGlass.load(place / "model").score_table(frame).to_pandas()
    joined = frame.join(table.drop(columns="id"))
    assert joined["score"].isna().tolist() == joined["name"].isin([NAMES[row] for row in BAD]).tolist()
    file = GraphGlass.load(place / "model").score_table(place / "m.csv").to_pandas()
    assert file.index.tolist() == NAMES
    assert dict(zip(joined["name"], joined["score"].fillna(0), strict=True)) == file["score"].fillna(0).to_dict()


def test_objects_and_their_places(place):
    detector = GraphGlass.load(place / "model")
    records = [{"id": "a", "nodes": 1}, {"id": "b", "nodes": 2, "edges": [[0, 5]]}, {"id": "c", "nodes": 2}, None]
    graphs = read_graphs(records)
    assert [(reject.id, reject.before) for reject in graphs.rejected] == [("b", 1), ("graph-3", 2)]
    again = concatenate([read_graphs([{"id": "z", "nodes": 1}]), graphs])
    assert [reject.before for reject in again.rejected] == [2, 3]
    smiles = read_graphs(MOLECULES, format="smi")
    rows = detector.score_table(smiles).to_pandas()
    assert np.flatnonzero(rows["error"].notna()).tolist() == BAD


def test_edge_tables(tmp_path):
    rows = [
        ("a", 0, 1, 1.5), ("b", 0, 1, 1.5), ("a", 1, 2, 2.5), ("c", 0, 1, 1.5), ("b", 1, None, 2.5), ("d", 0, 1, 0.5),
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["graph_id", "source", "target", "amount"])
    detector = GraphGlass().fit(frame[frame["graph_id"] != "b"])
    frame.to_csv(tmp_path / "e.csv", index=False)
    for source in (frame, tmp_path / "e.csv"):
        found = detector.score_table(source).to_pandas()
        assert found.index.tolist() == ["a", "b", "c", "d"]
        assert found["error"].notna().tolist() == [False, True, False, False]


def test_a_worker_of_a_cluster(tmp_path):
    records = [{"id": f"g{size}", "nodes": size, "edges": [[0, size - 1], [0, 1]]} for size in range(2, 12)]
    GraphGlass().fit(read_graphs(records)).save(tmp_path / "model")
    records[3]["edges"] = [[0, 99]]
    (tmp_path / "q.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    part = Part(str(tmp_path / "q.jsonl"), str(tmp_path / "part.parquet"))
    score_part(part, str(tmp_path / "model"), artifact_digest(str(tmp_path / "model")))
    found = pq.read_table(part.output).to_pylist()
    assert [row["id"] for row in found] == [f"g{size}" for size in range(2, 12)]
    assert [row["score"] is None for row in found] == [row == 3 for row in range(10)]
    assert "names node 99" in found[3]["error"]


def test_the_service(place):
    with TestClient(create_app(Service(place / "model"))) as client:
        answer = client.post("/v1/score", json={"smiles": MOLECULES}).json()
    lost = [row["position"] for row in answer["rejected"]]
    assert lost == BAD
    assert sorted(lost + [row["position"] for row in answer["results"]]) == list(range(len(MOLECULES)))
