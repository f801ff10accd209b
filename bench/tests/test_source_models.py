"""Trained source encoders: kept once, the same scores as without, nothing stale."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glassbench import transfer
from glassbench.source_models import SourceEncoders, identity
from glassbench.transfer import SourceModel
from graphglass import GLASS
from graphglass.errors import BenchError
from graphglass.glass.training import trainer


def small(seed: int = 0, **options: Any) -> GLASS:
    return GLASS(**{"encoder": "numeric", "epochs": 2, "slices": (16, 32), "random_state": seed} | options)


@pytest.fixture
def sources(data: Any) -> dict[str, Any]:
    return {name: data.get(name)[:12].without_labels() for name in ("MUTAG", "AIDS")}


@pytest.fixture
def trainings(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Counts calls of the trainer."""
    calls: list[int] = []
    original = trainer.train

    def counted(*arguments: Any, **options: Any) -> Any:
        calls.append(1)
        return original(*arguments, **options)

    monkeypatch.setattr(trainer, "train", counted)
    return calls


def test_scores_are_the_same_bits(
    data: Any, sources: dict[str, Any], trainings: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a cache, with a cold one and with a warm one; zero-shot, matched and few-shot."""
    monkeypatch.setattr(transfer, "factory", lambda name: small)
    target = data.get("IMDB-BINARY").without_labels()
    found = []
    for encoders in (None, SourceEncoders(tmp_path), SourceEncoders(tmp_path)):
        model = SourceModel("graphglass", 3, "mol", sources, encoders)
        scores = [model.zero_shot(target), model.matched(target[:12], target), model.extended(target[:4], target)]
        found.append(np.stack(scores))
    assert (found[0] == found[1]).all()
    assert (found[0] == found[2]).all()
    assert len(trainings) == 2  # without, and cold


def test_an_encoder_alone(sources: dict[str, Any], trainings: list[int], tmp_path: Path) -> None:
    """The private benchmark's use: no references, and the same codes and fingerprint as a whole fit."""
    whole = SourceEncoders(tmp_path).fit(small(), sources)
    alone = SourceEncoders(tmp_path).fit_encoder(small(), sources)
    assert len(trainings) == 1
    assert not hasattr(alone, "references_")
    assert alone.encoder_fingerprint() == whole.encoder_fingerprint()
    assert alone.training_hashes() == whole.training_hashes()
    queries = sources["AIDS"][:3]
    first, second = whole.channel_embeddings(queries), alone.channel_embeddings(queries)
    assert all((first[name] == second[name]).all() for name in first)
    assert alone.with_references(sources["AIDS"]).decision_function(queries).shape == (3,)


def test_prompts_take_the_instruction_of_the_private_series(sources: dict[str, Any], tmp_path: Path) -> None:
    usual = SourceEncoders(tmp_path).fit_encoder(small(), sources)
    private = SourceEncoders(tmp_path).fit_encoder(small(), sources, instruction="domain-invariant")
    assert usual.embedder_.context.instruction == "phase-aware"
    assert private.embedder_.context.instruction == "domain-invariant"
    assert len(list(tmp_path.glob("*/manifest.json"))) == 2


def test_only_weights_are_kept(sources: dict[str, Any], tmp_path: Path) -> None:
    SourceEncoders(tmp_path).fit(small(), sources)
    (folder,) = [path.parent for path in tmp_path.glob("*/manifest.json")]
    manifest = json.loads((folder / "manifest.json").read_text())
    assert set(manifest["files"]) == {"encoder", "encoder_settings", "identity"}
    assert not list(tmp_path.glob("*.unfinished"))


def test_the_identity_is_what_training_depends_on(sources: dict[str, Any]) -> None:
    same = identity(small(), sources)
    assert identity(small(k=1, scorer="fixed", contamination=0.3), sources) == same  # scoring does not train
    others = [
        identity(small(1), sources),
        identity(small(epochs=3), sources),
        identity(small(normalisation="both"), sources),
        identity(small(), {name: part[1:] for name, part in sources.items()}),
        identity(small(), {name: part.structure_only() for name, part in sources.items()}),
        identity(small(), dict(reversed(sources.items()))),
        identity(small(), {f"{name}2": part for name, part in sources.items()}),
    ]
    assert all(other != same for other in others)
    assert json.loads(json.dumps(same)) == json.loads(json.dumps(identity(small(), sources)))


def test_damage_costs_a_training(sources: dict[str, Any], trainings: list[int], tmp_path: Path) -> None:
    first = SourceEncoders(tmp_path).fit_encoder(small(), sources)
    (weights,) = tmp_path.glob("*/encoder-*.safetensors")
    weights.write_bytes(weights.read_bytes()[:-4] + b"\0\0\0\0")
    second = SourceEncoders(tmp_path).fit_encoder(small(), sources)
    assert len(trainings) == 2
    assert first.encoder_fingerprint() == second.encoder_fingerprint()


def test_an_interrupted_training_goes_on(
    sources: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from graphglass.glass.training.trainer import _Run

    whole = SourceEncoders(tmp_path / "whole").fit_encoder(small(epochs=4), sources)
    epochs: list[int] = []
    original = _Run.epoch

    def interrupted(self: _Run) -> None:
        if len(epochs) == 3:
            raise KeyboardInterrupt
        epochs.append(1)
        original(self)

    monkeypatch.setattr(_Run, "epoch", interrupted)
    with pytest.raises(KeyboardInterrupt):
        SourceEncoders(tmp_path / "cut").fit_encoder(small(epochs=4), sources)
    monkeypatch.setattr(_Run, "epoch", lambda self: (epochs.append(1), original(self))[1])
    resumed = SourceEncoders(tmp_path / "cut").fit_encoder(small(epochs=4), sources)
    assert len(epochs) == 4
    assert resumed.encoder_fingerprint() == whole.encoder_fingerprint()


def test_a_place_that_cannot_be_written(sources: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BenchError, match="--cache"):
        SourceEncoders(tmp_path / "file").fit_encoder(small(), sources)
