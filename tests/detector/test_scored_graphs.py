"""The value that scoring gives: rows for files, frames and notebooks."""

import numpy as np
import pandas as pd
import pytest

from graphglass import GraphGlass, read_graphs
from graphglass.detector import reference_detector, scored_graphs
from graphglass.detector.scorer import ReferenceScorer
from graphglass.report.page import write_report


@pytest.fixture(scope="module")
def detector(normals):
    return GraphGlass().fit(normals)


def test_frames_have_the_same_rows(detector, queries, tmp_path):
    table = detector.score_table(queries)
    frame = table.to_pandas()
    assert frame.index.tolist() == list(queries.ids)
    assert np.array_equal(frame["score"], table.scores)
    assert pd.DataFrame(table).set_index("id").equals(frame)
    assert table.to_polars()["rank"].to_list() == table.ranks.tolist()
    table.to_csv(tmp_path / "t.csv")
    table.to_parquet(tmp_path / "t.parquet")
    for read in (
        pd.read_csv(tmp_path / "t.csv", dtype={"id": str}),
        pd.read_parquet(tmp_path / "t.parquet"),
    ):
        assert read["id"].tolist() == list(queries.ids)
        assert np.allclose(read["score"], table.scores)


def test_records_that_could_not_be_read_leave_columns_to_select_by():
    frame = pd.DataFrame({"smiles": ["CCO", "C((", "CCCCCCCCBr"]}, index=["a", "b", "c"])
    chains = [f"{'C' * i}O" for i in range(1, 31)]
    detector = GraphGlass().fit(read_graphs(chains, format="smi"))
    rows = detector.score_table(read_graphs(frame)).to_pandas()
    assert rows.index.tolist() == ["a", "b", "c"]
    assert rows[rows.flagged | rows.reference].index.tolist() == ["a", "c"]
    assert rows["flagged"].sum() == 1
    assert rows["rank"].tolist() == [2, pd.NA, 1]
    assert "SMILES" in rows.error["b"]


def test_no_score_depends_on_the_batch_or_the_order(detector, normals, queries):
    mixed = detector.score_table(queries)
    backwards = detector.score_table(queries[np.arange(len(queries))[::-1]])
    assert np.array_equal(backwards.scores[::-1], mixed.scores)
    assert np.array_equal(backwards.reference[::-1], mixed.reference)
    assert detector.score_table(queries[3]).scores[0] == mixed.scores[3]


def test_a_report_measures_and_scores_every_graph_once(detector, queries, tmp_path, monkeypatch):
    measured, scored = [], []
    measure, score = reference_detector.measure_graphs, ReferenceScorer.scores
    monkeypatch.setattr(
        reference_detector, "measure_graphs", lambda graphs, **o: measured.append(len(graphs)) or measure(graphs, **o)
    )
    monkeypatch.setattr(ReferenceScorer, "scores", lambda self, q: scored.append(len(q)) or score(self, q))
    table = detector.score_table(queries)
    assert sum(scored) == (~table.reference).sum()
    write_report(detector, table, tmp_path / "page.html")
    assert sum(measured) == len(queries)


def test_zero_shot_has_no_p_values(detector, queries):
    table = detector.for_any_domain().score_table(queries.structure_only())
    assert table.p_values is None
    assert not table.flagged.any()
    assert "p_value" not in table.columns()


def test_of_very_many_flagged_graphs_the_most_abnormal_have_a_reason(detector, queries, monkeypatch):
    every = detector.score_table(queries)
    ranked = [place for place in every.order.tolist() if every.flagged[place]]
    assert len(ranked) > 2
    assert all(every.reasons[place] for place in ranked)
    assert "by id" not in every.notice
    monkeypatch.setattr(scored_graphs, "MOST_REASONS", 2)
    some = detector.score_table(queries)
    assert [place for place, reason in enumerate(some.reasons) if reason] == sorted(ranked[:2])
    assert [some.reasons[place] for place in ranked[:2]] == [every.reasons[place] for place in ranked[:2]]
    assert f"Of {len(ranked)} flagged graphs the 2 most abnormal" in some.notice
