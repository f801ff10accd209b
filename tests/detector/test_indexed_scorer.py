"""Reference sets past the bound: candidates from an index, exact channels, files that are mapped.

The bounds are lowered so that a hundred molecules are a large set.
"""

import json
import shutil
import sys
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

from graphglass import GLASS, GraphGlass, ReferenceDetector, write_json_lines
from graphglass.channels import profiled_graphs
from graphglass.channels.profiled_graphs import measure_graphs
from graphglass.channels.tables import table_channel
from graphglass.cli.app import app
from graphglass.detector import indexed_scorer
from graphglass.detector.reference_sets import equal_places
from graphglass.detector.scorer import ReferenceScorer
from graphglass.errors import ArtifactError, GraphError, InputError, MissingExtraError
from graphglass.files import disk_arrays
from graphglass.graphs.concatenation import concatenate
from graphglass.report.page import report_page

KEPT = 40  # references with a leave-one-out score


@pytest.fixture(scope="module", params=["default", "paper"])
def small(request, normals):
    return GraphGlass().fit(normals) if request.param == "default" else GLASS(encoder="numeric", epochs=1).fit(normals)


@pytest.fixture
def bounds(monkeypatch):
    monkeypatch.setattr(indexed_scorer, "EXACT_UP_TO", 50)
    monkeypatch.setattr(indexed_scorer, "CALIBRATED", KEPT)
    return monkeypatch


@pytest.fixture
def few_candidates(bounds):
    bounds.setattr(indexed_scorer, "CANDIDATES", 30)
    bounds.setattr(indexed_scorer, "NEAR", 20)


@pytest.fixture(scope="module")
def many(mutag):
    return mutag[np.flatnonzero(mutag.labels == 1)].without_labels()[:100]


def test_with_every_reference_a_candidate_all_is_as_in_exact_search(small, many, queries, bounds):
    bounds.setattr(indexed_scorer, "NEAR", 99)
    large = small.with_references(many)
    near = large.scorer_.search(large._queries(queries, large.scorer_))
    assert sorted(near[0]) == list(range(100))
    bounds.undo()
    exact = small.with_references(many)
    assert type(exact.scorer_) is ReferenceScorer
    assert exact.scorer_.reference_count == large.scorer_.reference_count == 100
    kept = large.scorer_.calibrated
    assert len(large.references_) == len(large.decision_scores_) == len(large.labels_) == KEPT == len(kept)
    assert large.references_.graphs.ids == tuple(many.ids[i] for i in kept)
    measured = exact._queries(queries, exact.scorer_)
    for mine, theirs in zip(large.scorer_.channels, exact.scorer_.channels, strict=True):
        assert np.allclose(mine.reference_scales, theirs.reference_scales, rtol=1e-5)
        found = mine.distances_among(mine.encode(measured), near)
        assert np.allclose(found, theirs.distances(theirs.encode(measured)), atol=1e-5)
        # One of very many references hardly changes the units: it is measured in those of all.
        assert np.allclose(mine.left_out, theirs.spacing[kept], atol=1e-5)


def test_neighbours_are_those_of_brute_force_over_all_references(small, many, queries, bounds):
    large = small.with_references(many)
    scorer, query = large.scorer_, large._queries(queries[3], large.scorer_)
    told = large.explain(queries[3], neighbours=100).neighbours
    rows = {c.name: c.compare(c.encode(query), c.references)[0] / c.reference_scales for c in scorer.channels}
    twin = scorer.fusion.scores({name: np.zeros(1) for name in rows})
    brute = np.maximum(scorer.fusion.scores(rows) - twin, 0)
    own = equal_places(query.graphs, scorer.graphs)  # the query is a reference, and compared with the others
    assert [item.distance for item in told] == pytest.approx(np.sort(np.delete(brute, own)), abs=1e-5)
    assert {item.id for item in told} == set(many.ids) - {many.ids[own[0]]}


def test_a_few_candidates_are_the_nearest_by_sketch(many, queries, few_candidates):
    large = GraphGlass().fit(many)
    measured = measure_graphs(queries)
    near = large.scorer_.search(measured)
    wanted = indexed_scorer.search_rows(measured) @ indexed_scorer.search_rows(measure_graphs(many)).T
    assert near.shape == (len(queries), 30)
    for row, places in zip(wanted, near, strict=True):
        assert len(set(places)) == 30
        assert row[places].min() >= np.sort(row)[-30] - 0.01  # eight bits per coordinate swap close ones
    assert np.isfinite(large.decision_function(queries)).all()
    assert len(large.map_positions(queries)[0]) == KEPT


def test_scores_do_not_depend_on_the_batch_and_are_the_same_again(small, many, queries, few_candidates):
    first, second = small.with_references(many), small.with_references(many)
    scores = first.decision_function(queries)
    assert np.array_equal(scores, second.decision_function(queries))
    alone = np.concatenate([first.decision_function(queries[i]) for i in range(3)])
    assert np.allclose(alone, scores[:3], atol=0 if isinstance(small, GraphGlass) else 1e-4)
    assert first.p_values(queries).min() >= 1 / (KEPT + 1)


def test_p_values_of_held_out_normals_are_valid(mutag, bounds):
    bounds.setattr(indexed_scorer, "CANDIDATES", 30)
    molecules = mutag[np.flatnonzero(mutag.labels == 1)].without_labels()
    low = []
    for seed in range(6):
        order = np.random.default_rng(seed).permutation(len(molecules))
        low.append(GraphGlass().fit(molecules[order[:85]]).p_values(molecules[order[85:]]) <= 0.1)
    assert np.mean(low) <= 0.15


def test_known_anomalies_work_beside_a_large_set(many, mutag, queries, bounds, tmp_path):
    known = mutag[np.flatnonzero(mutag.labels != 1)].without_labels()[:5]
    large = GraphGlass().fit(many, anomalies=known)
    bounds.undo()
    exact = GraphGlass().fit(many, anomalies=known)
    one, two = large.decision_function(queries), exact.decision_function(queries)
    assert np.corrcoef(one, two)[0, 1] > 0.95
    parts = large.scorer_.contributions(large._queries(queries, large.scorer_))
    assert np.allclose(np.sum(list(parts.values()), axis=0), one)
    large.save(tmp_path / "model")
    assert np.array_equal(ReferenceDetector.load(tmp_path / "model").decision_function(queries), one)
    write_json_lines(queries[-1], tmp_path / "one.jsonl")
    added = CliRunner().invoke(
        app, ["references", str(tmp_path / "model"), "add", str(tmp_path / "one.jsonl"), "--anomalous"]
    )
    assert "now has 100 references and 6 known anomalies." in added.output
    assert large.remove_anomalies(known.ids).anomalies_ is None


def test_a_saved_index_is_mapped_covered_by_the_manifest_and_in_the_facts(
    small, many, queries, few_candidates, tmp_path
):
    large = small.with_references(many)
    scores, told = large.decision_function(queries), large.explain(queries[0])
    large.save(tmp_path / "model")
    file = json.loads((tmp_path / "model" / "manifest.json").read_text())["files"]["index"]["file"]
    assert file.endswith(".faiss")
    del large
    loaded = ReferenceDetector.load(tmp_path / "model")
    assert np.array_equal(loaded.decision_function(queries), scores)
    assert [item.id for item in loaded.explain(queries[0]).neighbours] == [n.id for n in told.neighbours]
    with open("/proc/self/maps") as maps:
        assert str(tmp_path / "model" / file) in maps.read()
    loaded.save(tmp_path / "model")  # onto itself
    assert [path.name for path in (tmp_path / "model").glob("index-*")] == [file]
    card = (
        CliRunner(env={"COLUMNS": "200"}).invoke(app, ["info", str(tmp_path / "model")], catch_exceptions=False).output
    )
    assert "ivf; finds" in card
    assert f"leave-one-out scores of {KEPT} references" in card


def test_every_reference_can_be_a_neighbour_and_is_drawn(many, bounds):
    large = GraphGlass().fit(many)
    outside = next(name for name in many.ids if name not in large.references_.graphs.ids)
    twin = many[many.ids.index(outside)]
    told = large.explain(twin)
    assert told.reference
    assert told.score == large.score_table(twin).scores[0]
    assert sum(told.contributions.values()) == pytest.approx(told.score)
    assert outside not in {item.id for item in told.neighbours}
    assert large.reference(outside).content_hashes() == twin.content_hashes()
    assert "similarity: " in report_page(large, large.score_table(twin))
    with pytest.raises(GraphError, match="There is no reference 'other'"):
        large.reference("other")


def test_reading_in_parts_and_from_files_changes_no_score(small, many, queries, bounds, tmp_path):
    """Of a million references only some are read at a time, and their tables are in files."""
    together = small.with_references(many)
    for module, name in ((profiled_graphs, "PART"), (table_channel, "ROWS")):
        bounds.setattr(module, name, 30)
    bounds.setattr(disk_arrays, "LARGE", 1024)
    apart = small.with_references(many)
    apart.save(tmp_path / "m")
    loaded = ReferenceDetector.load(tmp_path / "m")
    rows = [c.references for c in loaded.scorer_.channels if isinstance(c, table_channel.TableChannel)]
    wide = [table for table in rows if table.nbytes >= 1024]
    assert bool(wide) == (isinstance(small, GraphGlass))  # the paper's codes are no table
    assert all(isinstance(table.base, np.memmap) for table in wide)
    for detector in (apart, loaded):
        np.testing.assert_allclose(
            detector.decision_function(queries), together.decision_function(queries), rtol=1e-5, atol=1e-5
        )
    np.testing.assert_array_equal(apart.decision_function(queries), loaded.decision_function(queries))


def test_a_small_set_has_no_index(small, many, tmp_path):
    small.with_references(many).save(tmp_path / "model")
    assert not list((tmp_path / "model").glob("index-*"))


def test_single_references_of_a_large_set_stay(small, many, queries, bounds):
    large = small.with_references(many)
    with pytest.raises(InputError, match="indexes 100 and keeps 40"):
        large.add_references(queries)
    with pytest.raises(InputError, match="references MODEL replace"):
        large.remove_references(large.references_.graphs.ids[:1])


def test_every_reference_has_a_leave_one_out_score(small, many, queries, bounds, tmp_path):
    """Of those outside the fixed sample it is computed when asked for, by the same search."""
    large = small.with_references(many)
    bounds.undo()
    exact = small.with_references(many)
    mixed = concatenate([replace(many[60:], ids=tuple(f"again-{i}" for i in range(40))), queries[12:].without_labels()])
    found = large.score_table(mixed)
    own = np.isin(mixed.content_hashes(), many.content_hashes())
    assert np.array_equal(found.reference, own)
    assert np.allclose(found.scores[~own], large.decision_function(mixed)[~own])
    expected = dict(zip(many.content_hashes(), exact.decision_scores_, strict=True))
    wanted = np.array([expected[digest] for digest in np.array(mixed.content_hashes())[own]])
    assert np.corrcoef(found.scores[own], wanted)[0, 1] > 0.99  # other centres and scales: those of the sample
    assert found.notice.startswith(f"{own.sum()} of 52 graphs equal a reference")
    large.save(tmp_path / "model")
    write_json_lines(replace(mixed, labels=np.repeat([0, 1], [40, 12])), tmp_path / "mixed.jsonl")
    told = CliRunner().invoke(app, ["score", str(tmp_path / "model"), str(tmp_path / "mixed.jsonl"), "--normal", "0"])
    assert f"Left out of the AUROC: {own.sum()} graphs equal to a reference" in told.stderr
    listed = CliRunner().invoke(app, ["references", str(tmp_path / "model"), "list"])
    assert f"Not listed: {len(many) - KEPT} references without" in listed.stderr


@pytest.fixture
def saved(many, few_candidates, tmp_path):
    GraphGlass().fit(many).save(tmp_path / "model")
    return tmp_path / "model"


def index_file(model):
    return next(model.glob("index-*.faiss"))


def test_a_truncated_or_altered_index_is_refused(saved):
    file = index_file(saved)
    content = file.read_bytes()
    file.write_bytes(content[:-7])
    with pytest.raises(ArtifactError, match=r"index-.* is not what was saved"):
        ReferenceDetector.load(saved)
    file.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(ArtifactError, match="altered or truncated"):
        ReferenceDetector.load(saved)
    file.unlink()
    with pytest.raises(ArtifactError, match="has no index"):
        ReferenceDetector.load(saved)


def test_the_index_of_another_model_is_refused(saved, many, tmp_path):
    GraphGlass().fit(many[:80]).save(tmp_path / "other")
    other, file = index_file(tmp_path / "other"), index_file(saved)
    shutil.copy(other, file)
    with pytest.raises(ArtifactError, match="is not what was saved"):
        ReferenceDetector.load(saved)
    # Even with a manifest that vouches for it.
    manifest = json.loads((saved / "manifest.json").read_text())
    theirs = json.loads((tmp_path / "other" / "manifest.json").read_text())["files"]["index"]
    manifest["files"]["index"] = theirs | {"file": file.name}
    (saved / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(ArtifactError, match="belongs to another model"):
        ReferenceDetector.load(saved)


def test_without_faiss_search_is_exact_and_an_index_is_refused(saved, many, queries, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(MissingExtraError, match=r"An index of 100 references needs .*graphglass\[index\]"):
        ReferenceDetector.load(saved)
    with pytest.warns(UserWarning, match=r"An index of 100 references needs faiss.*graphglass\[index\]"):
        exact = GraphGlass().fit(many)
    exact.save(tmp_path / "flat")
    loaded = ReferenceDetector.load(tmp_path / "flat")
    assert loaded.scorer_.index.kind == "flat"
    assert np.array_equal(loaded.decision_function(queries), exact.decision_function(queries))


def test_an_index_behind_a_url_is_fetched_once(saved, queries, tmp_path, monkeypatch):
    fsspec = pytest.importorskip("fsspec")
    monkeypatch.setenv("GRAPHGLASS_CACHE", str(tmp_path / "cache"))
    memory = fsspec.filesystem("memory")
    memory.put(str(saved), "/large-model", recursive=True)
    scores = ReferenceDetector.load("memory://large-model").decision_function(queries)
    assert np.array_equal(scores, ReferenceDetector.load(saved).decision_function(queries))
    fetched = {path: path.stat().st_mtime_ns for path in (tmp_path / "cache" / "artifacts").iterdir()}
    assert len(fetched) == len(list(saved.glob("index-*")))
    ReferenceDetector.load("memory://large-model")
    assert {path: path.stat().st_mtime_ns for path in fetched} == fetched
    memory.rm("/large-model", recursive=True)
