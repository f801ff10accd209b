import io
import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from graphglass import GLASS, ReferenceDetector, read_graphs
from graphglass.cli.app import app
from graphglass.errors import InputError
from graphglass.graphs.readers.json_lines import json_records
from graphglass.serve.drift import DriftMartingale
from graphglass.serve.online_fdr import OnlineFDR
from graphglass.serve.service import Service
from graphglass.serve.stream import MOST_AT_ONCE, Line, StreamScorer, stream_lines


def _text(records):
    return "".join(json.dumps(record) + "\n" for record in records)


def _watch(model, records, *options):
    text = records if isinstance(records, str) else _text(records)
    result = CliRunner().invoke(app, ["watch", str(model), *options], input=text)
    assert result.exit_code == 0, result.exception
    return [json.loads(line) for line in result.stdout.splitlines()], result.stderr


@pytest.fixture(scope="module")
def alike(mutag):
    """Records of graphs like the references, in random order."""
    graphs = mutag[np.flatnonzero(mutag.labels == 1)[40:]].structure_only().without_labels()
    return list(json_records(graphs[np.random.default_rng(0).permutation(len(graphs))]))


@pytest.fixture(scope="module")
def rings(ring):
    """Records of large rings, which no reference is like, in random order."""
    return [ring(int(size), f"ring {size}") for size in np.random.default_rng(0).permutation(range(30, 70))]


def test_a_stream_is_scored_as_the_library_scores_it(model, ring):
    records = [ring(size, f"ring {size}") for size in (5, 6, 7)]
    text = _text(records[:2]) + "\n{torn\n[1]\n" + '{"nodes": 2, "edges": [[0, 5]]}\n' + _text([records[2], ring(5)])
    found, told = _watch(model, text, "--alpha", "0.2")
    rows = [row for row in found if "error" not in row]
    assert [row["id"] for row in rows] == ["ring 5", "ring 6", "ring 7", "line-8"]
    detector = ReferenceDetector.load(model)
    graphs = read_graphs([*records, ring(5)])
    assert [row["score"] for row in rows] == pytest.approx(list(detector.decision_function(graphs)), abs=1e-6)
    assert [row["p_value"] for row in rows] == pytest.approx(list(detector.p_values(graphs)))
    assert [row["flagged"] for row in rows] == [row["p_value"] <= 0.2 for row in rows]
    errors = [row for row in found if "error" in row]
    assert [row["id"] for row in errors] == ["line-4", "line-5", "line-6"]
    assert errors[0]["error"].startswith("not a JSON record")
    assert [row["id"] for row in found] == ["ring 5", "ring 6", "line-4", "line-5", "line-6", "ring 7", "line-8"]
    assert "4 graphs scored" in told
    assert "3 bad lines" in told


def test_flagged_graphs_come_with_their_first_reason(model, ring, alike):
    found, _ = _watch(model, [*alike[:10], ring(60, "large")])
    detector = ReferenceDetector.load(model)
    for row, record in zip(found, [*alike[:10], ring(60, "large")], strict=True):
        assert ("reason" in row) is row["flagged"]
        if row["flagged"]:
            assert row["reason"] == detector.explain(read_graphs([record])).reasons[0]
    assert found[-1]["flagged"]


def test_drift_is_an_event_of_the_stream(model, alike, rings):
    calm, _ = _watch(model, alike)
    assert [row["id"] for row in calm] == [record["id"] for record in alike]
    assert not any("event" in row for row in calm)
    changed, told = _watch(model, alike + rings)
    place = next(place for place, row in enumerate(changed) if "event" in row)
    event = changed[place]
    assert event["event"] == "drift"
    assert event["id"] == changed[place - 1]["id"]
    assert event["id"].startswith("ring ")
    assert event["graphs"] == place
    assert len(alike) - 10 <= event["graphs"] - event["since"] <= len(alike) + 3
    assert "scores rose by" in event["change"]
    assert "patterns" in event["change"].partition("of the change: ")[2]  # rings hold patterns that no molecule has
    assert "drift alarm" in told


def test_drift_is_reported_when_every_graph_comes_alone(model, alike, rings):
    """The ids of graphs are places in their batch: all equal here."""
    scorer = StreamScorer(Service(model), alpha=0.0, drift=DriftMartingale())
    records = enumerate(alike + rings)
    rows = [row for i, record in records for row in scorer.rows([Line(i, json.dumps(record).encode())])]
    assert scorer.scored == len(alike + rings)
    assert any("event" in row and row["change"] for row in rows)


@pytest.mark.parametrize("known", [False, True])
def test_the_cause_of_drift_since_the_references_is_told_where_it_can_be_compared(model, ring, tmp_path, known):
    if known:
        ReferenceDetector.load(model).add_anomalies(read_graphs([ring(25, "known")])).save(tmp_path / "model")
        model = tmp_path / "model"
    records = [ring(size, f"ring {size}") for size in range(30, 60)]
    found, _ = _watch(model, records, "--from-references", "--alarm", "5")
    event = next(row for row in found if "event" in row)
    assert (event["change"] is None) is known


def test_false_discovery_control_flags_less_and_says_when_nothing_can_be_flagged(model, alike, ring):
    found, _ = _watch(model, [*alike, ring(60, "large")], "--fdr", "0.3")
    rows = [row for row in found if "event" not in row]
    control = OnlineFDR(0.3)
    assert [row["flagged"] for row in rows] == [control.take(row["p_value"]) for row in rows]
    silent = [row for row in found if row.get("event") == "fdr"]
    assert len(silent) == 1
    assert silent[0]["level"] < silent[0]["smallest_p_value"] == pytest.approx(1 / 41)
    assert not any(row["flagged"] for row in rows[found.index(silent[0]) :])


def test_a_model_for_another_domain_ranks_a_stream_and_flags_nothing(model, ring, tmp_path):
    ReferenceDetector.load(model).for_any_domain().save(tmp_path / "moved")
    found, _ = _watch(tmp_path / "moved", [ring(60, "large")])
    assert found[0]["score"] > 0
    assert found[0]["p_value"] is found[0]["flagged"] is None
    for option in (("--fdr", "0.1"), ("--from-references",)):
        refused = CliRunner().invoke(app, ["watch", str(tmp_path / "moved"), *option], input="")
        assert "needs p-values" in str(refused.exception)


def test_the_end_of_an_overlong_line_is_no_record():
    content = b"x" * 25 + b'{"id":1}\n' + b"next\n"
    lines = [line for some in stream_lines(io.BytesIO(content), 10) for line in some]
    assert [(line.number, line.content) for line in lines] == [(1, b"x" * 10), (2, b"next\n")]


@pytest.mark.slow
def test_labelled_and_plain_graphs_of_one_batch_are_both_scored(tmp_path, mutag, ledger):
    from graphglass.privacy.release.publish import release
    from graphglass.privacy.summary_detector import SummaryDetector

    encoder = GLASS(encoder="numeric", epochs=1).fit({"a": mutag[:20], "b": mutag[20:40]})
    summary = release(mutag[60:100], model=encoder, ledger=ledger, dataset="site", epsilon=8)
    SummaryDetector.of(summary, encoder).save(tmp_path / "model")
    links = [{"source": 0, "target": 1}]
    labelled = {"id": "a", "nodes": [{"id": 0, "label": 1}, {"id": 1, "label": 2}], "links": links}
    plain = {"id": "b", "nodes": [{"id": 0}, {"id": 1}], "links": links}
    run = CliRunner().invoke(app, ["watch", str(tmp_path / "model")], input=_text([labelled, plain]))
    assert run.exit_code == 0
    assert [json.loads(line)["id"] for line in run.stdout.splitlines()] == ["a", "b"]


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


@pytest.mark.parametrize(
    ("error", "raised"), [(OSError(5, "Input/output error"), InputError), (ValueError(), ValueError)]
)
def test_an_input_that_fails_ends_the_watch_after_its_lines(error, raised):
    lines = []
    with pytest.raises(raised):
        lines.extend(line for batch in stream_lines(Torn(b"x\n" * 600, error), 100) for line in batch)
    assert [line.number for line in lines] == list(range(1, 601))


@pytest.mark.parametrize("count", [0, 1, MOST_AT_ONCE, MOST_AT_ONCE + 1])
def test_a_stream_ends_with_its_last_line(count):
    batches = list(stream_lines(io.BytesIO(b"x\n" * count), 100))
    assert sum(map(len, batches)) == count
    assert all(1 <= len(batch) <= MOST_AT_ONCE for batch in batches)


@pytest.mark.slow
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
