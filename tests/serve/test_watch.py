import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from graphglass import GLASS, read_graphs
from graphglass.cli.app import app
from graphglass.detector.drift import DriftMartingale
from graphglass.errors import InputError
from graphglass.graphs.readers.json_lines import json_records
from graphglass.serve.line_sources import MOST_AT_ONCE, Line, directory_lines, read_places, stream_lines, write_places
from graphglass.serve.service import Service
from graphglass.serve.stream_scorer import StreamScorer


def _text(records):
    return "".join(json.dumps(record) + "\n" for record in records)


def remembering(directory):
    """One look after another at a directory, each from where the last one stopped."""
    places = {}

    def taken():
        batches = directory_lines(directory, poll=0.01, once=True, longest=100, places=places)
        return [line.content for lines in batches for line in lines]

    return taken


def test_a_stream_is_scored_as_the_library_scores_it(model, ring):
    records = [ring(size, f"ring {size}") for size in (5, 6, 7)]
    text = _text(records[:2]) + "\n{torn\n[1]\n" + '{"nodes": 2, "edges": [[0, 5]]}\n' + _text([records[2], ring(5)])
    result = CliRunner().invoke(app, ["watch", str(model), "--alpha", "0.2"], input=text)
    assert result.exit_code == 0
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert [row["id"] for row in rows] == ["ring 5", "ring 6", "ring 7", "input:8"]
    detector = GLASS.load(model)
    graphs = read_graphs([*records, ring(5)])
    assert [row["score"] for row in rows] == pytest.approx(list(detector.decision_function(graphs)), abs=1e-6)
    assert [row["p_value"] for row in rows] == pytest.approx(list(detector.p_values(graphs)))
    assert [row["flagged"] for row in rows] == [row["p_value"] <= 0.2 for row in rows]
    assert "input line 4: not a JSON record" in result.stderr
    assert "input line 6" in result.stderr
    assert "4 graphs scored" in result.stderr
    assert "3 bad lines" in result.stderr


def test_drift_is_reported(model, ring, mutag):
    """Molecules like the references, then rings of another size."""
    alike = mutag[np.flatnonzero(mutag.labels == 1)[40:]].structure_only().without_labels()
    rng = np.random.default_rng(0)
    usual = list(json_records(alike[rng.permutation(len(alike))]))
    unusual = [ring(int(size), f"ring {size}") for size in rng.permutation(range(30, 70))]
    calm = CliRunner().invoke(app, ["watch", str(model)], input=_text(usual))
    assert "drift at" not in calm.stderr
    assert f"{len(usual)} graphs scored" in calm.stderr
    changed = CliRunner().invoke(app, ["watch", str(model)], input=_text(usual + unusual))
    assert "drift at 'ring " in changed.stderr
    assert "drift at" not in changed.stderr.partition("drift at 'ring ")[0]
    words = changed.stderr.partition("drift at 'ring ")[2].splitlines()[0]
    assert "scores rose by" in words
    assert "patterns" in words.partition("of the change: ")[2]  # rings hold patterns that no molecule has


def test_drift_is_reported_when_every_graph_comes_alone(model, ring, mutag):
    """The ids of graphs are places in their batch: all alike here."""
    alike = mutag[np.flatnonzero(mutag.labels == 1)[40:]].structure_only().without_labels()
    rng = np.random.default_rng(0)
    records = list(json_records(alike[rng.permutation(len(alike))]))
    records += [ring(int(size), f"ring {size}") for size in rng.permutation(range(30, 70))]
    messages = []
    scorer = StreamScorer(Service(model), alpha=0.05, drift=DriftMartingale(), complain=messages.append)
    rows = [scorer.rows([Line("input", i, json.dumps(record).encode())]) for i, record in enumerate(records)]
    assert all(len(row) == 1 for row in rows)
    assert any("drift at 'ring " in message and "of the change: " in message for message in messages)


@pytest.mark.parametrize("known", [False, True])
def test_the_cause_of_drift_since_the_references_is_told_where_it_can_be_compared(model, ring, tmp_path, known):
    records = [ring(size, f"ring {size}") for size in range(30, 60)]
    if known:
        GLASS.load(model).add_anomalies(read_graphs([ring(25, "known")])).save(tmp_path / "model")
        model = tmp_path / "model"
    told = (
        CliRunner().invoke(app, ["watch", str(model), "--from-references", "--alarm", "5"], input=_text(records)).stderr
    )
    assert "drift at 'ring " in told
    assert ("of the change: " in told) is not known


def test_a_directory_once(model, ring, tmp_path):
    incoming = tmp_path / "incoming"
    incoming.mkdir()
    (incoming / "a.jsonl").write_text(_text([ring(5, "x"), ring(6, "y")]))
    (incoming / "b.jsonl").write_text(_text([ring(7, "x")]).rstrip())
    (incoming / "note.txt").write_text("not for us")
    output = tmp_path / "results.jsonl"
    options = ["--input", str(incoming), "--once", "-o", str(output)]
    assert CliRunner().invoke(app, ["watch", str(model), *options]).exit_code == 0
    assert [json.loads(line)["id"] for line in output.read_text().splitlines()] == ["x", "y", "x"]
    assert CliRunner().invoke(app, ["watch", str(model), "--input", str(tmp_path / "absent")]).exit_code != 0


def test_a_directory_is_taken_up_where_the_last_run_stopped(model, ring, tmp_path):
    incoming, output = tmp_path / "incoming", tmp_path / "results.jsonl"
    incoming.mkdir()

    def watched():
        options = ["--input", str(incoming), "--once", "-o", str(output)]
        assert CliRunner().invoke(app, ["watch", str(model), *options]).exit_code == 0
        return [json.loads(line)["id"] for line in output.read_text().splitlines()]

    (incoming / "a.jsonl").write_text(_text([ring(5, "x"), ring(6, "y")]))
    assert watched() == ["x", "y"]
    assert watched() == ["x", "y"]
    with (incoming / "a.jsonl").open("a") as file:
        file.write(_text([ring(7, "z")]))
    (incoming / "b.jsonl").write_text(_text([ring(8, "new")]))
    assert watched() == ["x", "y", "z", "new"]
    output.unlink()
    assert watched() == ["x", "y", "z", "new"]


def test_damaged_places_are_refused_and_another_directory_starts_anew(tmp_path):
    kept = tmp_path / "results.jsonl.places"
    write_places(kept, tmp_path, {"a.jsonl": (7, 10, 2, "mark")})
    assert read_places(kept, tmp_path) == {"a.jsonl": (7, 10, 2, "mark")}
    assert read_places(kept, tmp_path / "other") == {}
    write_places(kept, tmp_path / "other", {"b.jsonl": (8, 1, 1, "mark")})
    assert read_places(kept, tmp_path) == {"a.jsonl": (7, 10, 2, "mark")}
    kept.write_text("[3]")
    with pytest.raises(InputError, match="Delete it to score all again"):
        read_places(kept, tmp_path)


def test_results_do_not_go_where_they_would_be_read(model, tmp_path):
    run = CliRunner().invoke(app, ["watch", str(model), "--input", str(tmp_path), "-o", str(tmp_path / "out.jsonl")])
    assert "another directory" in str(run.exception)


@pytest.mark.parametrize("new", [b"7\n8\n9\n10\n", b"7\n8\n", b"4\n5\n"])
def test_another_file_under_the_number_of_a_deleted_one_is_read_anew(tmp_path, new):
    """Longer than what was read before, as long, and as long with other content at the end."""
    path, taken = tmp_path / "a.jsonl", remembering(tmp_path)
    path.write_bytes(b"1\n2\n")
    assert taken() == [b"1\n", b"2\n"]
    path.write_bytes(new)  # into the same file: its number stays
    assert b"".join(taken()) == new
    assert taken() == []


def test_a_file_that_is_replaced_or_cut_short_is_read_anew(tmp_path):
    path, taken = tmp_path / "a.jsonl", remembering(tmp_path)
    path.write_bytes(b"one\ntwo\n")
    assert taken() == [b"one\n", b"two\n"]
    path.write_bytes(b"cut\n")
    assert taken() == [b"cut\n"]
    (tmp_path / "new").write_bytes(b"other\nfile\n")
    (tmp_path / "new").rename(path)
    assert taken() == [b"other\n", b"file\n"]
    assert taken() == []


def test_a_file_that_cannot_be_read_is_told_once(tmp_path, monkeypatch):
    (tmp_path / "a.jsonl").write_bytes(b"one\n")
    (tmp_path / "b.jsonl").write_bytes(b"two\n")
    real, told = Path.open, []

    def refused(self, *arguments, **options):
        if self.name == "a.jsonl":
            raise PermissionError(13, "Permission denied")
        return real(self, *arguments, **options)

    monkeypatch.setattr(Path, "open", refused)
    monkeypatch.setattr("time.sleep", lambda _: (tmp_path / "b.jsonl").write_bytes(b"two\nthree\n"))
    batches = directory_lines(tmp_path, poll=0.01, once=False, longest=100, complain=told.append)
    assert [[line.content for line in next(batches)] for _ in range(2)] == [[b"two\n"], [b"three\n"]]
    assert told == [f"{tmp_path / 'a.jsonl'} cannot be read: Permission denied"]


def test_the_end_of_an_overlong_line_is_no_record_of_its_own(tmp_path):
    content = b"x" * 25 + b'{"id":1}\n' + b"next\n"
    (tmp_path / "a.jsonl").write_bytes(content)
    for batches in (directory_lines(tmp_path, poll=1, once=True, longest=10), stream_lines(io.BytesIO(content), 10)):
        lines = [line for some in batches for line in some]
        assert [(line.number, line.content) for line in lines] == [(1, b"x" * 10), (2, b"next\n")]


def test_labelled_and_plain_graphs_of_one_batch_are_both_scored(tmp_path, mutag, ledger):
    from graphglass.privacy.release.publish import release
    from graphglass.privacy.summary_detector import SummaryDetector

    encoder = GLASS("paper", encoder="numeric", epochs=1).fit({"a": mutag[:20], "b": mutag[20:40]})
    summary = release(mutag[60:100], model=encoder, ledger=ledger, dataset="site", epsilon=8)
    SummaryDetector.of(summary, encoder).save(tmp_path / "model")
    links = [{"source": 0, "target": 1}]
    labelled = {"id": "a", "nodes": [{"id": 0, "label": 1}, {"id": 1, "label": 2}], "links": links}
    plain = {"id": "b", "nodes": [{"id": 0}, {"id": 1}], "links": links}
    run = CliRunner().invoke(app, ["watch", str(tmp_path / "model")], input=_text([labelled, plain]))
    assert run.exit_code == 0
    assert [json.loads(line)["id"] for line in run.stdout.splitlines()] == ["a", "b"]


def test_files_that_come_and_grow(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(b"one\ntw")
    batches = directory_lines(tmp_path, poll=0.01, once=False, longest=100)
    assert [(line.number, line.content) for line in next(batches)] == [(1, b"one\n")]
    with (tmp_path / "a.jsonl").open("ab") as file:
        file.write(b"o\nthree\n")
    (tmp_path / "b.jsonl").write_bytes(b"four\n")
    assert [line.content for line in next(batches)] == [b"two\n", b"three\n"]
    assert [(line.source, line.content) for line in next(batches)] == [("b.jsonl", b"four\n")]
    (tmp_path / "b.jsonl").write_bytes(b'four\n{"id": "last without an end"}')
    assert [line.content for line in next(batches)] == [b'{"id": "last without an end"}']


@pytest.mark.parametrize("once", [True, False])
def test_half_a_line_of_a_file_that_grows_while_it_is_read_is_left(tmp_path, monkeypatch, once):
    """The size is looked at first and the lines are read later; a writer may come in between."""
    file = tmp_path / "a.jsonl"
    file.write_bytes(b"one\ntw")
    real = Path.open
    # The first look of several takes no line without an end; the second would, since the file was at rest.
    written = iter([b"o, but not"] if once else [b"", b"o, but not", b" yet\n"])

    def grown(self, *arguments):
        with real(self, "ab") as writer:
            writer.write(next(written))
        return real(self, *arguments)

    monkeypatch.setattr(Path, "open", grown)
    batches = directory_lines(tmp_path, poll=0.01, once=once, longest=100)
    assert [line.content for line in next(batches)] == [b"one\n"]
    if once:
        assert list(batches) == []
    else:
        assert [line.content for line in next(batches)] == [b"two, but not yet\n"]


def test_a_file_is_at_rest_only_after_a_poll(tmp_path, monkeypatch):
    (tmp_path / "a.jsonl").write_bytes(b"one\n12")
    naps = []
    monkeypatch.setattr("graphglass.serve.line_sources.time.sleep", naps.append)
    batches = directory_lines(tmp_path, poll=0.5, once=False, longest=100)
    assert [line.content for line in next(batches)] == [b"one\n"]
    assert [line.content for line in next(batches)] == [b"12"]
    assert naps == [0.5]


def test_half_a_record_is_left_to_the_next_run(tmp_path):
    path, taken = tmp_path / "a.jsonl", remembering(tmp_path)
    path.write_bytes(b'{"id": 1}\n{"id": ')
    assert taken() == [b'{"id": 1}\n']
    with path.open("ab") as file:
        file.write(b"2}\n")
    assert taken() == [b'{"id": 2}\n']


class Torn(io.BytesIO):
    """An input that fails after its last line."""

    def __init__(self, content, error):
        super().__init__(content)
        self.error = error

    def readline(self, *arguments):
        line = super().readline(*arguments)
        if not line:
            raise self.error
        return line


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    ("error", "raised"), [(OSError(5, "Input/output error"), InputError), (ValueError(), ValueError)]
)
def test_an_input_that_fails_ends_the_watch_after_its_lines(error, raised):
    lines = []
    with pytest.raises(raised):
        lines.extend(line for batch in stream_lines(Torn(b"x\n" * 600, error), 100) for line in batch)
    assert [line.number for line in lines] == list(range(1, 601))


@pytest.mark.timeout(20)
@pytest.mark.parametrize("count", [0, 1, MOST_AT_ONCE, MOST_AT_ONCE + 1])
def test_a_stream_ends_with_its_last_line(count):
    batches = list(stream_lines(io.BytesIO(b"x\n" * count), 100))
    assert sum(map(len, batches)) == count
    assert all(1 <= len(batch) <= MOST_AT_ONCE for batch in batches)


def test_every_line_is_answered_at_once_and_an_interrupt_ends_cleanly(model, ring):
    command = [sys.executable, "-c", "from graphglass.cli.app import main; main()", "watch", str(model)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ.copy()
    ) as process:
        for size in (5, 9):
            process.stdin.write(_text([ring(size, f"ring {size}")]))
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["id"] == f"ring {size}"
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "2 graphs scored" in told
    assert "Traceback" not in told
