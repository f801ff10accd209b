"""fit, score, explain, references and info, as a person would call them."""

import json
import os
import shutil
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from graphglass import GLASS, ReferenceDetector, write_json_lines
from graphglass.cli.app import app
from graphglass.cli.reading_options import Reading
from graphglass.cli.references import add
from graphglass.errors import InputError
from graphglass.graphs.concatenation import concatenate


def glass(*arguments):
    return CliRunner().invoke(app, [str(item) for item in arguments])


def fails(message, *arguments):
    result = glass(*arguments)
    assert result.exit_code != 0
    assert message in f"{result.exception} {result.output}"


@pytest.fixture(scope="module")
def place(tmp_path_factory, normals, queries):
    folder = tmp_path_factory.mktemp("commands")
    write_json_lines(normals, folder / "normals.jsonl")
    write_json_lines(queries, folder / "queries.jsonl")
    result = glass("fit", folder / "normals.jsonl", "-o", folder / "model")
    assert result.exit_code == 0, result.output
    assert "Fitted on 40 graphs" in result.output
    assert not (folder / "model.checkpoint").exists()
    return folder


def test_score_prints_a_ranking(place, queries):
    result = glass("score", place / "model", place / "queries.jsonl", "--top", 3)
    assert result.exit_code == 0, result.output
    assert "24 graphs" in result.output
    assert "21 not shown" in result.output


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl"])
def test_score_writes_rows_in_input_order(place, queries, suffix):
    output = place / f"scores.{suffix}"
    assert glass("score", place / "model", place / "queries.jsonl", "-o", output).exit_code == 0
    expected = ReferenceDetector.load(place / "model").decision_function(queries)
    if suffix == "parquet":
        rows = pq.read_table(output).to_pylist()
    elif suffix == "jsonl":
        rows = [json.loads(line) for line in output.read_text().splitlines()]
    else:
        head, *lines = output.read_text().splitlines()
        assert head == '"id","score","p_value","flagged","rank","reference","reason","error"'
        rows = [{"id": line.split(",")[0].strip('"'), "score": float(line.split(",")[1])} for line in lines]
    assert [row["id"] for row in rows] == list(queries.ids)
    assert [row["score"] for row in rows] == pytest.approx(list(expected))


def test_score_against_other_references(place):
    here = glass("score", place / "model", place / "queries.jsonl", "--references", place / "queries.jsonl", "--top", 1)
    assert here.exit_code == 0, here.output


def test_score_refuses_values_out_of_range(place):
    for option, value in (("--alpha", 5), ("--alpha", -0.1), ("--top", -3)):
        result = glass("score", place / "model", place / "queries.jsonl", option, value)
        assert result.exit_code == 2
        assert option in result.stderr


def test_score_says_when_too_few_references_can_flag_anything(place, normals, tmp_path):
    write_json_lines(normals[:5], tmp_path / "five.jsonl")
    command = ("score", place / "model", place / "queries.jsonl", "--references", tmp_path / "five.jsonl")
    told = glass(*command)
    assert "0 flagged" in told.stdout
    assert (
        "no graph can be flagged at 0.05 with 5 references: the smallest p-value is 0.167; "
        "use at least 19 references or --alpha 0.2"
    ) in told.stderr
    assert "no graph can be flagged" not in glass(*command, "--alpha", 0.2).stderr
    assert "no graph can be flagged" not in glass("score", place / "model", place / "queries.jsonl").stderr


@pytest.mark.parametrize("option", ["-o", "--report"])
def test_score_refuses_a_place_it_cannot_write_before_any_work(place, tmp_path, monkeypatch, option):
    monkeypatch.setattr(GLASS, "load", lambda *_: pytest.fail("worked first"))
    name = "scores.csv" if option == "-o" else "report.html"
    (tmp_path / "file").write_text("")
    (tmp_path / name).mkdir()
    for path, trouble in (
        (tmp_path / "page.pdf", "must end in"),
        (tmp_path / name, "is a directory"),
        (tmp_path / "absent" / name, "does not exist"),
        (tmp_path / "file" / name, "is a file, not a folder"),
    ):
        result = glass("score", place / "model", place / "queries.jsonl", option, path)
        assert isinstance(result.exception, InputError), result.output
        assert str(path) in str(result.exception)
        assert trouble in str(result.exception)


@pytest.mark.parametrize("command", ["score", "describe"])
def test_an_input_is_not_replaced_by_the_result(place, tmp_path, command):
    shutil.copy(place / "queries.jsonl", tmp_path)
    path, link = tmp_path / "queries.jsonl", tmp_path / "link.jsonl"
    link.symlink_to(path)
    before = path.read_bytes()
    model = (place / "model",) if command == "score" else ()
    for output in (path, link):
        fails(f"{output} is an input", command, *model, path, "-o", output)
    if model:
        shutil.copy(path, tmp_path / "page.html")
        page = tmp_path / "page.html"
        fails("page.html is an input", command, *model, path, "--references", page, "--report", page)
    assert path.read_bytes() == before


@pytest.mark.parametrize("option", ["-o", "--report"])
def test_a_failed_write_names_the_file_asked_for(place, tmp_path, monkeypatch, option):
    move = os.replace

    def full(source, target):
        if Path(target).parent != tmp_path:  # compiled functions may be cached meanwhile
            return move(source, target)
        raise OSError(28, "No space left on device", source)

    monkeypatch.setattr("os.replace", full)
    path = tmp_path / ("scores.parquet" if option == "-o" else "report.html")
    result = glass("score", place / "model", place / "queries.jsonl", option, path)
    assert str(result.exception) == f"Could not write {path}: No space left on device. Nothing was left behind."
    assert list(tmp_path.iterdir()) == []


def test_report_is_one_self_contained_file(place):
    report = place / "report.html"
    assert glass("score", place / "model", place / "queries.jsonl", "--report", report).exit_code == 0
    page = report.read_text().replace("http://www.w3.org/2000/svg", "")  # a namespace, nothing that is fetched
    assert page.count('class="legend"') == 6  # of the map, and one for each explained graph
    assert page.count("<svg") >= 2 + 5 * 4
    for outside in ("http://", "https://", "<script src", '<link rel="stylesheet"', "<img"):
        assert outside not in page


def test_explain(place, queries):
    command = ("explain", place / "model", place / "queries.jsonl", "--id", queries.ids[0])
    told = glass(*command)
    assert told.exit_code == 0, told.output
    assert "Nearest normal graphs" in told.output
    assert "patterns 0." in told.output  # the similarity to a neighbour by family
    body = json.loads(glass(*command, "--json").output)
    assert sum(body["contributions"].values()) == pytest.approx(body["score"])


def test_a_single_graph_is_explained_without_its_id(place, queries, tmp_path):
    write_json_lines(queries[:1], tmp_path / "one.jsonl")
    assert glass("explain", place / "model", tmp_path / "one.jsonl").output.startswith(f"{queries.ids[0]}: score")
    fails("Name it with --id.", "explain", place / "model", place / "queries.jsonl")


def test_names_are_printed_as_they_are(place, normals, queries, tmp_path):
    # Markup would lose [nH], stop at [/y] and draw :o: as a circle.
    model, odd = tmp_path / "model", ("c1cc[nH]c1", "[/y]", "c:o:c", "[bold]x")
    renamed = replace(normals[:4], ids=tuple(f"normal {name}" for name in odd))
    ReferenceDetector.load(place / "model").with_references(renamed).save(model)
    names = np.array([f"[N{i}]" for i in range(queries[:4].node_count)])
    write_json_lines(replace(queries[:4], ids=odd, node_names=names), tmp_path / "queries.jsonl")
    ranking = glass("score", model, tmp_path / "queries.jsonl")
    assert ranking.exit_code == 0, ranking.output
    assert all(f" {name} " in ranking.output for name in odd)
    told = glass("explain", model, tmp_path / "queries.jsonl", "--id", "[/y]")
    assert told.exit_code == 0, told.output
    assert told.output.startswith("[/y]: score")
    assert all(f" normal {name} " in told.output for name in odd)
    every = [glass("explain", model, tmp_path / "queries.jsonl", "--id", name).output for name in odd]
    assert any("[N" in output.partition("largest parts of the score:")[2] for output in every)


def test_references_list_add_remove_replace(place, queries, tmp_path):
    model = tmp_path / "model"
    shutil.copytree(place / "model", model)
    write_json_lines(queries[:2], tmp_path / "two.jsonl")
    assert glass("references", model, "add", tmp_path / "two.jsonl").exit_code == 0
    listed = glass("references", model, "list").output.splitlines()
    assert len(listed) == 42
    assert glass("references", model).output.splitlines() == listed
    assert "now has 41 references." in glass("references", model, "remove", queries.ids[0]).output
    assert "now has 40 references." in glass("references", model, "remove", queries.ids[1]).output
    assert len(glass("references", model, "list").output.splitlines()) == 40
    assert glass("references", model, "replace", tmp_path / "two.jsonl").exit_code == 0
    assert len(glass("references", model, "list").output.splitlines()) == 2


@pytest.mark.skipif(os.name != "posix", reason="only POSIX systems can lock a directory")
def test_two_changes_at_once_are_both_kept(place, queries, tmp_path, monkeypatch):
    model = tmp_path / "model"
    shutil.copytree(place / "model", model)
    for i in (0, 1):
        write_json_lines(queries[i], tmp_path / f"{i}.jsonl")
    load, both, threads = ReferenceDetector.load, threading.Barrier(2, timeout=0.5), []

    def load_together(path):
        loaded = load(path)
        with suppress(threading.BrokenBarrierError):  # one change waits for the other, which then waits here in vain
            both.wait()
        return loaded

    monkeypatch.setattr(GLASS, "load", load_together)
    for i in (0, 1):
        # Not through a runner: it exchanges standard output, which the two share.
        change = partial(add.__wrapped__, SimpleNamespace(obj=model), tmp_path / f"{i}.jsonl", reading=Reading())
        threads.append(threading.Thread(target=change))
        threads[-1].start()
    for thread in threads:
        thread.join()
    assert set(queries.ids[:2]) <= set(load(model).references_.graphs.ids)


def test_known_anomalies(place, queries, tmp_path):
    write_json_lines(queries[:2], tmp_path / "known.jsonl")
    model = tmp_path / "model"
    fitted = glass("fit", place / "normals.jsonl", "--anomalies", tmp_path / "known.jsonl", "-o", model, "-q")
    assert "Fitted on 40 graphs and 2 known anomalies" in fitted.output
    assert glass("references", model, "list").output.splitlines()[40:] == [
        f"{name}\tanomaly" for name in queries.ids[:2]
    ]
    removed = glass("references", model, "remove", "--anomalous", queries.ids[0])
    assert "now has 40 references and 1 known anomaly." in removed.output
    write_json_lines(queries[:1], tmp_path / "one.jsonl")
    added = glass("references", model, "add", tmp_path / "one.jsonl", "--anomalous")
    assert "now has 40 references and 2 known anomalies." in added.output
    expected = ReferenceDetector.load(model).decision_function(queries[2:])
    assert not np.allclose(expected, ReferenceDetector.load(place / "model").decision_function(queries[2:]))
    fails("There is no known anomaly 'nobody'", "references", model, "remove", "--anomalous", "nobody")


def test_strict_refuses_a_known_anomaly_that_is_a_reference(place, normals, queries, tmp_path):
    write_json_lines(concatenate([normals[:1], queries[:1].without_labels()]), tmp_path / "known.jsonl")
    command = ("fit", place / "normals.jsonl", "--anomalies", tmp_path / "known.jsonl", "-o", tmp_path / "model", "-q")
    fails("1 known anomalies equal a normal reference", *command, "--strict")
    assert not (tmp_path / "model").exists()
    with pytest.warns(UserWarning, match="Skipped 1 known anomalies"):
        assert "and 1 known anomaly" in glass(*command).output


def test_fit_refuses_what_the_method_lacks(place, tmp_path):
    fails("--resume is for --method glass", "fit", place / "normals.jsonl", "-o", tmp_path / "m", "--resume")
    paper = ("--method", "glass", "--anomalies", place / "queries.jsonl")
    fails("--anomalies needs GraphGlass", "fit", place / "normals.jsonl", "-o", tmp_path / "m", *paper)


@pytest.mark.slow
def test_a_full_device_is_one_line(place):
    if not Path("/dev/full").exists():
        pytest.skip("there is no device that is always full")
    for command in (("score", place / "model", place / "queries.jsonl", "-q"), ("references", place / "model")):
        with Path("/dev/full").open("w") as full:
            arguments = [sys.executable, "-m", "graphglass.cli", *map(str, command)]
            ended = subprocess.run(arguments, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        assert ended.returncode == 2
        assert ended.stderr.splitlines()[-1] == "glass: No space left on device"
        assert "Traceback" not in ended.stderr


def test_demo_refuses_before_any_work(tmp_path, monkeypatch):
    monkeypatch.setattr(GLASS, "fit", lambda *_: pytest.fail("worked first"))
    fails("--seeds", "demo", "-o", tmp_path, "--seeds", 0)
    (tmp_path / "file").write_text("")
    fails("cannot be made", "demo", "-o", tmp_path / "file" / "folder")


def test_watch_refuses_an_alarm_that_always_sounds(place):
    fails("--alarm must be above 1", "watch", place / "model", "--alarm", 0)


def test_info(place):
    facts = json.loads(glass("info", place / "model", "--json").output)
    assert facts["references"] == 40
    assert facts["known anomalies"] == 0
    assert "epochs" not in facts  # nothing is trained


def test_fit_replaces_a_model_only_by_force(place, tmp_path):
    model = tmp_path / "model"
    shutil.copytree(place / "model", model)
    before = (model / "manifest.json").read_bytes()
    command = ("fit", place / "queries.jsonl", "-o", model)
    fails(f"{model} already holds a model. Add --force", *command)
    assert (model / "manifest.json").read_bytes() == before
    result = glass(*command, "--force", "--quiet")
    assert result.exit_code == 0, result.output
    assert "Fitted on 24 graphs" in result.output
    assert result.stderr == ""


def test_help_lists_only_the_options_of_the_command():
    for command in ("fit", "score", "cache", "references", "encoders", "data"):
        assert "completion" not in glass(command, "--help").output


def test_version():
    from graphglass import __version__

    assert glass("--version").output == f"glass {__version__}\n"


def test_bad_input_says_what_to_do(place, tmp_path):
    for command in ("score", "explain", "info", "references", "serve", "watch"):
        fails(f"{tmp_path / 'nothing'} is not a model: it does not exist", command, tmp_path / "nothing")
    fails(f"{tmp_path} is not a model: it has no manifest.json", "info", tmp_path)
    fails("must end in", "score", place / "model", place / "queries.jsonl", "-o", tmp_path / "scores.xls")
    fails("There is no graph 'nobody'", "explain", place / "model", place / "queries.jsonl", "--id", "nobody")
    fails("is not a model", "fit", place / "normals.jsonl", "-o", place)
    fails("does not exist", "fit", place / "normals.jsonl", "-o", tmp_path / "no" / "where")
    fails("does not exist", "score", place / "model", tmp_path / "absent.jsonl")
    fails("is a URL", "fit", place / "normals.jsonl", "-o", "memory://m")
    fails("is a URL", "references", "s3://bucket/m", "list")
    fails("is a URL", "references", "s3://bucket/m", "add", place / "queries.jsonl")
    (tmp_path / "one.jsonl").write_text('{"id": "a", "nodes": [{"id": 0}], "edges": []}\n')
    fails("at least 2 normal graphs", "fit", tmp_path / "one.jsonl", "-o", tmp_path / "m")
    assert not (tmp_path / "m").exists()
