"""One labelled file: its own columns and classes go in, a ranking with them and an AUROC come out."""

import csv
import json
import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score
from typer.testing import CliRunner

from graphglass import ReferenceDetector, read_graphs
from graphglass.cli.app import app
from graphglass.cli.labels import anomalous
from graphglass.detector.reference_sets import equal_places

CHAINS = [("C" * size + end, "chain", f"n{size}{end}") for size in range(2, 9) for end in ("O", "N", "")]
RINGS = [("c1ccccc1" + end, "ring", f"r{end}") for end in ("Br", "Cl", "F", "I", "CBr")]


def glass(*arguments, code=0):
    result = CliRunner().invoke(app, [str(item) for item in arguments])
    assert result.exit_code == code, (result.output, result.exception)
    return result


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("labelled")
    rows = [f"{name},{smiles},{kind}" for smiles, kind, name in (*CHAINS, *RINGS)]
    (folder / "all.csv").write_text("\n".join(["compound,smiles,kind", *rows]) + "\n")
    glass("fit", folder / "all.csv", "--label-column", "kind", "--normal", "chain", "-o", folder / "model", "-q")
    return folder


def test_fit_takes_the_normal_class_alone(place):
    references = ReferenceDetector.load(place / "model").references_.graphs
    assert len(references) == len(CHAINS)
    assert references.labels is None


def test_score_carries_columns_and_marks_references(place):
    output = place / "ranked.csv"
    arguments = ("--label-column", "kind", "--normal", "chain", "--keep", "compound,SMILES", "-o", output, "-q")
    result = glass("score", place / "model", place / "all.csv", *arguments)
    rows = list(csv.DictReader(output.read_text().splitlines()))
    assert [row["compound"] for row in rows] == [name for *_, name in (*CHAINS, *RINGS)]
    assert rows[0]["smiles"] == "CCO"
    assert [row["reference"] for row in rows] == ["true"] * len(CHAINS) + ["false"] * len(RINGS)
    detector = ReferenceDetector.load(place / "model")
    assert np.allclose([float(row["score"]) for row in rows[: len(CHAINS)]], detector.decision_scores_)
    assert f"{len(CHAINS)} of {len(rows)} graphs equal a reference" in result.output
    assert "hold some normal graphs out" in result.output
    assert "AUROC needs new graphs of both classes; all are anomalous." in result.output


def test_the_order_of_rows_changes_nothing(place):
    head, *rows = (place / "all.csv").read_text().splitlines()
    (place / "shuffled.csv").write_text("\n".join([head, *reversed(rows)]) + "\n")
    found = []
    for name in ("all.csv", "shuffled.csv"):
        glass("score", place / "model", place / name, "--keep", "compound", "-o", place / f"{name}.jsonl", "-q")
        lines = map(json.loads, (place / f"{name}.jsonl").read_text().splitlines())
        found.append({line["compound"]: (line["score"], line["p_value"], line["reference"]) for line in lines})
    assert found[0] == found[1]


def test_a_graph_labelled_anomalous_is_never_taken_for_a_reference(place):
    """Stereoisomers of both classes are one graph."""
    (place / "twin.csv").write_text("smiles,kind\nCCO,ring\nCCO,chain\n" + f"{RINGS[0][0]},ring\nCCCCCCS,chain\n")
    arguments = ("--label-column", "kind", "--normal", "chain", "-o", place / "twin.jsonl", "-q")
    told = glass("score", place / "model", place / "twin.csv", *arguments).output
    rows = [json.loads(line) for line in (place / "twin.jsonl").read_text().splitlines()]
    assert [row["reference"] for row in rows] == [False, True, False, False]
    new = ReferenceDetector.load(place / "model").decision_function(read_graphs(place / "twin.csv"))
    assert rows[0]["score"] == new[0] != rows[1]["score"]
    assert f"AUROC {roc_auc_score([1, 1, 0], new[[0, 2, 3]]):.4f} (1 normal graph, 2 anomalies)." in told


def test_of_equal_references_the_one_with_the_same_id_is_meant():
    references = read_graphs(["CCO", "CCN", "CCO"], format="smi")
    queries = references[[2, 1, 0]]
    assert equal_places(queries, references).tolist() == [2, 1, 0]
    renamed = replace(queries, ids=("a", "b", "c"))
    assert equal_places(renamed, references).tolist() == [0, 1, 0]
    assert equal_places(read_graphs(["CCF"], format="smi"), references).tolist() == [-1]


def test_known_anomalies_are_left_out_of_the_auroc(place):
    (place / "known.smi").write_text(RINGS[0][0])
    labels = ("--label-column", "kind", "--normal", "chain")
    fitting = ("--anomalies", place / "known.smi", "-o", place / "taught", "-q")
    glass("fit", place / "all.csv", *labels, *fitting)
    told = glass("score", place / "taught", place / "all.csv", *labels, "-q").output
    assert f"1 of {len(CHAINS) + len(RINGS)} graphs are known anomalies" in told
    assert "Left out of the AUROC: 1 known anomaly." in told
    assert (
        "Left out of the AUROC: 1 known anomaly."
        in glass("compare", place / "model", place / "taught", place / "all.csv", *labels, "-q").output
    )


def test_the_ranking_on_the_screen_and_the_report_show_own_columns(place):
    shown = glass("score", place / "model", place / "all.csv", "--keep", "compound", "--top", 1, "-q").output
    assert "compound" in shown
    glass("score", place / "model", place / "all.csv", "--keep", "all", "--report", place / "r.html", "-q")
    page = (place / "r.html").read_text()
    assert '<th scope="col" class="own">compound</th>' in page
    assert ">rCBr</td>" in page


def test_a_column_with_the_name_of_a_result_keeps_both(place):
    path = place / "clash.csv"
    path.write_text("smiles,score\nCCO,high\nCCN,low\n")
    glass("score", place / "model", path, "--keep", "all", "-o", place / "clash-scores.csv", "-q")
    row = next(csv.DictReader((place / "clash-scores.csv").read_text().splitlines()))
    assert float(row["score"]) < 10
    assert row["input_score"] == "high"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--normal", "square"), "No graph in"),
        (("--label-column", "kind"), "--label-column needs --normal"),
        (("--label-column", "nothing", "--normal", "chain"), "nothing"),
        (("--keep", "nothing"), "no column 'nothing'"),
    ],
)
def test_wrong_names_are_refused(place, arguments, message):
    given = (
        arguments if "--label-column" in arguments or "--keep" in arguments else ("--label-column", "kind", *arguments)
    )
    result = CliRunner().invoke(app, ["score", str(place / "model"), str(place / "all.csv"), *given])
    assert result.exit_code != 0
    assert message in f"{result.exception}"


def test_a_blank_class_is_counted(place):
    text = (place / "all.csv").read_text()
    (place / "blank.csv").write_text(text.replace(",chain", ",", 1))
    arguments = ("--label-column", "kind", "--normal", "chain", "-q")
    result = CliRunner().invoke(app, ["score", str(place / "model"), str(place / "blank.csv"), *arguments])
    assert "--label-column kind must give every graph" in str(result.exception)
    assert "1 of 26 graphs have no class label." in str(result.exception)


@pytest.mark.parametrize(
    ("classes", "normal", "expected"),
    [
        ([9007199254740993, 9007199254740992], "9007199254740993", [False, True]),
        ([1, 0], "1.0", [False, True]),
        ([1, 0], "false", [True, False]),  # as JSON's true and false are read
        ([1, 0], "True", [False, True]),
        (["true", "other"], "true", [False, True]),
    ],
)
def test_classes_are_told_apart_however_they_are_written(classes, normal, expected):
    graphs = replace(read_graphs(["CCO", "CCN"], format="smi"), labels=np.array(classes))
    assert anomalous(graphs, "kind", normal, "a file").tolist() == expected


def test_compare_names_who_moved_and_why(place):
    glass("fit", place / "all.csv", "--label-column", "kind", "--normal", "ring", "-o", place / "rings", "-q")
    arguments = ("compare", place / "model", place / "rings", place / "all.csv")
    found = json.loads(glass(*arguments, "--json", "-q").stdout)
    detectors = [ReferenceDetector.load(place / name) for name in ("model", "rings")]
    graphs = read_graphs(place / "all.csv")
    scores = [item.score_table(graphs).scores for item in detectors]
    assert "auroc" not in found  # every graph is a reference of one of them
    assert found["spearman"] < 0
    first = found["moved"][0]
    place_of = graphs.ids.index(first["id"])
    assert first["score_b"] == pytest.approx(scores[1][place_of])
    assert abs(first["rank_a"] - first["rank_b"]) >= max(abs(m["rank_a"] - m["rank_b"]) for m in found["moved"])
    families = {name.partition(":")[0] for name in detectors[1].contributions(graphs[place_of])}
    assert first["why"].partition(" ")[0] in families
    assert first["why"].endswith(f"(reference of {'A' if first['rank_a'] > first['rank_b'] else 'B'})")
    assert "rank correlation" in glass(*arguments, "-q").output
    same = json.loads(glass("compare", place / "model", place / "model", place / "all.csv", "--json", "-q").output)
    assert same["spearman"] == pytest.approx(1)
    assert same["moved"] == []


def test_compare_explains_what_it_cannot_measure(place):
    (place / "equal.csv").write_text("smiles,kind\nCCO,chain\nCCO,chain\n")
    arguments = ("compare", place / "model", place / "rings", place / "equal.csv", "-q")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = glass(*arguments, "--json").stdout
    assert json.loads(found)["spearman"] is None
    assert "NaN" not in found
    told = glass(*arguments, "--label-column", "kind", "--normal", "chain")
    assert "rank correlation (Spearman) undefined." in told.stdout
    assert "AUROC needs new graphs of both classes; no graph is left." in told.stderr
