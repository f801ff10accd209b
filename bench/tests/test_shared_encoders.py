"""Encoders shared by benchmarks, prompts by dataset, and GLASS before training."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from glassbench import single
from glassbench.fingerprint import agree, fingerprint
from glassbench.jobs import Plan
from glassbench.methods import configuration
from glassbench.single import scoring_jobs, single_jobs
from glassbench.source_models import SourceEncoders
from graphglass import GLASS
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


def test_benchmarks_share_a_trained_encoder(data: Any, epochs: list[int], tmp_path: Path) -> None:
    encoders = SourceEncoders(tmp_path / "cache")
    (job,) = single_jobs(Plan(data, ["MUTAG"], ["glass"], seeds=(0,), encoders=encoders))
    (outcome,) = job.run(job.cells)
    assert len(epochs) == 20
    (job,) = scoring_jobs(Plan(data, ["MUTAG"], ["glass"], seeds=(0,), encoders=encoders))
    (rules,) = job.run(job.cells)
    assert rules.variants["glass"] == outcome.metrics
    assert len(epochs) == 20
    (job,) = single_jobs(Plan(data, ["MUTAG"], ["glass"], seeds=(0,)))
    (anew,) = job.run(job.cells)
    assert anew.metrics == outcome.metrics
    assert len(epochs) == 40
    assert rules.seconds["fit"] > 0.1 * anew.seconds["fit"]  # the time of the training, not of reading it


def test_prompts_name_the_domain_of_the_dataset(data: Any) -> None:
    for name, domain in {"MUTAG": "mol", "ENZYMES": "protein", "COLLAB": "social"}.items():
        cell = {"dataset": name, "seed": 0}
        assert single.built("glass", cell).domain == domain
        assert not hasattr(single.built("graphglass", cell), "domain")
        (paper,) = single_jobs(Plan(data, [name], ["glass"], seeds=(0,)))
        assert paper.settings == {"domain": "of the dataset"}


def test_untrained_glass_keeps_the_initial_weights() -> None:
    """Its scores are those of GLASS before the first epoch, and its fingerprint is of no training."""
    cell = {"dataset": "MUTAG", "seed": 3}
    untrained = single.built("glass-untrained", cell)
    assert untrained.domain == "mol"
    assert configuration(untrained) == configuration(single.built("glass-plain", cell, epochs=0))
    assert not agree(fingerprint("glass-untrained"), fingerprint("glass-plain"))
