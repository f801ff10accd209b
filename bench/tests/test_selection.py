"""The diagnostic that chooses an epoch by its test AUROC, beside the last epoch, and encoders shared by benchmarks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from glassbench import single
from glassbench.fingerprint import agree, fingerprint
from glassbench.jobs import Plan
from glassbench.methods import configuration
from glassbench.records import Purpose, Results
from glassbench.runner import run_jobs
from glassbench.single import scoring_jobs, selection_jobs, single_jobs
from glassbench.source_models import SourceEncoders
from glassbench.tables import tables
from graphglass import GLASS
from graphglass.errors import BenchError
from graphglass.glass.training.trainer import _Run


@pytest.fixture
def epochs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A short GLASS; counts the epochs that are trained."""
    done: list[int] = []
    original = _Run.epoch

    def counted(self: _Run) -> None:
        done.append(1)
        original(self)

    def small(seed: int) -> GLASS:
        return GLASS(encoder="numeric", epochs=20, slices=(16, 32), random_state=seed)

    monkeypatch.setattr(_Run, "epoch", counted)
    monkeypatch.setattr(single, "factory", lambda name: small)
    return done


def test_the_best_test_epoch_has_a_table_of_its_own(data: Any, epochs: list[int], tmp_path: Path) -> None:
    encoders = SourceEncoders(tmp_path / "cache")
    results = Results.create(tmp_path / "select", Purpose("select-test", "minority"))
    jobs = selection_jobs(Plan(data, ["MUTAG"], ["glass"], seeds=(0,), encoders=encoders))
    assert run_jobs(jobs, results, data, isolate=False, progress=False) == 1
    (record,) = results.records()
    last, best = record["variants"]["last epoch"], record["variants"]["best test epoch"]
    assert best["auroc"] >= last["auroc"]
    assert record["counts"]["best_epoch"] in (10, 20)
    assert record["metrics"] == last  # the method's own figure never uses a test label
    assert len(epochs) == 20
    (table,) = tables(str(tmp_path / "select"))
    assert table.head == ("dataset", "last epoch", "best test epoch")
    assert "chosen with the test labels" in table.render()

    # The main benchmark finds the same encoder, trains nothing and has the figure of the last epoch.
    (job,) = single_jobs(Plan(data, ["MUTAG"], ["glass"], seeds=(0,), encoders=encoders))
    (outcome,) = job.run(job.cells)
    assert {name: round(value, 4) for name, value in outcome.metrics.items()} == last
    (job,) = scoring_jobs(Plan(data, ["MUTAG"], ["glass"], seeds=(0,), encoders=encoders))
    (rules,) = job.run(job.cells)
    assert rules.variants["glass"] == outcome.metrics
    assert len(epochs) == 20
    (job,) = single_jobs(Plan(data, ["MUTAG"], ["glass"], seeds=(0,)))
    (anew,) = job.run(job.cells)
    assert anew.metrics == outcome.metrics
    assert len(epochs) == 40
    assert outcome.seconds["fit"] > 0.1 * anew.seconds["fit"]  # the time of the training, not of reading it


def test_prompts_name_the_domain_of_the_dataset(data: Any) -> None:
    for name, domain in {"MUTAG": "mol", "ENZYMES": "protein", "COLLAB": "social"}.items():
        cell = {"dataset": name, "seed": 0}
        assert single.built("glass", cell).domain == domain
        assert not hasattr(single.built("graphglass", cell), "domain")
        (paper,) = single_jobs(Plan(data, [name], ["glass"], seeds=(0,)))
        assert paper.settings == {"domain": "of the dataset"}


@pytest.mark.parametrize("method", ["ocgin", "glass-untrained"])
def test_methods_without_epochs_are_refused(data: Any, tmp_path: Path, method: str) -> None:
    with pytest.raises(BenchError, match="takes glass"):
        selection_jobs(Plan(data, ["MUTAG"], [method], encoders=SourceEncoders(tmp_path)))


def test_untrained_glass_keeps_the_initial_weights() -> None:
    """Its scores are those of GLASS before the first epoch, and its fingerprint is of no training."""
    cell = {"dataset": "MUTAG", "seed": 3}
    untrained = single.built("glass-untrained", cell)
    assert untrained.domain == "mol"
    assert configuration(untrained) == configuration(single.built("glass", cell, epochs=0))
    assert not agree(fingerprint("glass-untrained"), fingerprint("glass"))
