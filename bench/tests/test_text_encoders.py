"""Text encoders side by side: records that say which encoder they are of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from glassbench import methods
from glassbench.jobs import Plan
from glassbench.records import Purpose, Results
from glassbench.runner import run_jobs
from glassbench.single import text_jobs
from graphglass.errors import BenchError

ONE = {"seeds": (0,)}


def test_the_encoder_belongs_to_the_cell(data: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    original: Any = methods.METHODS["glass"]
    monkeypatch.setitem(methods.METHODS, "glass", lambda seed: original(seed).set_params(epochs=1))
    results = Results.create(tmp_path, Purpose("text", "minority", False))
    jobs = text_jobs(Plan(data, ["MUTAG"], ["glass"], **ONE), ["numeric"])
    assert run_jobs(jobs, results, data, progress=False) == 1
    records = Results.open(tmp_path).records("glass")
    assert [record["cell"]["encoder"] for record in records] == ["numeric"]
    for record in records:
        assert "encoder" not in record["configuration"]
        assert set(record["variants"]) == {"graph", "text"}
    assert run_jobs(jobs, results, data, progress=False) == 0
    absent = text_jobs(Plan(data, ["MUTAG"], ["glass"], **ONE), ["no such encoder"])
    with pytest.raises(BenchError, match="no such encoder"):
        run_jobs(absent, results, data, progress=False)


def test_a_method_without_text_is_refused(data: Any) -> None:
    with pytest.raises(BenchError, match="reads no text"):
        text_jobs(Plan(data, ["MUTAG"], ["size-knn"], **ONE), ["numeric"])
