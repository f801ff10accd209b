"""Files of results: the user's own columns arrive whole, whatever they hold and are called."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import numpy as np
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

from graphglass.detector.scored_graphs import ScoredGraphs
from graphglass.files.rows import encoded
from graphglass.graphs.read import read_graphs

HUGE = 10**25


def table(columns: dict[str, Any]) -> dict[str, list[Any]]:
    return pq.read_table(io.BytesIO(encoded(columns, ".parquet"))).to_pydict()


def csv_rows(columns: dict[str, Any]) -> list[list[str]]:
    return list(csv.reader(io.StringIO(encoded(columns, ".csv").decode())))


def test_negative_numbers_of_text_files_stay_and_formulas_do_not() -> None:
    columns = {"id": ["a", "b"], "=1+1": np.array(["-0.31", "-2+3"], dtype=object)}
    assert csv_rows(columns) == [["id", "'=1+1"], ["a", "-0.31"], ["b", "'-2+3"]]
    assert table(columns)["=1+1"] == ["-0.31", "-2+3"]


@pytest.mark.parametrize(
    ("given", "typed"),
    [
        ([1, "x", None], ["1", "x", None]),
        ([1, 0.5, True], ["1", "0.5", "True"]),
        ([1, 0.5, None], [1.0, 0.5, None]),
        ([2**53 + 1, 0.5, None], [str(2**53 + 1), "0.5", None]),
        ([1, HUGE, None], ["1", str(HUGE), None]),
        ([2**63 - 1, -(2**63), None], [2**63 - 1, -(2**63), None]),
        ([True, False, None], [True, False, None]),
    ],
)
def test_columns_of_several_types_become_text_except_in_json(given: list[Any], typed: list[Any]) -> None:
    columns = {"score": np.array([0.5, 1.0, 2.0]), "own": np.array(given, dtype=object)}
    lines = encoded(columns, ".jsonl").decode().splitlines()
    assert [json.loads(line)["own"] for line in lines] == given
    assert [type(json.loads(line)["own"]) for line in lines] == [type(item) for item in given]
    assert table(columns)["own"] == typed
    assert len(csv_rows(columns)) == 4


def test_every_column_has_a_name_of_its_own() -> None:
    record = {"id": "a", "nodes": 1, "score": "mine", "input_score": "too", "input_input_score": 3}
    graphs = read_graphs([record], keep="all")
    columns = ScoredGraphs.uncalibrated(graphs, np.array([0.5])).columns()
    own = {"input_input_input_score": ["mine"], "input_score": ["too"], "input_input_score": [3]}
    assert {name: columns[name] for name in own} == own
    assert list(columns) == ["id", "score", "rank", "reference", "reason", "error", *own]


def test_headers_that_become_equal_keep_both_columns() -> None:
    content = encoded({"=a": [1], "'=a": [2]}, ".csv")
    assert pa_csv.read_csv(io.BytesIO(content)).num_columns == 2
