import json

import pyarrow.parquet
import pytest
from typer.testing import CliRunner

from graphglass.cli.app import app
from graphglass.errors import InputError
from graphglass.structure.profile import AGGREGATE_NAMES, SKETCH_NAMES


@pytest.fixture
def graphs(tmp_path):
    from graphglass.graphs.canonical import canonical_graph_set
    from graphglass.graphs.readers.json_lines import write_json_lines

    path = tmp_path / "graphs.jsonl"
    write_json_lines(canonical_graph_set([3, 2], [0, 1, 0, 3], [1, 2, 2, 4], ids=["triangle", "[bold]pair"]), path)
    return path


def call(*arguments):
    wide = {"COLUMNS": "160"}
    return CliRunner().invoke(app, ["describe", *map(str, arguments)], catch_exceptions=False, env=wide)


def test_json_has_one_object_per_graph_with_every_number(graphs):
    result = call(graphs, "--json")
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert [row["id"] for row in rows] == ["triangle", "[bold]pair"]
    assert set(rows[0]) == {"id", *AGGREGATE_NAMES, *SKETCH_NAMES, "estimated"}
    assert rows[0]["triangles"] == 1
    assert rows[0]["nodes"] == 3
    assert rows[0]["lambda_2"] == pytest.approx(1.5)
    assert rows[1]["lambda_2"] == pytest.approx(2.0)
    assert rows[1]["estimated"] is False


def test_files_hold_the_same_numbers_as_json(graphs, tmp_path):
    rows = [json.loads(line) for line in call(graphs, "--json").stdout.splitlines()]
    call(graphs, "-o", tmp_path / "d.parquet")
    assert pyarrow.parquet.read_table(tmp_path / "d.parquet").to_pylist() == rows
    call(graphs, "-o", tmp_path / "d.jsonl")
    assert [json.loads(line) for line in (tmp_path / "d.jsonl").read_text().splitlines()] == rows
    call(graphs, "-o", tmp_path / "d.csv")
    assert (tmp_path / "d.csv").read_text().splitlines()[1].startswith('"triangle",3,3,')


def test_the_table_shows_ids_as_they_are_and_caps_its_rows(graphs):
    whole = call(graphs).stdout
    assert "triangle" in whole
    assert "[bold]pair" in whole
    assert "2 graphs, 5 nodes, 4 edges" in whole
    capped = call(graphs, "--rows", "1").stdout
    assert "[bold]pair" not in capped
    assert "the first 1 are shown" in " ".join(capped.split())


def test_output_replaces_a_file_and_refuses_what_it_cannot_write(graphs, tmp_path):
    file = tmp_path / "out.jsonl"
    file.write_text("old")
    call(graphs, "-o", file)
    assert file.read_text().startswith('{"id": "triangle"')
    for wrong, message in (
        (tmp_path, "must end in"),
        (tmp_path / "no" / "out.csv", "exist"),
        (tmp_path / "a.txt", ".csv"),
    ):
        with pytest.raises(InputError, match=message):
            call(graphs, "-o", wrong)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["graphs.jsonl", "out.jsonl"]


def test_strict_stops_at_a_bad_record(graphs):
    graphs.write_text(graphs.read_text() + "{broken\n")
    assert call(graphs, "--json").stdout.count("\n") == 2
    with pytest.raises(InputError):
        call(graphs, "--strict")
