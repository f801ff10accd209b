import json

import pytest
from typer.testing import CliRunner

from graphglass.cli.app import app
from graphglass.errors import ParameterError

RUNNER = CliRunner()


@pytest.fixture
def graphs(tmp_path):
    path = tmp_path / "graphs.jsonl"
    records = [
        {"id": "tri", "nodes": [0, 1, 2], "edges": [[0, 1], [1, 2], [0, 2]], "label": 1},
        {"id": "path", "nodes": [0, 1, 2], "edges": [[0, 1], [1, 2]], "label": 0},
    ]
    path.write_text("\n".join(map(json.dumps, records)))
    return path


def test_prompts_in_order(graphs):
    result = RUNNER.invoke(app, ["prompt", str(graphs), "--domain", "mol", "--instruction", "none"])
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0].startswith("domain=mol; phase=single-reference; nodes=3; edges=3; density=1.000;")
    assert lines[1].startswith("domain=mol; phase=single-reference; nodes=3; edges=2;")
    assert not any("tri" in line.replace("triangles", "") for line in lines)


def test_json_lines_and_every_setting(graphs):
    options = ["--phase", "zero-shot-query", "--source-domain", "social", "--style", "levels", "--json"]
    result = RUNNER.invoke(app, ["prompt", str(graphs), *options])
    assert result.exit_code == 0, result.output
    records = [json.loads(line) for line in result.stdout.splitlines()]
    assert [record["id"] for record in records] == ["tri", "path"]
    assert records[0]["prompt"].startswith("Instruct: Encode this graph description")
    assert "phase=zero-shot-query; source_domain=social; nodes=10;" in records[0]["prompt"]
    few = RUNNER.invoke(app, ["prompt", str(graphs), "--phase", "few-shot-reference", "--trusted-normal"])
    assert "trusted_normal=true" in few.stdout


def test_bad_settings(graphs):
    assert RUNNER.invoke(app, ["prompt", str(graphs), "--style", "words"]).exit_code == 2
    result = RUNNER.invoke(app, ["prompt", str(graphs), "--domain", "a b"])
    assert isinstance(result.exception, ParameterError)


def test_the_list_names_every_encoder():
    result = RUNNER.invoke(app, ["encoders"])
    assert result.exit_code == 0, result.output
    assert "numeric" in result.stdout
    assert "Qwen/Qwen3-Embedding-0.6B" in result.stdout
