import subprocess
import sys

import graphglass


def test_every_public_name_exists_and_is_listed():
    assert sorted(graphglass.__all__) == sorted(graphglass._HOMES)
    for name in graphglass.__all__:
        assert getattr(graphglass, name) is not None


def test_importing_stays_light():
    """`import graphglass` and `glass --help` load nothing heavy."""
    heavy = "{'torch', 'numba', 'sklearn', 'rdkit'} & set(sys.modules)"
    code = f"import sys, graphglass, graphglass.cli.app; print(sorted({heavy}))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_help_lists_every_command():
    from typer.testing import CliRunner

    from graphglass.cli.app import COMMANDS, app

    result = CliRunner().invoke(app, ["--help"])
    assert result.exit_code == 0
    for command in COMMANDS:
        assert command in result.output
        assert CliRunner().invoke(app, [command, "--help"]).exit_code == 0
