"""Transfer, few-shot and scoring on generated datasets."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glassbench import single, transfer
from glassbench.jobs import Plan
from glassbench.paper_figures import DISJOINT, TRANSFER
from glassbench.records import Purpose, Results
from glassbench.runner import run_jobs
from glassbench.single import scoring_jobs
from glassbench.tables import tables
from glassbench.transfer import PAIRS, POOLS, STRUCTURE, SourceModel, few_shot_jobs, target, transfer_jobs
from graphglass import GLASS, GraphGlass
from graphglass.errors import BenchError
from graphglass.glass import embedder

ONE = {"seeds": (0,)}


def test_the_pairs_are_the_papers() -> None:
    assert set(transfer.CROSS) == set(TRANSFER)
    assert set(transfer.DISJOINT) == set(DISJOINT)
    assert all(target not in POOLS[source] for source, target in transfer.DISJOINT)
    assert len(PAIRS) == len(set(PAIRS))


def test_transfer_cells(data: Any, tmp_path: Path) -> None:
    jobs = transfer_jobs(Plan(data, ["BZR", "DD"], ["size-knn", "wl-svm"], **ONE), sources=["mol", "protein"])
    assert [(job.method, len(job.cells)) for job in jobs] == [
        ("size-knn", 2), ("wl-svm", 2), ("size-knn", 1), ("wl-svm", 1),
    ]  # fmt: skip
    results = Results.create(tmp_path, Purpose("transfer", "minority"))
    assert run_jobs(jobs, results, data, progress=False) == 6
    for record in results.records():
        assert set(record["variants"]) == {"zero-shot", "8 shots", "matched"}
        assert record["metrics"] == record["variants"]["zero-shot"]
        assert set(POOLS[record["cell"]["source"]]) < set(record["data"])
    assert run_jobs(jobs, results, data, progress=False) == 0


def test_source_duplicates_leave_the_target(data: Any) -> None:
    graphs, plan, cell = data.get("BZR"), Plan(data, [], [], **ONE), {"dataset": "BZR", "seed": 0}
    _, _, whole = target(plan, cell, {})
    twin = graphs[whole.references[:3]]
    odd = graphs[whole.test[np.flatnonzero(whole.anomalous)[:2]]]
    references, queries, parts = target(plan, cell, {"AIDS": twin.without_labels(), "NCI1": odd})
    assert len(references) == len(parts.references) == len(whole.references) - 3
    assert parts.anomalous.sum() == whole.anomalous.sum() - 2
    assert len(queries) == len(whole.test) - 2


def test_few_shot_is_nested(data: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    fresh = SourceModel._fresh

    def watched(self: SourceModel, references: Any) -> Any:
        sizes.append(len(references))
        return fresh(self, references)

    monkeypatch.setattr(SourceModel, "_fresh", watched)
    monkeypatch.setattr(transfer, "SHOTS", (0, 1, 4, 24))
    jobs = few_shot_jobs(Plan(data, ["PROTEINS"], ["size-knn"], **ONE))
    results = Results.create(tmp_path, Purpose("few-shot", "minority"))
    run_jobs(jobs, results, data, progress=False, isolate=False)
    (record,) = results.records()
    assert list(record["variants"]) == sorted(["0", "1", "1 only", "4", "4 only", "all", "all only"])
    pool = 3 * 24
    assert sizes == [pool + 1, 1, pool + 4, 4, pool + 24, 24]  # growing prefixes, with the sources and alone
    with pytest.raises(BenchError, match="tab:fewshot has the targets"):
        few_shot_jobs(Plan(data, ["BZR"], ["size-knn"], **ONE))


def test_glass_moves_between_references(data: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """One training on two labelled sources; zero-shot, matched and few-shot scores of an unlabelled target."""

    monkeypatch.setattr(transfer, "factory", lambda name: lambda seed: GraphGlass())
    target = data.get("IMDB-BINARY").without_labels()
    model = SourceModel("graphglass", 0, "mol", {n: data.get(n)[:8].without_labels() for n in ("MUTAG", "AIDS")})
    assert model.takes_references
    before = model.zero_shot(target)
    matched = model.matched(target[:12], target)
    extended = model.extended(target[:4], target)
    further = model.extended(target[4:6], target)
    for scores in (before, matched, extended, further):
        assert scores.shape == (40,)
        assert np.isfinite(scores).all()
    assert not np.allclose(before, extended)
    assert not np.allclose(extended, further)


def test_glass_is_measured_with_features_and_by_structure_alone(data: Any, tmp_path: Path) -> None:
    """One training; labels of the target count in one half of the variants; prompts name source and target."""

    seen: list[tuple[str, str | None]] = []
    original = embedder.text_anchors

    def recorded(encoder: Any, structure: Any, context: Any, **options: Any) -> Any:
        seen.append((context, None) if isinstance(context, str) else (context.domain, context.source_domain))
        return original(encoder, structure, context, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(transfer, "factory", lambda name: lambda seed: GLASS(encoder="numeric", epochs=1))
        patch.setattr(embedder, "text_anchors", recorded)
        (job,) = transfer_jobs(Plan(data, ["PROTEINS"], ["glass"], **ONE), sources=["mol"])
        results = Results.create(tmp_path / "transfer", Purpose("transfer", "minority"))
        run_jobs([job], results, data, progress=False)
        (outcome,) = job.run(job.cells)
        kinds = ("zero-shot", "8 shots", "matched")
        assert set(outcome.variants) == {f"{kind}{end}" for kind in kinds for end in ("", STRUCTURE)}
        assert set(seen) == {("mol", None), ("protein", "mol"), ("protein", None)}
        found = tables(str(tmp_path / "transfer"))
        assert len(found) == len(kinds)
        for table in found:
            assert table.head[1:3] == ("glass", f"glass{STRUCTURE}")
            assert [row.name for row in table.rows] == ["mol → PROTEINS"]
        (job,) = few_shot_jobs(Plan(data, ["PROTEINS"], ["glass"], **ONE))
        (outcome,) = job.run(job.cells)
        assert {"0", f"0{STRUCTURE}", "4", f"4 only{STRUCTURE}", f"all{STRUCTURE}"} < set(outcome.variants)
        model = SourceModel("glass", 0, "mol", {n: data.get(n)[:8].without_labels() for n in ("MUTAG", "AIDS")})
    graphs = data.get("PROTEINS").without_labels()
    other = replace(graphs, node_labels=graphs.node_labels[::-1])
    for suffix, asked in model.for_target("PROTEINS").items():
        for scores in (asked.zero_shot, partial(asked.matched, graphs[:12])):
            assert np.allclose(scores(graphs), scores(other), atol=1e-9) == (suffix == STRUCTURE)


def test_scoring_needs_scoring_rules(data: Any) -> None:
    with pytest.raises(BenchError, match="one scoring rule"):
        scoring_jobs(Plan(data, ["MUTAG"], ["size-knn"], **ONE))


def test_scoring_variants(data: Any, monkeypatch: pytest.MonkeyPatch) -> None:

    monkeypatch.setattr(
        single, "factory", lambda name: lambda seed: GLASS(encoder="numeric", epochs=1, random_state=seed)
    )
    (job,) = scoring_jobs(Plan(data, ["MUTAG"], ["glass"], **ONE))
    (outcome,) = job.run(job.cells)
    assert set(outcome.variants) == {"graph", "text", "fusion", "vmf", "sms", "fixed", "domain", "glass", "glass raw"}
    assert outcome.metrics == outcome.variants["glass raw"]
