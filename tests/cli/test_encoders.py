from typer.testing import CliRunner

from graphglass.cli.app import app
from graphglass.errors import EncoderError

RUNNER = CliRunner()


def test_the_list_is_shown_with_and_without_the_word():
    for arguments in (["encoders"], ["encoders", "list"]):
        result = RUNNER.invoke(app, arguments)
        assert result.exit_code == 0, result.output
        assert "numeric" in result.stdout
        assert "Qwen/Qwen3-Embedding-0.6B" in result.stdout


def test_check_measures_rate_and_reading():
    result = RUNNER.invoke(app, ["encoders", "check", "numeric", "--count", "60"])
    assert result.exit_code == 0, result.output
    lines = {line.split()[0]: line for line in result.stdout.splitlines()}
    assert "dimension 1024" in lines["encoder"]
    assert "prompts a second" in lines["rate"]
    assert float(lines["Spearman"].split()[-3]) > 0.8
    assert float(lines["read-out"].split()[-1]) > 0.8


def test_an_unknown_encoder():
    assert isinstance(RUNNER.invoke(app, ["encoders", "check", "nope"]).exception, EncoderError)
