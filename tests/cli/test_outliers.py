"""One file without labels: its most unusual graphs."""

import csv
import json

import numpy as np
import pytest
from typer.testing import CliRunner

from graphglass import GraphGlass, read_graphs
from graphglass.cli.app import app

ROWS = ["smiles,name", *(f"{'C' * n}{end},{n}{end}" for n in range(2, 12) for end in ("O", "N", "F")), "CC(O)C[Pt],odd"]


def glass(*arguments, code=0):
    result = CliRunner().invoke(app, [str(item) for item in arguments])
    assert result.exit_code == code, (result.output, result.exception)
    return result


@pytest.fixture
def molecules(tmp_path):
    (tmp_path / "m.csv").write_text("\n".join([*ROWS, "not-a-molecule,bad", ROWS[1]]) + "\n")
    return tmp_path / "m.csv"


def test_every_row_is_ranked_by_its_leave_one_out_score(molecules, tmp_path):
    out, page = tmp_path / "ranked.csv", tmp_path / "page.html"
    glass("outliers", molecules, "-o", out, "--report", page, "--keep", "name", "-q")
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert len(rows) == len(ROWS) + 1  # as many as in the file: the copy and the unreadable one included
    first = min((row for row in rows if row["rank"]), key=lambda row: int(row["rank"]))
    assert first["name"] == "odd"
    bad = next(row for row in rows if row["error"])
    assert (bad["score"], bad["rank"]) == ("", "")
    graphs = read_graphs(molecules)
    detector = GraphGlass().fit(graphs)
    by_id = {row["id"]: float(row["score"]) for row in rows if row["score"]}
    table = detector.score_table(graphs)
    assert by_id == pytest.approx(dict(zip(table.ids, table.scores, strict=True)))
    assert "<h1>" in page.read_text()


def test_a_file_too_small_for_flags_is_said_to_be(tmp_path):
    (tmp_path / "m.smi").write_text("".join(f"{'C' * n}O m{n}\n" for n in range(1, 13)))
    told = glass("outliers", tmp_path / "m.smi", "-q").stderr
    assert "no graph can be flagged at 0.05 with 11 references: the smallest p-value is 0.083" in told
    assert "flagged at" not in glass("outliers", tmp_path / "m.smi", "-q", "--alpha", "0.09").stderr


def test_a_model_of_the_file_gives_the_same_scores(molecules, tmp_path):
    glass("outliers", molecules, "-o", tmp_path / "a.jsonl", "-q")
    glass("fit", molecules, "-o", tmp_path / "model", "-q")
    glass("score", tmp_path / "model", molecules, "-o", tmp_path / "b.jsonl", "-q")
    a, b = ([json.loads(line) for line in (tmp_path / f"{name}.jsonl").read_text().splitlines()] for name in "ab")
    assert a == b


def test_the_model_reads_queries_as_its_references_were_read(tmp_path):
    random = np.random.default_rng(0)
    lines = [
        f"g{g},{s},{t},{random.random():.3f}" for g in range(30) for s, t in random.integers(0, 6, (8, 2)) if s != t
    ]
    (tmp_path / "e.csv").write_text("\n".join(["graph_id,from,to,amount", *lines]) + "\n")
    options = ("--source", "from", "--target", "to", "--directed")
    glass("fit", tmp_path / "e.csv", "-o", tmp_path / "model", *options, "-q")
    glass("score", tmp_path / "model", tmp_path / "e.csv", "-o", tmp_path / "a.jsonl", "-q")  # without the options
    glass("score", tmp_path / "model", tmp_path / "e.csv", "-o", tmp_path / "b.jsonl", *options, "-q")
    assert (tmp_path / "a.jsonl").read_text() == (tmp_path / "b.jsonl").read_text()
    refused = CliRunner().invoke(app, ["score", str(tmp_path / "model"), str(tmp_path / "e.csv"), "--undirected", "-q"])
    assert "--directed" in str(refused.exception)
    assert "--undirected" in str(refused.exception)


def test_a_shifted_column_is_named(tmp_path):
    def table(name, shift):
        lines = [f"g{g},{i},{i + 1},{100 * shift + g + i / 10}" for g in range(20) for i in range(4)]
        (tmp_path / name).write_text("\n".join(["graph_id,source,target,level", *lines]) + "\n")
        return tmp_path / name

    glass("fit", table("a.csv", 0), "-o", tmp_path / "model", "-q", "--use", "level")
    told = glass("score", tmp_path / "model", table("b.csv", 9), "-q").output
    assert "'level' lies outside the references' range" in told
    assert "--ignore level" in told


def test_a_shifted_column_is_named_before_the_ranking(tmp_path):
    random = np.random.default_rng(0)
    for name, level in (("old", 10), ("new", 100)):
        rows = [f"{name}{g},{s},{s + 1},{random.normal(level):.4f}" for g in range(30) for s in range(4)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["graph_id,source,target,level", *rows]) + "\n")
    glass("fit", tmp_path / "old.csv", "-o", tmp_path / "model", "--undirected", "-q")
    text = glass("score", tmp_path / "model", tmp_path / "new.csv", "-q").output
    assert "'level' lies outside the references' range" in text
    assert "--ignore level" in text
    assert text.index("'level' lies outside") < text.index("Most abnormal first")
