"""The options every command that reads graphs has, and what it says about the reading."""

import json

import pytest
from typer.testing import CliRunner

from graphglass.cli.app import app
from graphglass.errors import GraphError, InputError

OPTIONS = ("--strict", "--smiles-column", "--id-column", "--nodes", "--ignore", "--fill", "--all-rejects")


def glass(*arguments):
    result = CliRunner().invoke(app, [str(item) for item in arguments], env={"COLUMNS": "160"})
    if isinstance(result.exception, InputError):
        raise result.exception
    return result


def described(*arguments):
    result = glass("describe", *arguments, "--json")
    assert result.exit_code == 0, (result.output, result.exception)
    return {row["id"]: row for row in map(json.loads, result.stdout.splitlines())}


@pytest.mark.parametrize(
    "command",
    [
        ("fit",), ("score",), ("explain",), ("describe",), ("prompt",), ("references", "m", "add"),
        ("references", "m", "replace"),
    ],
)  # fmt: skip
def test_every_command_that_reads_graphs_has_the_options(command):
    """A private release reads records in a declared form instead."""
    shown = glass(*command, "--help").output
    assert all(option in shown for option in OPTIONS)


def test_columns_of_a_molecule_table(tmp_path):
    table = tmp_path / "m.csv"
    table.write_text("drug,key\nCCO,a\nCC,b\n")
    with pytest.raises(InputError, match=r"--smiles-column NAME\. .* --graph-id NAME"):
        glass("describe", table)
    with pytest.raises(InputError, match="has no column 'drugs'"):
        glass("describe", table, "--smiles-column", "drugs")
    assert list(described(table, "--smiles-column", "drug", "--id-column", "key")) == ["a", "b"]


def test_a_node_table_brings_isolated_nodes(tmp_path):
    (tmp_path / "edges.csv").write_text("graph_id,source,target\na,0,1\n")
    (tmp_path / "nodes.csv").write_text("graph_id,node\na,0\na,1\na,2\n")
    assert described(tmp_path / "edges.csv")["a"]["nodes"] == 2
    assert described(tmp_path / "edges.csv", "--nodes", tmp_path / "nodes.csv")["a"]["nodes"] == 3
    with pytest.raises(InputError, match="--references is a second input"):
        glass("score", "memory://m", tmp_path / "edges.csv", "--nodes", "n.csv", "--references", tmp_path / "edges.csv")


def test_fill_keeps_graphs_that_lack_attributes(tmp_path):
    path = tmp_path / "g.jsonl"
    full = '{"id": "%s", "nodes": [{"id": 0, "attributes": {"x": 1}}, {"id": 1%s}], "edges": [[0, 1]]}\n'
    path.write_text(full % ("a", ', "attributes": {"x": 2}') + full % ("b", ""))
    told = glass("describe", path)
    assert "node 1 has no attribute 'x'; give it a value or read with --fill 0.0" in told.stderr
    assert list(described(path, "--fill", 0)) == ["a", "b"]


def test_all_rejects_are_listed_on_request(tmp_path):
    path = tmp_path / "m.smi"
    path.write_text("CC good\n" + "".join(f"bad{i} b{i}\n" for i in range(8)))
    told = glass("describe", path).stderr
    assert "'b4'" in told
    assert "'b5'" not in told
    assert "and 3 more; --all-rejects lists them" in told
    assert "'b7'" in glass("describe", path, "--all-rejects").stderr


def test_numbered_ids_are_reported(tmp_path):
    (tmp_path / "m.smi").write_text("CC a\nCO a\n")
    shown = glass("describe", tmp_path / "m.smi").stderr
    assert "1 graph with the id of another got a number, such as 'a (2)'" in shown


def test_columns_that_look_like_times_are_named_and_used_on_request(tmp_path):
    rows = [f"g{i // 4},{i % 4},{(i + 1) % 4},{i * 0.7 % 5},{1_700_000_000 + 60 * i}" for i in range(40)]
    (tmp_path / "e.csv").write_text("graph_id,source,target,amount,at\n" + "\n".join(rows))
    assert "edge column 'at' (time stamps); --use NAME uses one" in glass("describe", tmp_path / "e.csv").stderr
    assert "time stamps" not in glass("describe", tmp_path / "e.csv", "--use", "at").stderr


def test_nothing_readable_is_an_error(tmp_path):
    (tmp_path / "m.smi").write_text("bad a\n")
    with pytest.raises(GraphError, match=r"No graph could be read from .*: read 0 graphs, left out 1"):
        glass("describe", tmp_path / "m.smi")


def test_a_file_of_blank_lines_holds_nothing(tmp_path):
    (tmp_path / "m.smi").write_text("\n\n")
    with pytest.raises(GraphError, match=r"m\.smi: it holds none$"):
        glass("describe", tmp_path / "m.smi")


def test_only_repairs_that_were_made_are_told(tmp_path):
    path = tmp_path / "g.jsonl"
    path.write_text('{"id": "a", "nodes": 2, "edges": [[0, 1], [0, 1]]}\n')
    assert f"{path}: repeated edges (1) were removed\n" in glass("describe", path).stderr


@pytest.mark.parametrize("suffix", ["smi", "sdf", "jsonl", "csv", "parquet", "zip", "graphml"])
def test_an_empty_file_is_called_empty(tmp_path, suffix):
    (tmp_path / f"g.{suffix}").write_text("")
    with pytest.raises(InputError, match="empty"):
        glass("describe", tmp_path / f"g.{suffix}")


@pytest.mark.parametrize("header", ["smiles,name", "graph_id,source,target"])
def test_a_header_without_rows_is_named(tmp_path, header):
    (tmp_path / "g.csv").write_text(f"{header}\n")
    with pytest.raises(GraphError, match=r"No graph could be read from .*: the file has a header and no rows"):
        glass("describe", tmp_path / "g.csv")


def test_a_name_that_is_no_file_is_explained(tmp_path):
    (tmp_path / "water.json").write_text("{}")
    with pytest.raises(InputError, match=r"\.json is not read.* ends in \.jsonl"):
        glass("describe", tmp_path / "water.json")
    with pytest.raises(InputError, match=r"glassbench data get MUTAG .* load_dataset\('MUTAG'\)"):
        glass("describe", "MUTAG")
    with pytest.raises(InputError, match=r"nobody does not exist\. It is not the SMILES of a molecule"):
        glass("describe", "nobody")


def test_a_value_out_of_range_names_the_option(tmp_path):
    (tmp_path / "m.smi").write_text("CC a\nCO b\n")
    fit = ("fit", tmp_path / "m.smi", "-o", tmp_path / "model")
    for option, value in (("standardise", "salt"), ("repeats", "twice"), ("fill", "nan")):
        with pytest.raises(InputError, match=f"^--{option} must be .*, found '?{value}'?\\.$"):
            glass(*fit, f"--{option}", value)
    for option, value in (("pretrained", "metal"), ("encoder", "http://u:p@h/v1#m")):
        with pytest.raises(InputError, match=f"^--{option} must be .*, found '{value}'\\.$"):
            glass(*fit, "--method", "glass", f"--{option}", value)
    assert not (tmp_path / "model").exists()


def test_the_record_that_could_not_be_read_is_not_unknown(tmp_path):
    (tmp_path / "m.smi").write_text("CC a\nCO b\nC1C bad\n")
    glass("fit", tmp_path / "m.smi", "-o", tmp_path / "model")
    with pytest.raises(InputError, match=r"^The record 'bad' could not be read: 'C1C' is not a SMILES string\.$"):
        glass("explain", tmp_path / "model", tmp_path / "m.smi", "--id", "bad")


def test_merging_otherwise_than_the_references_is_refused(tmp_path):
    rows = [f"g{graph},0,1,{amount}" for graph in range(4) for amount in (1, 2)]
    (tmp_path / "e.csv").write_text("\n".join(["graph_id,source,target,amount", *rows]) + "\n")
    glass("fit", tmp_path / "e.csv", "-o", tmp_path / "model", "--repeats", "keep")
    with pytest.raises(InputError, match=r"read with no --merge, but .* --merge amount=max"):
        glass("score", tmp_path / "model", tmp_path / "e.csv", "--merge", "amount=max")


def test_one_is_not_many(tmp_path):
    (tmp_path / "m.smi").write_text("CC a\nbad b\n")
    told = glass("describe", tmp_path / "m.smi")
    assert "read 1 graph, left out 1" in told.stderr
    assert "1 graph, 2 nodes, 1 edge\n" in told.stdout


def test_repairs_are_told_in_one_line(tmp_path):
    path = tmp_path / "g.jsonl"
    path.write_text('{"id": "a", "nodes": 3, "edges": [[0, 0], [0, 1], [1, 0], [1, 2], [1, 2]]}\n')
    assert f"{path}: self-loops (1) were removed, repeated edges (2) were removed\n" in glass("describe", path).stderr
    path.write_text('{"id": "a", "nodes": 3, "edges": [[0, 1]]}\n')
    assert glass("describe", path, "--quiet").stderr == ""


def test_rules_for_parallel_edges_need_the_name_of_an_attribute(tmp_path):
    path = tmp_path / "e.csv"
    path.write_text("graph_id,source,target,amount\na,0,1,2\na,0,1,3\n")
    for rule in ("max", "=max"):
        with pytest.raises(InputError, match=f"--merge takes NAME=RULE, such as amount=max; found '{rule}'"):
            glass("describe", path, "--merge", rule)
    with pytest.raises(InputError, match=r"no edge attribute 'amout' to merge\. Edge attributes found: amount"):
        glass("describe", path, "--merge", "amout=max")
    assert glass("describe", path, "--merge", "amount=max").exit_code == 0


@pytest.mark.filterwarnings("ignore")
def test_a_date_is_ignored_by_fit_and_score(tmp_path):
    """Without the option every later graph is flagged; given to fit alone, it holds for scoring too."""
    days = [*range(50), *range(300, 310)]
    rows = [f"g{day},{end},{end + 1},{1 + (day + end) % 3},{day}\n" for day in days for end in range(3)]
    header = "graph_id,source,target,amount,day\n"
    (tmp_path / "old.csv").write_text(header + "".join(rows[:150]))
    (tmp_path / "new.csv").write_text(header + "".join(rows[150:]))

    def flagged(fitting, scoring):
        options = ("--undirected", "--quiet")
        glass("fit", tmp_path / "old.csv", "-o", tmp_path / "m", "--force", *fitting, *options)
        glass("score", tmp_path / "m", tmp_path / "new.csv", "-o", tmp_path / "s.jsonl", *scoring, *options)
        return sum(json.loads(line)["flagged"] for line in (tmp_path / "s.jsonl").read_text().splitlines())

    assert flagged((), ()) == 10
    assert flagged(("--ignore", "day"), ("--ignore", "day")) == flagged(("--ignore", "day"), ()) == 0


@pytest.mark.parametrize("command", [("score", "memory://m", "g.jsonl"), ("fit", "g.jsonl")])
def test_workers_of_a_cluster_take_no_reading_options(tmp_path, command):
    with pytest.raises(InputError, match="--strict is the only option"):
        glass(*command, "-o", tmp_path / "out", "--cluster", "local", "--fill", 0)
