from typer.testing import CliRunner

from graphglass.cli.app import app


def test_the_list_names_every_encoder():
    result = CliRunner().invoke(app, ["encoders"])
    assert result.exit_code == 0, result.output
    assert "numeric" in result.stdout
    assert "Qwen/Qwen3-Embedding-0.6B" in result.stdout
