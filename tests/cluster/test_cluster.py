"""A cluster of two workers: threads of this process, and real processes for the tests that kill one."""

import os
import signal
import threading
import time
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from graphglass import GLASS, GraphGlass, ReferenceDetector, write_json_lines, write_parquet
from graphglass.cli.app import app
from graphglass.cluster import connect, fit_parts, jobs, score_parts
from graphglass.cluster.parts import Outcome, Part, input_files, list_parts, score_part
from graphglass.errors import ClusterError, GraphError, InputError
from graphglass.files.load import artifact_digest

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.fixture(scope="module")
def client():
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address="127.0.0.1:0") as threads,
        Client(threads) as connected,
    ):
        yield connected


@pytest.fixture(scope="module")
def place(tmp_path_factory, normals, mutag):
    """A model and six parts, one of them JSON Lines."""
    folder = tmp_path_factory.mktemp("cluster")
    GraphGlass().fit(normals).save(folder / "model")
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
    assert np.allclose(scores, ReferenceDetector.load(place / "model").score_table(mutag[:180]).scores, atol=1e-9)


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


def test_damaged_rows_under_an_intact_footer_are_computed_again(client, place, tmp_path):
    score_parts(client, place / "model", [place / "parts"], tmp_path)
    path = tmp_path / "part-1.parquet"
    whole = path.read_bytes()
    wanted = pq.read_table(path)["score"].to_numpy()
    place_of_rows = whole.index(wanted.tobytes()[:16])  # plain doubles in the middle of the file
    path.write_bytes(whole[:place_of_rows] + bytes(16) + whole[place_of_rows + 16 :])
    assert pq.read_schema(path).metadata == pq.read_schema(tmp_path / "part-1.parquet").metadata
    outcomes = score_parts(client, place / "model", [place / "parts"], tmp_path)
    assert [outcome.skipped for outcome in outcomes] == [True, False, True, True, True, True]
    assert np.array_equal(pq.read_table(path)["score"].to_numpy(), wanted)


@pytest.fixture
def processes():
    with connect("local", 2) as connected:
        yield connected


@pytest.mark.slow
def test_a_killed_worker_loses_and_duplicates_nothing(processes, place, mutag, tmp_path):
    victim = next(iter(processes.run(os.getpid).values()))

    def kill_after_the_first_part():
        while not any(tmp_path.glob("part-*.parquet")):
            time.sleep(0.01)
        os.kill(victim, signal.SIGKILL)

    killer = threading.Thread(target=kill_after_the_first_part)
    killer.start()
    outcomes = score_parts(processes, place / "model", [place / "parts"], tmp_path)
    killer.join()
    assert not [outcome for outcome in outcomes if outcome.error]
    assert len(list(tmp_path.glob("*.parquet"))) == 6  # the killed worker may leave a temporary file
    ids, scores = rows(tmp_path)
    assert ids == list(mutag.ids[:180])
    assert np.allclose(scores, ReferenceDetector.load(place / "model").score_table(mutag[:180]).scores, atol=1e-9)


def test_a_corrupt_part_is_named_and_the_rest_finishes(client, place, tmp_path):
    bad = tmp_path / "bad.parquet"
    bad.write_bytes(b"PAR1 not really")
    outcomes = score_parts(client, place / "model", [place / "parts", bad], tmp_path / "out")
    failed = [outcome for outcome in outcomes if outcome.error]
    assert len(failed) == 1
    assert str(bad) in failed[0].error
    assert len(list((tmp_path / "out").iterdir())) == 6


@pytest.fixture
def rejected(tmp_path):
    """A part of which no record can be used."""
    path = tmp_path / "rejected.jsonl"
    path.write_text('{"id": "torn", "nodes": 2, "edges": [[0, 9]]}\nnot a record\n')
    return path


def test_a_part_without_a_usable_record_is_an_empty_result(client, place, rejected, tmp_path):
    sources = [place / "parts" / "part-0.parquet", rejected]
    done, empty = score_parts(client, place / "model", sources, tmp_path / "out")
    assert [(item.error, item.graphs, item.rejected) for item in (done, empty)] == [(None, 30, 0), (None, 0, 2)]
    assert done.rejects is None
    assert f"{rejected}: read 0 graphs, left out 2" in empty.rejects
    assert "line 1, 'torn': " in empty.rejects
    names = ("part-0.parquet", "rejected.parquet")
    tables = [pq.read_table(tmp_path / "out" / name).replace_schema_metadata() for name in names]
    joined = pa.concat_tables(tables)
    assert joined["score"].null_count == 2
    assert joined["id"].to_pylist()[30:] == ["torn", "line-2"]


def test_any_failure_of_one_part_leaves_the_others(client, place, tmp_path, monkeypatch):
    def work(part, **_):
        if part.source.endswith("part-2.parquet"):
            raise ZeroDivisionError("an unlucky part")
        return Outcome(part, graphs=1)

    monkeypatch.setattr(jobs, "score_part", work)
    outcomes = score_parts(client, place / "model", [place / "parts"], tmp_path)
    assert [outcome.graphs for outcome in outcomes] == [1, 1, 0, 1, 1, 1]
    assert outcomes[2].error == f"{place / 'parts' / 'part-2.parquet'}: ZeroDivisionError: an unlucky part"


def test_a_model_for_another_domain_scores_parts_without_p_values(client, mutag, tmp_path):
    GraphGlass().fit(mutag[:30].without_labels()).for_any_domain().save(tmp_path / "moved")
    write_json_lines(mutag[30:35].without_labels(), tmp_path / "part.jsonl")
    (outcome,) = score_parts(client, tmp_path / "moved", [tmp_path / "part.jsonl"], tmp_path / "out")
    assert outcome.error is None
    rows = pq.read_table(outcome.part.output)
    assert rows["p_value"].null_count == len(rows) == 5
    assert rows["score"].null_count == 0


def test_strict_jobs_refuse_a_part_with_a_bad_record(client, place, mutag, tmp_path):
    part = tmp_path / "part.jsonl"
    write_json_lines(mutag[:5].without_labels(), part)
    with part.open("a") as file:
        file.write("not a record\n")
    (loose,) = score_parts(client, place / "model", [part], tmp_path / "out")
    assert (loose.error, loose.graphs, loose.rejected) == (None, 5, 1)
    (outcome,) = score_parts(client, place / "model", [part], tmp_path / "out", strict=True)
    assert f"{part}: " in outcome.error
    assert "Reading is strict" in outcome.error
    with pytest.raises(GraphError, match=rf"{part}: .*Reading is strict"):
        fit_parts(client, GraphGlass(), [part], strict=True)


def test_fitting_tells_what_was_left_out_and_keeps_equal_ids_apart(client, mutag, rejected, tmp_path):
    parts = [tmp_path / "one.jsonl", tmp_path / "two.jsonl"]
    for i, part in enumerate(parts):
        graphs = mutag[i * 10 : (i + 1) * 10].without_labels()
        write_json_lines(replace(graphs, ids=tuple(f"graph-{row}" for row in range(10))), part)
    told = []
    fitted = fit_parts(client, GraphGlass(), [*parts, rejected], complain=told.append)
    assert [text.splitlines()[0] for text in told] == [f"{rejected}: read 0 graphs, left out 2"]
    ids = fitted.references_.graphs.ids
    assert ids == tuple(f"{name}.jsonl/graph-{row}" for name in ("one", "two") for row in range(10))
    with pytest.raises(GraphError, match=r"one\.jsonl/graph-0' occurs more than once"):
        fit_parts(client, GraphGlass(), [parts[0], parts[0]])
    with pytest.raises(GraphError, match="No graph could be read from"):
        fit_parts(client, GraphGlass(), [rejected], complain=told.append)


def test_the_commands_pass_strict_on_and_tell_what_was_left_out(monkeypatch, tmp_path):
    # What the workers do with it is tested above; a cluster per command would take most of a minute.
    @contextmanager
    def nowhere(cluster, workers):
        yield None

    calls = []
    part = Part("part.jsonl", "out/part.parquet")

    def run(*arguments, strict, **_):
        calls.append(strict)
        return [Outcome(part, 5, 1, rejects="part.jsonl: read 5 graphs, left out 1\n  line 6, 'x': torn")]

    def fit(client, detector, sources, *, strict, complain, **_):
        calls.append(strict)
        complain("part.jsonl: read 5 graphs, left out 1")
        raise InputError("enough")

    monkeypatch.setattr("graphglass.cluster.commands.connect", nowhere)
    monkeypatch.setattr("graphglass.cluster.connect", nowhere)
    monkeypatch.setattr("graphglass.cluster.commands.score_parts", run)
    monkeypatch.setattr("graphglass.cluster.fit_parts", fit)
    commands = (["score", "memory://model", "part.jsonl"], ["fit", "part.jsonl"])
    for command in commands:
        for flags in ([], ["--strict"]):
            arguments = [*command, "-o", str(tmp_path / "out"), "--cluster", "local", *flags]
            result = CliRunner().invoke(app, arguments)
            assert "part.jsonl: read 5 graphs, left out 1" in result.output
    assert calls == [False, True] * 2


@pytest.mark.parametrize("settings", [{}, {"encoder": "numeric", "epochs": 1}])
def test_fitting_on_parts_equals_fitting_on_the_whole(client, place, mutag, queries, settings):
    method = GLASS if settings else GraphGlass
    together = method(**settings).fit(mutag[:180].without_labels())
    apart = fit_parts(client, method(**settings), [place / "parts"])
    if settings:
        assert apart.encoder_fingerprint() == together.encoder_fingerprint()
    assert np.array_equal(apart.decision_function(queries), together.decision_function(queries))


def test_a_model_replaced_meanwhile_is_not_used(mutag, normals, tmp_path):
    GraphGlass().fit(normals[:20]).save(tmp_path / "model")
    digest = artifact_digest(tmp_path / "model")
    GraphGlass().fit(normals[20:]).save(tmp_path / "model")
    write_parquet(mutag[:3], tmp_path / "0.parquet")
    part = Part(str(tmp_path / "0.parquet"), str(tmp_path / "scores.parquet"))
    outcome = score_part(part, str(tmp_path / "model"), digest)
    assert "was replaced while this job ran" in outcome.error
    assert not (tmp_path / "scores.parquet").exists()


def test_parts_and_their_errors(place, tmp_path):
    assert len(input_files([f"{place}/parts/*.parquet"])) == 5
    with pytest.raises(InputError, match="matches no part"):
        input_files([tmp_path / "nothing*"])
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(InputError, match="is not a part"):
        input_files([tmp_path / "notes.txt"])


def test_an_output_folder_that_holds_the_parts_is_refused(place):
    parts = place / "parts"
    before = {path: path.read_bytes() for path in parts.iterdir()}
    with pytest.raises(InputError, match="would replace the part"):
        list_parts([parts], parts / ".." / "parts")
    assert {path: path.read_bytes() for path in parts.iterdir()} == before


def test_an_unreachable_scheduler_is_a_clear_error(monkeypatch):
    monkeypatch.setattr("graphglass.cluster.connection._SECONDS", 1)
    with (
        pytest.raises(ClusterError, match=r"No scheduler answers at tcp://127\.0\.0\.1:1"),
        connect("tcp://127.0.0.1:1"),
    ):
        pass


def test_other_versions_are_refused(monkeypatch):
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


@pytest.mark.slow
def test_command_reports_failures_with_exit_code_one(place, tmp_path):
    (tmp_path / "bad.parquet").write_bytes(b"nothing")
    command = ["score", str(place / "model"), str(place / "parts" / "part-0.parquet"), str(tmp_path / "bad.parquet")]
    result = CliRunner().invoke(app, [*command, "-o", str(tmp_path / "out"), "--cluster", "local", "--workers", "1"])
    assert result.exit_code == 1, result.output
    assert "1 part done (30 graphs" in result.output
    assert (tmp_path / "out" / "part-0.parquet").is_file()


def test_workers_score_against_an_indexed_reference_set(client, place, normals, mutag, monkeypatch, tmp_path):
    monkeypatch.setattr("graphglass.detector.indexed_scorer.EXACT_UP_TO", 20)
    model = GLASS("numeric", epochs=1).fit(normals[:10])
    model.with_references(normals).save(tmp_path / "indexed")
    assert list((tmp_path / "indexed").glob("index-*.faiss"))
    outcomes = score_parts(client, tmp_path / "indexed", [place / "parts"], tmp_path / "out")
    assert not [outcome.error for outcome in outcomes if outcome.error]
    ids, scores = rows(tmp_path / "out")
    assert ids == list(mutag.ids[:180])
    assert np.allclose(scores, ReferenceDetector.load(tmp_path / "indexed").score_table(mutag[:180]).scores, atol=1e-9)


def test_directed_parts_with_amounts_are_scored_as_in_one_process(client, flows, tmp_path):
    fitted = fit_parts(client, GraphGlass(), [_part(flows(seed=i), tmp_path / f"n{i}.parquet") for i in range(2)])
    fitted.save(tmp_path / "model")
    queries = flows(seed=5, amount=900.0)
    score_parts(client, tmp_path / "model", [_part(queries, tmp_path / "q.parquet")], tmp_path / "out")
    found = pq.read_table(tmp_path / "out" / "q.parquet")["score"].to_numpy()
    np.testing.assert_array_equal(found, fitted.decision_function(queries))
    usual = fitted.decision_function(flows(seed=5))
    assert found.min() > usual.max()  # the amounts count


def _part(graphs, path):
    write_parquet(graphs, path)
    return path
