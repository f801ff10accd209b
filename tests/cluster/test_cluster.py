"""A real local cluster of two worker processes."""

import os
import signal
import threading
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from graphglass import GLASS, profile, write_json_lines, write_parquet
from graphglass.cli.app import app
from graphglass.cluster import connect, describe_parts, fit_parts, score, score_parts
from graphglass.cluster.parts import input_files
from graphglass.errors import ClusterError, InputError

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.fixture(scope="module")
def client():
    with connect("local", 2) as connected:
        yield connected


@pytest.fixture(scope="module")
def place(tmp_path_factory, normals, mutag):
    """A model and six parts, one of them JSON Lines."""
    folder = tmp_path_factory.mktemp("cluster")
    GLASS(epochs=1).fit(normals).save(folder / "model")
    (folder / "parts").mkdir()
    for i in range(6):
        part = mutag[i * 30 : (i + 1) * 30].without_labels()
        if i == 3:
            write_json_lines(part, folder / "parts" / f"part-{i}.jsonl")
        else:
            write_parquet(part, folder / "parts" / f"part-{i}.parquet")
    return folder


def rows(folder):
    tables = [pq.read_table(folder / f"part-{i}.parquet") for i in range(6)]
    ids = [name for table in tables for name in table["id"].to_pylist()]
    return ids, np.concatenate([table["score"].to_numpy() for table in tables])


def test_distributed_equals_one_process_row_for_row(client, place, mutag, tmp_path):
    outcomes = score_parts(client, place / "model", [place / "parts"], tmp_path)
    assert [outcome.error for outcome in outcomes] == [None] * 6
    ids, scores = rows(tmp_path)
    assert ids == list(mutag.ids[:180])
    assert np.allclose(scores, GLASS.load(place / "model").decision_function(mutag[:180]), atol=1e-9)


def test_a_rerun_skips_finished_parts_and_redoes_changed_ones(client, place, tmp_path):
    score_parts(client, place / "model", [place / "parts"], tmp_path)
    times = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    (tmp_path / "part-2.parquet").unlink()
    (tmp_path / "part-4.parquet").write_bytes(b"half written")
    outcomes = score_parts(client, place / "model", [place / "parts"], tmp_path)
    assert [outcome.skipped for outcome in outcomes] == [True, True, False, True, False, True]
    after = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert {name for name, then in times.items() if after[name] != then} == {"part-2.parquet", "part-4.parquet"}
    assert len(list(tmp_path.iterdir())) == 6


def test_a_killed_worker_loses_and_duplicates_nothing(client, place, mutag, tmp_path):
    victim = next(iter(client.run(os.getpid).values()))

    def kill_after_the_first_part():
        while not any(tmp_path.glob("part-*.parquet")):
            time.sleep(0.01)
        os.kill(victim, signal.SIGKILL)

    killer = threading.Thread(target=kill_after_the_first_part)
    killer.start()
    outcomes = score_parts(client, place / "model", [place / "parts"], tmp_path)
    killer.join()
    assert not [outcome for outcome in outcomes if outcome.error]
    assert len(list(tmp_path.iterdir())) == 6
    ids, scores = rows(tmp_path)
    assert ids == list(mutag.ids[:180])
    assert np.allclose(scores, GLASS.load(place / "model").decision_function(mutag[:180]), atol=1e-9)


def test_a_corrupt_part_is_named_and_the_rest_finishes(client, place, tmp_path):
    bad = tmp_path / "bad.parquet"
    bad.write_bytes(b"PAR1 not really")
    outcomes = score_parts(client, place / "model", [place / "parts", bad], tmp_path / "out")
    failed = [outcome for outcome in outcomes if outcome.error]
    assert len(failed) == 1
    assert str(bad) in failed[0].error
    assert len(list((tmp_path / "out").iterdir())) == 6


def test_describe(client, place, mutag, tmp_path):
    describe_parts(client, [place / "parts"], tmp_path)
    nodes = np.concatenate([pq.read_table(tmp_path / f"part-{i}.parquet")["nodes"].to_numpy() for i in range(6)])
    assert np.array_equal(nodes, profile(mutag[:180]).aggregates[:, 0])


def test_fitting_on_parts_equals_fitting_on_the_whole(client, place, mutag, queries):
    together = GLASS(epochs=1).fit(mutag[:180].without_labels())
    apart = fit_parts(client, GLASS(epochs=1), [place / "parts"])
    assert apart.encoder_fingerprint() == together.encoder_fingerprint()
    assert np.array_equal(apart.decision_function(queries), together.decision_function(queries))


def test_scores_are_a_lazy_frame(client, place, mutag):
    frame = score(place / "model", place / "parts", client)
    assert frame.npartitions == 6
    computed = frame.compute()
    assert list(computed.id) == list(mutag.ids[:180])
    assert np.allclose(computed.score, GLASS.load(place / "model").decision_function(mutag[:180]), atol=1e-9)


def test_parts_and_their_errors(place, tmp_path):
    assert len(input_files([f"{place}/parts/*.parquet"])) == 5
    with pytest.raises(InputError, match="matches no part"):
        input_files([tmp_path / "nothing*"])
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(InputError, match="is not a part"):
        input_files([tmp_path / "notes.txt"])


def test_an_unreachable_scheduler_is_a_clear_error(monkeypatch):
    monkeypatch.setattr("graphglass.cluster.connection._SECONDS", 1)
    with pytest.raises(ClusterError, match=r"No scheduler answers at tcp://127\.0\.0\.1:1"), connect("tcp://127.0.0.1:1"):
        pass


def test_other_versions_are_refused(client, monkeypatch):
    from graphglass.cluster import connection as module

    monkeypatch.setattr(module, "installed", lambda: dict.fromkeys(module.PACKAGES, "0"))

    class Fake:
        def run(self, function):
            return {"tcp://w": dict.fromkeys(module.PACKAGES, "1")}

    with pytest.raises(ClusterError, match="graphglass 0 here and 1 there"):
        module.check_workers(Fake(), "tcp://s")
    Fake.run = lambda self, function: {}
    with pytest.raises(ClusterError, match="has no workers"):
        module.check_workers(Fake(), "tcp://s")


def test_command_reports_failures_with_exit_code_one(place, tmp_path):
    (tmp_path / "bad.parquet").write_bytes(b"nothing")
    command = ["score", str(place / "model"), str(place / "parts" / "part-0.parquet"), str(tmp_path / "bad.parquet")]
    result = CliRunner().invoke(app, [*command, "-o", str(tmp_path / "out"), "--cluster", "local", "--workers", "1"])
    assert result.exit_code == 1, result.output
    assert "1 parts done (30 graphs" in result.output
    assert (tmp_path / "out" / "part-0.parquet").is_file()


def test_the_describe_command_equals_one_process_and_resumes(place, mutag, tmp_path):
    command = ["describe", str(place / "parts"), "-o", str(tmp_path / "out"), "--cluster", "local", "--workers", "2"]
    result = CliRunner().invoke(app, command, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    assert "6 parts done (180 graphs" in result.output
    whole = tmp_path / "whole.parquet"
    write_parquet(mutag[:180].without_labels(), tmp_path / "all.parquet")
    CliRunner().invoke(app, ["describe", str(tmp_path / "all.parquet"), "--format", "parquet", "-o", str(whole)])
    parts = [pq.read_table(tmp_path / "out" / f"part-{i}.parquet").replace_schema_metadata() for i in range(6)]
    assert pa.concat_tables(parts).equals(pq.read_table(whole))
    assert "6 were done before" in CliRunner().invoke(app, command, catch_exceptions=False).output


def test_describing_reports_a_corrupt_part_and_refuses_what_it_cannot_write(place, tmp_path, monkeypatch):
    (tmp_path / "bad.parquet").write_bytes(b"nothing")
    command = ["describe", str(place / "parts" / "part-0.parquet"), str(tmp_path / "bad.parquet")]
    cluster = ["--cluster", "local", "--workers", "1"]
    result = CliRunner().invoke(app, [*command, "-o", str(tmp_path / "out"), *cluster])
    assert result.exit_code == 1, result.output
    assert "bad.parquet is not a readable Parquet file" in result.output
    with pytest.raises(InputError, match="needs -o DIRECTORY"):
        CliRunner().invoke(app, [*command, *cluster], catch_exceptions=False)
    with pytest.raises(InputError, match="Several files are described with --cluster"):
        CliRunner().invoke(app, command, catch_exceptions=False)
    monkeypatch.setattr("graphglass.cluster.connection._SECONDS", 1)
    with pytest.raises(ClusterError, match="No scheduler answers"):
        CliRunner().invoke(
            app, [*command, "-o", str(tmp_path), "--cluster", "tcp://127.0.0.1:1"], catch_exceptions=False
        )


def test_workers_score_against_an_indexed_reference_set(client, place, normals, mutag, monkeypatch, tmp_path):
    for name in ("large_references", "estimator"):
        monkeypatch.setattr(f"graphglass.detector.{name}.SAMPLE", 20)
    for name in ("FLAT_UP_TO", "HNSW_UP_TO"):
        monkeypatch.setattr(f"graphglass.sphere.reference_index.{name}", 10)
    GLASS.load(place / "model").with_references(normals).save(tmp_path / "indexed")
    assert list((tmp_path / "indexed").glob("index_*.faiss"))
    outcomes = score_parts(client, tmp_path / "indexed", [place / "parts"], tmp_path / "out")
    assert not [outcome.error for outcome in outcomes if outcome.error]
    ids, scores = rows(tmp_path / "out")
    assert ids == list(mutag.ids[:180])
    assert np.allclose(scores, GLASS.load(tmp_path / "indexed").decision_function(mutag[:180]), atol=1e-9)
