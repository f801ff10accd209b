"""Fingerprints tell code that scores differently apart, and records of trained methods are those of this code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from glassbench import fingerprint as module
from glassbench.datasets import Datasets
from glassbench.fingerprint import agree, stale_note
from glassbench.methods import GLASS, KERNELS, METHODS, TRAINING_FREE, configuration, factory, named_choices
from glassbench.protocols import split
from glassbench.runner import processor
from glassbench.single import built, dataset_cell
from graphglass.glass.training.config import TrainingConfig
from graphglass.graphs.datasets import data_root

RESULTS = Path(__file__).parents[1] / "results"
TRAINED = [name for name in METHODS if name not in ("graphglass", *TRAINING_FREE, *KERNELS)]


@pytest.mark.parametrize("method", ["ocgin", "glass"])
def test_other_initial_weights_give_another_fingerprint(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second draw of the same layers, as a change of library once made it, is another network for the same seed."""
    now = module._probe(method)
    assert module._probe(method) == now
    draw = torch.nn.Linear.reset_parameters
    monkeypatch.setattr(torch.nn.Linear, "reset_parameters", lambda layer: (draw(layer), draw(layer)) and None)
    assert not agree(module._probe(method), now)


def test_remarks_on_the_graphs_of_a_fingerprint_are_not_shown(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(module, "stream", lambda work: [(digest, 0.0) for digest in work()])
    recorded = json.loads((RESULTS / "shift/graphglass.jsonl").read_text().splitlines()[0])
    assert module._probed("graphglass") == recorded["fingerprint"]
    assert not caplog.messages


def test_a_setting_whose_effect_comes_late_gives_another_fingerprint(monkeypatch: pytest.MonkeyPatch) -> None:
    now = module._probe("glass")
    monkeypatch.setattr(TrainingConfig, "final_learning_rate", 2e-6)
    assert not agree(module._probe("glass"), now)


def test_another_prompt_gives_another_fingerprint(monkeypatch: pytest.MonkeyPatch) -> None:
    from graphglass.glass.prompt import graphdp

    now = module._probe("glass")
    monkeypatch.setattr(graphdp, "_TEMPLATE", graphdp._TEMPLATE.replace("nodes=", "vertices="))
    assert not agree(module._probe("glass"), now)


def test_fingerprints_of_trained_methods_agree_within_rounding() -> None:
    assert agree("a|1,2,3.001", "a|1.001,2,3")
    assert not agree("a|1,2,3.1", "a|1,2,3")
    assert not agree("b|1,2,3", "a|1,2,3")
    assert not agree("a|1,2", "a|1,2,3")
    assert agree("3f", "3f")
    assert not agree("3f", "4f")
    assert not agree("3f", "a|1,2,3")


def test_a_table_names_records_of_other_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "fingerprint", lambda method: "now")
    found = [("ocgin", "now"), ("ocgin", "then"), ("muse", None), ("cvtgad", "now")]
    note = stale_note({"method": method, "fingerprint": code} for method, code in found)
    assert "would not reproduce records of: ocgin (1 of 2)." in note
    assert "cannot be checked: muse (1 of 1)." in note
    assert "cvtgad" not in note


def test_every_committed_file_can_be_continued() -> None:
    """Its records share one configuration, apart from what their cells name: a later run would refuse others."""
    for path in RESULTS.glob("**/*.jsonl"):
        kinds = set()
        for record in map(json.loads, path.read_text().splitlines()):
            shared = {k: v for k, v in record.get("configuration", {}).items() if k not in record["cell"]}
            kinds.add(json.dumps(named_choices(shared), sort_keys=True))
        assert len(kinds) == 1, path
        if path.stem in GLASS:
            own, now = json.loads(kinds.pop()), configuration(factory(path.stem)(0))
            # Commands choose the text encoder; the domain of the prompts is that of the dataset.
            assert {k: v for k, v in own.items() if k in now.keys() - {"encoder", "domain"}} == {
                k: v for k, v in now.items() if k not in ("encoder", "domain")
            }, path


def cheapest(method: str) -> tuple[dict[str, Any], float]:
    """The marked record of a method that took the least time to make, and the deviation of its AUROC over the seeds."""
    paths = [*RESULTS.glob(f"single/minority*/{method}.jsonl"), *RESULTS.glob(f"text/minority/{method}.jsonl")]
    records = [json.loads(line) for path in paths for line in path.read_text().splitlines()]
    marked = [
        record
        for record in records
        if record.get("fingerprint") is not None and record["cell"].get("encoder") in (None, "numeric")
    ]
    if not marked:
        pytest.skip(f"{method} has no record with a fingerprint")
    chosen = min(marked, key=lambda record: sum(record["seconds"].values()))
    alike = [
        record["metrics"]["auroc"]
        for record in marked
        if (record["benchmark"], record["flip"], record["cell"]["dataset"])
        == (chosen["benchmark"], chosen["flip"], chosen["cell"]["dataset"])
    ]
    return chosen, float(np.std(alike, ddof=1)) if len(alike) > 1 else 0.0


@pytest.mark.slow
@pytest.mark.skipif(data_root() is None, reason="the datasets are not on this machine")
@pytest.mark.parametrize("method", TRAINED)
def test_the_present_code_makes_the_recorded_number(method: str) -> None:
    """One small cell of every trained method, run again.

    Another processor rounds sums in another order. After a whole training that moves a figure as another seed does.
    """
    record, deviation = cheapest(method)
    cell = record["cell"]
    options = {"encoder": cell["encoder"]} if "encoder" in cell else {}
    graphs = Datasets().get(cell["dataset"])
    parts = split(graphs.labels, "minority", cell["seed"], flip=record["flip"])
    outcome = dataset_cell(graphs, parts, built(method, cell, **options), cell)
    same = record["versions"].get("processor") == processor()
    assert outcome.metrics["auroc"] == pytest.approx(record["metrics"]["auroc"], abs=0.5 if same else 4 * deviation)
