"""Another distribution, contaminated references, and where the printed average comes from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glassbench.contaminated import (
    SHARES,
    TRIMMED,
    TrimmedGraphGlass,
    contaminated_cell,
    contaminated_jobs,
    contaminated_references,
)
from glassbench.datasets import TWELVE
from glassbench.decomposition import STEPS, decomposition_table
from glassbench.jobs import Plan
from glassbench.records import Purpose, Results
from glassbench.runner import run_jobs
from glassbench.shift import ELEMENTS, PAIRS, PUBLISHED, shift_jobs, shifted
from glassbench.tables import tables
from graphglass import GraphGlass
from graphglass.graphs.canonical import canonical_graph_set
from graphglass.graphs.datasets import load_dataset


def test_a_pair_is_split_without_leaks(data: Any) -> None:
    one, other = data.get("BZR"), data.get("IMDB-BINARY")
    references, queries, anomalous = shifted(one, other, "structure", 3)
    assert (len(references), len(queries), int(anomalous.sum())) == (36, 8, 4)
    for part in (references, queries):
        assert part.labels is None
        assert part.node_labels is None
        assert part.ids == tuple(map(str, range(len(part))))
    own, foreign = ({frozenset(edges(graph)) for graph in graphs} for graphs in (one, other))
    assert {frozenset(edges(graph)) for graph in references} <= own
    for graph, odd in zip(queries, anomalous, strict=True):
        assert frozenset(edges(graph)) in (foreign if odd else own)
    again = shifted(one, other, "structure", 3)
    np.testing.assert_array_equal(anomalous, again[2])
    assert not np.array_equal(shifted(one, other, "structure", 4)[2], anomalous)


def edges(graph: Any) -> list[tuple[int, ...]]:
    return [tuple(pair) for pair in zip(graph.end_nodes.tolist(), graph.global_neighbours.tolist(), strict=True)]


def test_elements_mean_the_same_in_both_datasets() -> None:
    """MUTAG calls carbon 0; a set that calls it 6 gets the same label, and atoms of one element stay together."""
    mutag = load_dataset("MUTAG")
    codes = {"node": {6: "C", 7: "N", 1: "H"}}
    other = canonical_graph_set([3], [0, 1], [1, 2], node_labels=np.array([6, 7, 1]))
    object.__setattr__(other, "code_names", codes)
    references, queries, anomalous = shifted(mutag, other, "elements", 0)
    (foreign,) = queries[anomalous]
    symbols = sorted({*mutag.code_names["node"].values(), *codes["node"].values()})
    assert sorted(symbols[label] for label in foreign.node_labels.tolist()) == ["C", "H", "N"]
    assert symbols[np.bincount(references.node_labels).argmax()] == "C"


def test_pairs_are_recorded_and_shown_with_the_published_figures(data: Any, tmp_path: Path) -> None:
    jobs = shift_jobs(Plan(data, ["BZR"], ["size-knn"], seeds=(0, 1)))
    assert [job.cells[0]["kept"] for job in jobs] == ["structure", "elements"]
    results = Results.create(tmp_path, Purpose("shift", "another-dataset"))
    assert run_jobs(jobs[:1], results, data, progress=False) == 2
    (table,) = tables(str(tmp_path))
    assert table.head == ("references against", "size-knn", "GOOD-D, published")
    assert [(row.name, row.group) for row in table.rows] == [("BZR against COX2", "structure only")]
    assert table.rows[0].entries[1].mean == PUBLISHED["BZR", "COX2"] == 95.0
    assert set(PUBLISHED) < set(PAIRS)
    assert set(ELEMENTS) < set(PAIRS)


@pytest.mark.parametrize(("share", "normals", "odd"), [(0, 80, 0), (5, 80, 4), (10, 80, 9), (20, 40, 10)])
def test_the_share_of_anomalies_among_the_references(share: int, normals: int, odd: int) -> None:
    rows, added = contaminated_references(np.arange(80), 100 + np.arange(10), share)
    assert (int((rows < 100).sum()), int((rows >= 100).sum()), added) == (normals, odd, odd)
    assert len(set(rows.tolist())) == len(rows)


def test_contaminating_anomalies_are_never_tested(data: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from glassbench import contaminated

    shown: list[Any] = []
    plan = Plan(data, ["MUTAG"], ["size-knn"], seeds=(0,))
    real = contaminated.blind
    monkeypatch.setattr(contaminated, "blind", lambda graphs, rows: (shown.append(rows), real(graphs, rows))[1])
    outcome = contaminated_cell(plan, "size-knn", {"dataset": "MUTAG", "direction": "anomalous", "seed": 0})
    assert outcome is not None
    test, *references = shown
    assert len(references) == len(SHARES)
    assert all(not set(rows.tolist()) & set(test.tolist()) for rows in references)
    assert "normals_flagged" not in outcome.variants["0%"]  # size-knn has no p-values
    results = Results.create(tmp_path, Purpose("contaminated", "every-class"))
    assert run_jobs(contaminated_jobs(plan), results, data, progress=False) == 2
    (table,) = tables(str(tmp_path))
    assert [row.name for row in table.rows] == ["0%", "2%", "5%", "10%", "20%"]


def test_trimming_leaves_out_the_references_least_like_the_others() -> None:
    mutag = load_dataset("MUTAG")
    references, new = mutag[:60].without_labels(), mutag[60:90].without_labels()
    plain, trimmed = GraphGlass().fit(references), TrimmedGraphGlass().fit(references)
    cut = round(TRIMMED * len(plain.references_))
    worst = set(np.asarray(plain.references_.graphs.ids)[np.argsort(-plain.decision_scores_)[:cut]])
    assert set(plain.references_.graphs.ids) - set(trimmed.references_.graphs.ids) == worst
    assert trimmed.p_values(new).min() >= 1 / (len(plain.references_) + 1)
    with np.testing.assert_raises(AssertionError):
        np.testing.assert_array_equal(trimmed.decision_function(new), plain.decision_function(new))


def record(name: str, auroc: float, **variants: float) -> dict[str, Any]:
    return {
        "cell": {"dataset": name, "seed": 42}, "method": "glass", "metrics": {"auroc": auroc},
        "variants": {variant: {"auroc": value} for variant, value in variants.items()},
    }  # fmt: skip


def test_where_the_printed_average_comes_from() -> None:
    found = {variant: 60.0 + place for place, variant in enumerate(STEPS.values())}
    authors = [
        record("MUTAG", 60.0, **found),
        record("BZR", 60.0, **{name: value + 10 for name, value in found.items()}),
    ]
    table = decomposition_table(authors, [record(name, 80.0) for name in TWELVE])
    text = table.render()
    assert "| MUTAG | 91.4±0.9 | 60.0 | 61.0 | 62.0 | 63.0 | 64.0 | 80.0 |" in text
    assert "| COX2 | 68.7±0.4 | not run | not run | not run | not run | not run | 80.0 |" in text
    assert "| mean of the 2 that ran | 86.2 | 65.0 | 66.0 | 67.0 | 68.0 | 69.0 | 80.0 |" in text
    assert "| mean of all twelve | 79.8 | not run |" in text
    assert "--protocol authors --methods glass-plain -o bench/results/authors --datasets PROTEINS,DD," in text
    assert "Not run yet" not in decomposition_table([record(n, 1.0, **found) for n in TWELVE], []).render()
