import subprocess
import sys
from importlib import import_module

import pytest

PUBLIC = (
    "graphglass",
    "graphglass.cluster",
    "graphglass.glass",
    "graphglass.privacy",
    "glassbench",
    "glassbench.baselines",
)


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_exists_and_is_listed(name):
    package = import_module(name)
    assert package.__doc__
    assert set(package.__all__) <= set(dir(package))
    for public in package.__all__:
        assert getattr(package, public).__doc__ is not None, public
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = package.nothing


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
