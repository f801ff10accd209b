"""A review: marks that are kept, and a ranking that follows them."""

import copy
import json
import os
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from graphglass import GraphGlass, concatenate, read_graphs
from graphglass.cli.app import app
from graphglass.detector.known_anomalies import RIDGE, KnownSide
from graphglass.detector.review import Mark, _append, read_marks
from graphglass.errors import ArtifactError, GraphError, InputError, ParameterError
from graphglass.graphs.readers.json_lines import write_json_lines


@pytest.fixture(scope="module")
def detector(mutag):
    return GraphGlass().fit(mutag[np.flatnonzero(mutag.labels == 1)[:70]].without_labels())


@pytest.fixture(scope="module")
def pool(mutag):
    rows = np.concatenate([np.flatnonzero(mutag.labels == 1)[70:], np.flatnonzero(mutag.labels == -1)[:14]])
    return mutag[rows]


def test_without_marks_the_ranking_is_the_detectors(detector, pool):
    review, table = detector.review(pool), detector.score_table(pool)
    assert np.array_equal(review.ranking().scores, table.scores)
    assert review.next().ids[0] == pool.ids[table.order[0]]


def test_feedback_finds_no_fewer_anomalies_than_the_fixed_ranking(detector, pool):
    truth = dict(zip(pool.ids, pool.labels == -1, strict=True))
    review = detector.review(pool)
    for _ in range(20):
        name = review.next().ids[0]
        review.mark(name, "anomaly" if truth[name] else "normal")
    fixed = [truth[pool.ids[i]] for i in detector.score_table(pool).order[:20]]
    assert len(review.found) >= sum(fixed)
    assert len({mark.id for mark in review.marks}) == 20


def test_a_graph_marked_as_normal_becomes_a_reference(detector, pool):
    """Graphs like it come down as far as with a reference more, and no graph comes up."""
    review = detector.review(pool)
    fixed, name = review.ranking().scores, review.next().ids[0]
    review.mark(name, "normal")
    marked, place = review.scores_with_marks(), pool.ids.index(name)
    assert marked[place] < fixed[place]
    assert (marked <= fixed + 1e-9).all()
    assert np.array_equal(review.scores_with_marks(normals=False), fixed)
    refitted = copy.copy(detector).add_references(pool[[place]]).decision_function(pool)
    others = np.delete(np.arange(len(pool)), place)
    assert np.corrcoef(marked[others], refitted[others])[0, 1] > 0.98


def test_p_values_and_the_detector_stay(detector, pool):
    before = detector.decision_function(pool)
    review = detector.review(pool)
    review.mark(review.next().ids[0], "anomaly")
    assert np.array_equal(review.ranking().p_values, detector.score_table(pool).p_values)
    assert np.array_equal(detector.decision_function(pool), before)
    assert detector.anomalies_ is None


def test_marks_are_on_disk_and_survive_a_torn_line(detector, pool, tmp_path):
    path = tmp_path / "marks.jsonl"
    review = detector.review(pool, path=path, reviewer="Ada")
    first, second = review.next().ids[0], pool.ids[5]
    review.mark(first, "anomaly", "nitro")
    review.mark(second, "unsure")
    with path.open("ab") as file:
        file.write(b'{"id": "to')  # killed while writing
    again = detector.review(pool, path=path)
    assert [(mark.id, mark.verdict, mark.reviewer, mark.comment) for mark in again.marks] == [
        (first, "anomaly", "Ada", "nitro"),
        (second, "unsure", "Ada", ""),
    ]
    again.mark(second, "normal")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["verdict"] for line in lines] == ["anomaly", "unsure", "normal"]
    review.mark(second, "normal")
    assert np.array_equal(again.ranking().scores, review.ranking().scores)
    again.save(tmp_path / "final.jsonl")
    assert len((tmp_path / "final.jsonl").read_text().splitlines()) == 2
    assert type(again).load(tmp_path / "final.jsonl", detector, pool).found == (first,)


def test_an_anomaly_that_equals_a_reference_is_a_conflict_and_costs_nothing(detector, pool):
    twin = replace(detector.references_.graphs[3], ids=("twin",))
    review = detector.review(concatenate([pool.without_labels(), twin]))
    before = review.ranking().scores
    review.mark("twin", "anomaly")
    assert review.conflicts == ("twin",)
    assert review.found == ("twin",)
    assert np.array_equal(review.ranking().scores, before)


def test_a_graph_that_equals_a_reference_keeps_its_leave_one_out_score(detector, pool):
    """An anomaly among the references may have copies under review: marks of others do not hide them."""
    odd = int(np.argmax(detector.decision_scores_))
    twin = replace(detector.references_.graphs[odd], ids=("twin",))
    review = detector.review(concatenate([pool.without_labels(), twin]))
    fixed = review.ranking().scores
    as_new = detector.scorer_.scores(review.ranking().measured)[-1]
    assert fixed[-1] == detector.decision_scores_[odd] > as_new
    review.mark(review.ranking().ids[int(np.argmin(fixed[:-1]))], "normal")
    assert review.scores_with_marks()[-1] > fixed[-1] - 0.2 * (fixed[-1] - as_new)


def test_a_mark_is_an_increment_that_equals_a_refit(detector, pool):
    review = detector.review(pool)
    for _ in range(3):
        review.mark(review.next().ids[0], "anomaly")
        assert len(review.ranking()) == len(pool)
    with_anomalies = copy.copy(detector).add_anomalies(pool[[pool.ids.index(name) for name in review.found]])
    refitted = with_anomalies.scorer_.scores(review.ranking().measured)
    new = review._equal < 0  # the others are compared with the other references
    assert np.allclose(review.scores_with_marks()[new], refitted[new], rtol=1e-9, atol=1e-9)


def test_the_order_of_marks_and_changed_verdicts_make_no_difference(detector, pool):
    first, second = detector.review(pool), detector.review(pool)
    marks = list(zip(pool.ids[:8], ["anomaly", "normal"] * 4, strict=True))
    for name, verdict in marks:
        first.mark(name, verdict)
        first.ranking()
    second.mark(pool.ids[2], "normal")
    second.mark(pool.ids[9], "anomaly")
    second.ranking()
    second.mark(pool.ids[9], "unsure")
    for name, verdict in reversed(marks):
        second.mark(name, verdict)
        second.ranking()
    assert np.allclose(first.ranking().scores, second.ranking().scores, rtol=1e-9, atol=1e-9)


def test_a_detector_with_known_anomalies_keeps_them_in_a_review(detector, pool):
    known, others = pool[len(pool) - 3 :], pool[: len(pool) - 3]
    review = copy.copy(detector).add_anomalies(known).review(others)
    names = [review.next().ids[0]]
    review.mark(names[0], "anomaly")
    names.append(review.next().ids[0])
    review.mark(names[1], "anomaly")
    both = concatenate([known, pool[[pool.ids.index(name) for name in names]]])
    refitted = copy.copy(detector).add_anomalies(both).scorer_.scores(review.ranking().measured)
    new = review._equal < 0  # the others are compared with the other references
    assert np.allclose(review.scores_with_marks()[new], refitted[new], rtol=1e-9, atol=1e-9)


def test_normal_marks_teach_the_classifier_as_a_fit_with_them_would(detector, pool):
    """Its value of every graph equals ridge regression on references, marked normals and marked anomalies."""
    review = detector.review(pool)
    places = {"anomaly": [1, 12, 30], "normal": [4, 25, 33, 40]}
    for verdict, some in places.items():
        for place in some:
            review.mark(pool.ids[place], verdict)
    review.ranking()
    scorer, kernel, marked = detector.scorer_, detector.scorer_.normal_kernel, review._pool
    labelled = [*places["anomaly"], *places["normal"]]
    side, values = KnownSide.learn(marked._compared(labelled), scorer, kernel)
    among = kernel.eigenvectors @ np.diag(kernel.eigenvalues) @ kernel.eigenvectors.T
    across = marked._similar[labelled].T
    gram = np.block([[among, across], [across.T, np.column_stack([marked._in_pool[i] for i in labelled])[labelled]]])
    count = len(among) + 7
    truth = np.r_[-np.ones(len(among)), 1, 1, 1, -1, -1, -1, -1]
    ridge = np.where(truth > 0, RIDGE * 2 * 3 / count, RIDGE * 2 * (count - 3) / count)
    fitted = np.linalg.solve(gram + np.diag(ridge), truth)
    np.testing.assert_allclose(side.coefficients, fitted, atol=1e-8)
    others = np.arange(1, count)
    without = np.linalg.solve((gram + np.diag(ridge))[1:, 1:], truth[1:])
    assert values[0] == pytest.approx(gram[0, others] @ without, abs=1e-8)


def test_pools_too_large_to_keep_are_ranked_the_same(detector, pool, monkeypatch):
    kept = detector.review(pool)
    monkeypatch.setattr("graphglass.detector.review.KEPT_PAIRS", 0)
    compared = detector.review(pool)
    for review in (kept, compared):
        review.mark(review.next().ids[0], "anomaly")
    assert compared._pool is None
    assert kept._pool is not None
    assert kept.ranking().order.tolist() == compared.ranking().order.tolist()


def test_equal_graphs_with_opposite_marks_are_a_conflict(detector, pool):
    review = detector.review(concatenate([pool, replace(pool[7], ids=("copy",))]))
    review.mark("copy", "normal")
    normal = review.ranking().scores
    review.mark(pool.ids[7], "anomaly")
    assert review.conflicts == (pool.ids[7],)
    assert np.array_equal(review.ranking().scores, normal)
    review.mark("copy", "anomaly")
    assert review.conflicts == ()
    assert review.ranking().scores[7] > normal[7]


def test_copies_of_a_graph_marked_as_normal_come_last(detector, pool):
    first = detector.review(pool).next()
    review = detector.review(concatenate([pool, replace(first, ids=("copy",)), replace(first, ids=("another",))]))
    while review.next().ids[0] not in (first.ids[0], "copy", "another"):
        review.mark(review.next().ids[0], "unsure")
    review.mark(review.next().ids[0], "normal")
    last = {review.ranking().ids[place] for place in review.order[-3:]}
    assert last == {first.ids[0], "copy", "another"}
    assert review.next().ids[0] not in last
    review.mark("copy", "anomaly")  # a conflict teaches nothing
    assert review.order.tolist() == review.ranking().order.tolist()


@pytest.mark.slow
def test_a_mark_takes_effect_within_a_second_at_5000_references():
    """Molecules that RDKit brings; CPU seconds, since other work may share the machine."""
    from rdkit import RDConfig

    file = Path(RDConfig.RDDataDir, "NCI", "first_5K.smi")
    molecules = read_graphs([line.split()[0] for line in file.read_text().splitlines()], format="smi")
    enough = concatenate([molecules, replace(molecules[:800], ids=tuple(f"again-{i}" for i in range(800)))])
    review = GraphGlass(repeats="keep").fit(enough[:5000]).review(enough[-800:])
    for verdict in ["anomaly", "normal"] * 20:
        name = review.next().ids[0]
        start = time.process_time()
        review.mark(name, verdict)
        review.next()
        assert time.process_time() - start < 1


@pytest.mark.parametrize(
    "line", ["{}", "[]", '{"id": 3, "verdict": "anomaly"}', '{"id": "a", "verdict": "odd"}', "[" * 9999]
)
def test_a_damaged_file_is_refused(detector, pool, tmp_path, line):
    (tmp_path / "m.jsonl").write_text(line + "\n")
    with pytest.raises(InputError, match="line 1: expected a mark"):
        detector.review(pool, path=tmp_path / "m.jsonl")


def test_no_link_is_followed(detector, pool, tmp_path):
    target, path = tmp_path / "target", tmp_path / "m.jsonl"
    path.symlink_to(target)
    with pytest.raises(InputError, match="is a link"):
        detector.review(pool, path=path)
    path.unlink()
    review = detector.review(pool, path=path)
    path.symlink_to(target)
    with pytest.raises(ArtifactError, match="It was not taken"):
        review.mark(pool.ids[0], "normal")
    assert not target.exists()


def test_a_torn_line_of_any_length_is_cut_off(detector, pool, tmp_path):
    path = tmp_path / "m.jsonl"
    review = detector.review(pool, path=path)
    review.mark(pool.ids[0], "normal")
    with path.open("ab") as file:
        file.write(b'{"id": "' + b"x" * 200_000)
    review.mark(pool.ids[1], "normal")
    assert [mark.id for mark in read_marks(path)] == list(pool.ids[:2])


def test_reviewers_of_one_file_lose_no_mark(tmp_path):
    """Each writes a line longer than a buffer, which another one could see half of."""
    path = tmp_path / "m.jsonl"
    with ThreadPoolExecutor(4) as reviewers:
        marks = [Mark(str(i), "unsure", comment="x" * 50_000) for i in range(60)]
        list(reviewers.map(partial(_append, path), marks))
    assert sorted(mark.id for mark in read_marks(path)) == sorted(mark.id for mark in marks)


def test_no_umask_lets_everyone_write_marks(tmp_path):
    before = os.umask(0)
    try:
        _append(tmp_path / "m.jsonl", Mark("a", "normal"))
    finally:
        os.umask(before)
    assert (tmp_path / "m.jsonl").stat().st_mode & 0o002 == 0


def test_what_is_refused(detector, pool, tmp_path):
    with pytest.raises(InputError, match="does not exist"):
        detector.review(pool, path=tmp_path / "no" / "m.jsonl")
    (tmp_path / "gone").mkdir()
    review = detector.review(pool, path=tmp_path / "gone" / "m.jsonl")
    (tmp_path / "gone").rmdir()
    with pytest.raises(ParameterError, match="one of anomaly, normal, unsure"):
        review.mark(pool.ids[0], "odd")
    with pytest.raises(GraphError, match="There is no graph under review"):
        review.mark("nobody", "normal")
    with pytest.raises(ArtifactError, match="It was not taken"):
        review.mark(pool.ids[0], "normal")
    assert review.marks == ()


def test_the_command_continues_where_it_stopped(detector, pool, tmp_path):
    detector.save(tmp_path / "model")
    write_json_lines(pool.without_labels(), tmp_path / "pool.jsonl")
    command = ["review", str(tmp_path / "model"), str(tmp_path / "pool.jsonl")]
    first = CliRunner().invoke(app, command, input="a a nitro group\nx\nn\nq\n")
    assert first.exit_code == 0, first.output
    assert f"[1 of {len(pool)} reviewed, 1 found]" in first.output
    assert read_marks(tmp_path / "pool.jsonl.marks.jsonl")[0].comment == "a nitro group"
    assert "1 anomaly found in 2 reviewed of" in " ".join(first.output.split())
    second = CliRunner().invoke(app, command, input="u\n")  # the input ends
    assert "reviewed of" in second.output
    assert len((tmp_path / "pool.jsonl.marks.jsonl").read_text().splitlines()) == 3
