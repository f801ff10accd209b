"""Files that the inspector opens: the service scores exactly what they say."""

from dataclasses import replace

import pytest
from fastapi.testclient import TestClient

from graphglass import GraphGlass, ReferenceDetector, read_graphs
from graphglass.errors import LimitError
from graphglass.serve.app import create_app
from graphglass.serve.graph_files import file_answer, read_file
from graphglass.serve.request_graphs import ServeLimits
from graphglass.serve.service import Service

MOLECULES = {
    "deuterated": "[2H]C([2H])([2H])n1cnc2c1c(=O)n(C)c(=O)n2C",
    "carbon-13": "[13CH3]C(=O)O",
    "salt": "[Na+].CC(=O)[O-]",
    "zwitterion": "C[N+](C)(C)CC(=O)[O-]",
    "left": "CN1CCC[C@H]1c1cccnc1",
    "right": "CN1CCC[C@@H]1c1cccnc1",
    "trans": "C/C=C/C",
    "cisplatin": "N[Pt](N)(Cl)Cl",
    "radical": "C[CH2]",
}


@pytest.fixture(scope="module")
def chemist(tmp_path_factory, molecules):
    """A model of molecules behind the application, and the model."""
    path = tmp_path_factory.mktemp("chemist") / "model"
    GraphGlass().fit(molecules).save(path)
    with TestClient(create_app(Service(path), limits=ServeLimits(seconds=300))) as client:
        yield client, ReferenceDetector.load(path)


def _smi():
    return "".join(f"{smiles} {name}\n" for name, smiles in MOLECULES.items())


def _csv():
    rows = "".join(f"{name},{number},{smiles}\n" for number, (name, smiles) in enumerate(MOLECULES.items()))
    return "name,dose,Canonical_SMILES\n" + rows


def _sdf():
    from rdkit import Chem

    blocks = []
    for name, smiles in MOLECULES.items():
        molecule = Chem.MolFromSmiles(smiles)
        molecule.SetProp("_Name", name)
        blocks.append(Chem.MolToMolBlock(molecule))
    return "$$$$\n".join([*blocks, ""])


@pytest.mark.parametrize(("suffix", "make"), [(".smi", _smi), (".csv", _csv), (".sdf", _sdf)])
def test_the_service_scores_what_the_file_says(chemist, tmp_path, suffix, make):
    client, detector = chemist
    (tmp_path / f"file{suffix}").write_text(make())
    graphs = read_graphs(tmp_path / f"file{suffix}")
    file = read_file(make().encode(), f"file{suffix}", ServeLimits().reading)
    assert [item["id"] for item in file.graphs] == list(graphs.ids) == list(MOLECULES)
    body = {"graphs": [item for item in file.graphs if "smiles" not in item]}
    body["smiles"] = [item for item in file.graphs if "smiles" in item]
    answer = client.post("/v1/score", json=body).json()
    assert answer["rejected"] == []
    scores = dict(zip(graphs.ids, detector.score_table(graphs).scores.tolist(), strict=True))
    assert {row["id"]: row["score"] for row in answer["results"]} == pytest.approx(scores, abs=1e-12)


def test_own_columns_travel_with_their_graphs():
    file = read_file(_csv().encode(), "file.csv", ServeLimits().reading)
    assert file.graphs[1]["smiles"] == MOLECULES["carbon-13"]
    assert file.graphs[1]["columns"] == {"name": "carbon-13", "dose": "1", "Canonical_SMILES": MOLECULES["carbon-13"]}
    line = b'{"id": "a", "nodes": 2, "edges": [[0, 1]], "team": "blue", "columns": {"day": 3}}'
    assert read_file(line, "", ServeLimits().reading).graphs[0]["columns"] == {"team": "blue", "day": 3}


def test_examples_score(tmp_path, flows, molecules):
    """Payments with amounts: edges that are added to an example carry amounts too."""
    for graphs in (flows(), molecules):
        GraphGlass().fit(graphs).save(tmp_path / "model")
        with TestClient(create_app(Service(tmp_path / "model"))) as client:
            carried = client.get("/v1/model").json()["carries"]
            assert ("edge attributes" in carried) == bool(graphs.edge_attribute_names)
            example = client.get("/v1/example").json()
            answer = client.post("/v1/score", json=example).json()
        assert answer["rejected"] == []
        ids = [row["id"] for row in sorted(answer["results"], key=lambda row: row["rank"])]
        assert len(ids) == 6
        assert set(ids[:2]) - set(graphs.ids)  # a graph that was made up is among the strangest


def test_a_spreadsheet_is_refused_with_advice(chemist):
    kind = {"content-type": "application/octet-stream"}
    answer = chemist[0].post("/v1/read", params={"name": "m.xlsx"}, content=b"PK\x03\x04", headers=kind)
    assert answer.status_code == 422
    assert "Save the sheet as CSV" in answer.json()["detail"]


def test_a_table_with_unknown_headers_names_its_columns(chemist):
    client, _ = chemist
    headers = {"Content-Type": "application/octet-stream"}
    table = "compound;structure;dose\nethanol;CCO;5\nacid;CC(=O)O;7\n"
    refused = client.post("/v1/read", params={"name": "x.csv"}, content=table, headers=headers)
    assert refused.status_code == 422
    assert refused.json()["columns"] == ["compound", "structure", "dose"]
    large = table + "ethanol;CCO;5\n" * 4_000  # the worker process reads it
    again = client.post("/v1/read", params={"name": "x.csv"}, content=large, headers=headers)
    assert (again.status_code, again.json()["columns"]) == (422, ["compound", "structure", "dose"])
    chosen = {"name": "x.csv", "smiles_column": "structure", "id_column": "compound"}
    read = client.post("/v1/read", params=chosen, content=table, headers=headers).json()["graphs"]
    assert [(item["id"], item["smiles"], item["columns"]["dose"]) for item in read] == [
        ("ethanol", "CCO", "5"),
        ("acid", "CC(=O)O", "7"),
    ]
    payments = "day,from,to,amount\n1,a,b,5\n1,b,c,7\n2,a,c,1\n"
    refused = client.post("/v1/read", params={"name": "p.csv"}, content=payments, headers=headers)
    assert refused.json()["columns"] == ["day", "from", "to", "amount"]
    chosen = {"name": "p.csv", "graph_column": "day", "source_column": "from", "target_column": "to"}
    read = client.post("/v1/read", params=chosen, content=payments, headers=headers).json()["graphs"]
    assert [len(item["edges"]) for item in read] == [2, 1]
    bad = client.post("/v1/read", params={**chosen, "source_column": "absent"}, content=payments, headers=headers)
    assert bad.status_code == 422


def test_an_answer_larger_than_a_page_can_use_is_refused():
    """A file of a megabyte may unpack to millions of edges, and the service itself would hold them all."""
    limits = replace(ServeLimits().reading, max_record_bytes=100)
    with pytest.raises(LimitError, match="more than a page can use"):
        file_answer(b"\n".join([b"CCO"] * 40), "m.smi", limits, {}, None)
    assert b"CCO" in file_answer(b"CCO", "m.smi", limits, {}, None)
