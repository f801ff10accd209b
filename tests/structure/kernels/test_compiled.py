"""One line before kernels are compiled for the first time on a machine, none later."""

import importlib.util

import pytest

from graphglass.kernel import announce_compilation


@pytest.fixture
def fresh_kernel(tmp_path):
    source = tmp_path / "fresh.py"
    source.write_text("from graphglass.kernel import kernel\n@kernel\ndef twice(x):\n    return 2 * x\n")
    spec = importlib.util.spec_from_file_location("fresh", source)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.twice


def test_only_the_first_use_is_announced(fresh_kernel, capsys):
    announce_compilation(fresh_kernel, show=False)
    assert capsys.readouterr().err == ""
    announce_compilation(fresh_kernel, show=True)
    assert capsys.readouterr().err.startswith("Compiling kernels (once, about 20 s)")
    assert fresh_kernel(3) == 6
    announce_compilation(fresh_kernel, show=True)
    assert capsys.readouterr().err == ""
