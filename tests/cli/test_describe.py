import json

import pyarrow.parquet
import pytest
from typer.testing import CliRunner

from graphglass.cli.app import app
from graphglass.errors import InputError
from graphglass.structure import AGGREGATE_NAMES, SKETCH_NAMES


@pytest.fixture
def graphs(tmp_path):
    from graphglass.graphs import canonical_graph_set
    from graphglass.graphs.readers.json_lines import write_json_lines

    path = tmp_path / "graphs.jsonl"
    write_json_lines(canonical_graph_set([3, 2], [0, 1, 0, 3], [1, 2, 2, 4], ids=["triangle", "[bold]pair"]), path)
    return path


def call(*arguments):
    wide = {"COLUMNS": "160"}
    return CliRunner().invoke(app, ["describe", *map(str, arguments)], catch_exceptions=False, env=wide)


def test_json_has_one_object_per_graph_with_every_number(graphs):
    result = call(graphs, "--format", "json")
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert [row["id"] for row in rows] == ["triangle", "[bold]pair"]
    assert set(rows[0]) == {"id", *AGGREGATE_NAMES, *SKETCH_NAMES, "estimated"}
    assert rows[0]["triangles"] == 1
    assert rows[0]["nodes"] == 3
    assert rows[0]["lambda_2"] == pytest.approx(1.5)
    assert rows[1]["lambda_2"] == pytest.approx(2.0)
    assert rows[1]["estimated"] is False


def test_parquet_holds_the_same_numbers_as_json(graphs, tmp_path):
    file = tmp_path / "profile.parquet"
    call(graphs, "--format", "parquet", "-o", file)
    rows = [json.loads(line) for line in call(graphs, "--format", "json").stdout.splitlines()]
    assert pyarrow.parquet.read_table(file).to_pylist() == rows


def test_the_ending_of_the_file_tells_the_format(graphs, tmp_path):
    call(graphs, "-o", tmp_path / "d.parquet")
    assert pyarrow.parquet.read_table(tmp_path / "d.parquet")["id"].to_pylist() == ["triangle", "[bold]pair"]
    call(graphs, "-o", tmp_path / "d.jsonl")
    assert json.loads((tmp_path / "d.jsonl").read_text().splitlines()[0])["triangles"] == 1
    with pytest.raises(InputError, match=r"clash.parquet has the ending of parquet, but --format is json"):
        call(graphs, "--format", "json", "-o", tmp_path / "clash.parquet")
    with pytest.raises(InputError, match=r"d.csv: name a file that ends in .*, or add --format"):
        call(graphs, "-o", tmp_path / "d.csv")
    assert not list(tmp_path.glob("*.csv")) + list(tmp_path.glob("clash*"))


def test_table_shows_ids_as_they_are_and_caps_its_rows(graphs, tmp_path):
    whole = call(graphs).stdout
    assert "triangle" in whole
    assert "[bold]pair" in whole
    assert "2 graphs, 5 nodes, 4 edges" in whole
    capped = call(graphs, "--rows", "1").stdout
    assert "[bold]pair" not in capped
    assert "the first 1 are shown" in " ".join(capped.split())
    call(graphs, "-o", tmp_path / "table.txt", "--rows", "1")
    assert "[bold]pair" in (tmp_path / "table.txt").read_text()


def test_output_replaces_a_file_and_refuses_a_directory(graphs, tmp_path):
    file = tmp_path / "out.json"
    file.write_text("old")
    call(graphs, "--format", "json", "-o", file)
    assert file.read_text().startswith('{"id": "triangle"')
    with pytest.raises(InputError, match="directory"):
        call(graphs, "--format", "json", "-o", tmp_path)
    with pytest.raises(InputError, match="does not exist"):
        call(graphs, "--format", "json", "-o", tmp_path / "missing" / "out.json")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["graphs.jsonl", "out.json"]


def test_parquet_without_a_file_says_what_to_do(graphs):
    with pytest.raises(InputError, match="-o FILE"):
        call(graphs, "--format", "parquet")


def test_strict_stops_at_a_bad_record(graphs):
    graphs.write_text(graphs.read_text() + "{broken\n")
    assert call(graphs, "--format", "json").stdout.count("\n") == 2
    with pytest.raises(InputError):
        call(graphs, "--strict")
