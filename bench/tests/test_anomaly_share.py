"""Test sets with a given share of anomalies."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassbench import methods
from glassbench.figures import draw
from glassbench.jobs import Plan
from glassbench.records import Purpose, Results
from glassbench.runner import run_jobs
from glassbench.single import SHARES, drawn, share_jobs
from glassbench.tables import tables
from graphglass.graphs.graph_set import GraphSet


@given(st.integers(20, 400), st.integers(20, 400), st.sampled_from(SHARES), st.integers(0, 5))
def test_the_share_is_met_with_as_many_graphs_as_possible(normal: int, odd: int, share: int, seed: int) -> None:
    truth = np.random.default_rng(seed).permutation(np.repeat([False, True], [normal, odd]))
    rows = drawn(truth, share, seed)
    assert len(set(rows.tolist())) == len(rows)
    anomalies = int(truth[rows].sum())
    assert 0 < anomalies < len(rows)
    assert anomalies == odd or len(rows) - anomalies == normal
    rounding = 1 / min(anomalies, len(rows) - anomalies)
    assert anomalies / (len(rows) - anomalies) == pytest.approx(share / (100 - share), rel=rounding)


class Batch:
    """A score that depends on the other graphs: the distance to the mean size of the batch."""

    def fit(self, graphs: GraphSet) -> Self:
        return self

    def decision_function(self, graphs: GraphSet) -> np.ndarray:
        return np.abs(graphs.edge_counts - graphs.edge_counts.mean())


def test_a_batch_method_is_scored_anew_for_every_share(
    data: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(methods.METHODS, "signet-batch", lambda seed: Batch())
    calls: list[int] = []
    original = Batch.decision_function
    monkeypatch.setattr(
        Batch, "decision_function", lambda self, graphs: calls.append(len(graphs)) or original(self, graphs)
    )
    jobs = share_jobs(Plan(data, ["MUTAG"], ["size-knn", "signet-batch"], seeds=(0,)))
    results = Results.create(tmp_path, Purpose("anomaly-share", "minority"))
    run_jobs(jobs, results, data, progress=False, isolate=False)
    assert len(calls) == 1 + len(SHARES)
    (table,) = tables(str(tmp_path))
    assert [(row.group, row.name) for row in table.rows] == [
        ("scored alone", "size-knn"), ("scored in a test batch", "signet-batch"),
    ]  # fmt: skip
    (figure,) = draw(tmp_path, tmp_path / "figures")
    assert figure.stat().st_size > 5000
