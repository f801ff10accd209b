"""CONTRIBUTING.md, followed to the letter: its code blocks make a reader, a channel, a baseline and an encoder."""

import importlib.util
import inspect
import re
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from graphglass import GraphGlass, load_dataset, read_report

ROOT = Path(__file__).parents[1]
BLOCKS = dict(
    re.findall(r"^```python\n# ((?:bench/)?src/\S+)\n(.*?)^```", (ROOT / "CONTRIBUTING.md").read_text(), re.M | re.S)
)


@pytest.fixture
def add(monkeypatch):
    """Make a block's file importable, as if it had been saved where its first line says."""

    def added(file: str) -> ModuleType:
        name = file.removeprefix("bench/").removeprefix("src/").removesuffix(".py").replace("/", ".")
        assert not (ROOT / file).exists()
        module = ModuleType(name)
        exec(compile(BLOCKS[file], file, "exec"), module.__dict__)
        monkeypatch.setitem(sys.modules, name, module)
        return module

    return added


def entry(file, names, opening, closing):
    """The line that registers something, evaluated where it goes."""
    return eval(f"{opening}{BLOCKS[file]}{closing}", dict(names))


def test_every_example_is_about_ten_lines():
    assert len(BLOCKS) == 7
    for file, body in BLOCKS.items():
        code = [line for line in body.splitlines() if line.strip() and not line.startswith(("import ", "from "))]
        assert len(code) <= 13, file


def test_a_reader(add, monkeypatch, tmp_path):
    from graphglass.graphs import formats

    add("src/graphglass/graphs/readers/chains.py")
    for name, kind in entry("src/graphglass/graphs/formats.py", vars(formats), "{", "}").items():
        monkeypatch.setitem(formats.FORMATS, name, kind)
    path = tmp_path / "walks.chains"
    path.write_text("first: a b c\nno name\nsecond: x y\n")
    result = read_report(path)
    assert result.graphs.ids == ("first", "second")
    assert result.graphs.edge_counts.tolist() == [2, 1]
    assert [reject.position for reject in result.rejects] == [2]


def test_a_channel_passes_the_tests_of_every_channel(add, monkeypatch):
    from graphglass.channels import default_channels as home

    spec = importlib.util.spec_from_file_location("channel_tests", ROOT / "tests/channels/test_default_channels.py")
    suite = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(suite)
    names = vars(home) | vars(add("src/graphglass/channels/tables/leaves.py"))
    (toy,) = entry("src/graphglass/channels/default_channels.py", names, "[", "]")
    original = home.default_channels

    def with_toy():
        return [*original(), *entry("src/graphglass/channels/default_channels.py", names, "[", "]")]

    monkeypatch.setattr(suite, "default_channels", with_toy)
    values = {
        "name": toy.name,
        "references": suite.measure_graphs(suite.random_graphs(40, 0)),
        "queries": suite.measure_graphs(suite.random_graphs(15, 1, density=0.5)),
    }
    ran = 0
    for title, test in inspect.getmembers(suite.TestEveryChannel(), inspect.ismethod):
        if title.startswith("test_") and set(inspect.signature(test).parameters) <= set(values):
            test(**{parameter: values[parameter] for parameter in inspect.signature(test).parameters})
            ran += 1
    assert ran >= 3
    for module in [item for name, item in list(sys.modules.items()) if name.startswith("graphglass.")]:
        if vars(module).get("default_channels") is original:
            monkeypatch.setattr(module, "default_channels", with_toy)
    molecules = load_dataset("MUTAG")
    assert toy.name in GraphGlass().fit(molecules[:40]).explain(molecules[50]).contributions


def test_a_baseline(add, monkeypatch):
    from glassbench import methods

    add("bench/src/glassbench/baselines/degree_gap.py")
    for name, factory in entry("bench/src/glassbench/methods.py", vars(methods), "{", "}").items():
        monkeypatch.setitem(methods.METHODS, name, factory)
    molecules = load_dataset("MUTAG")
    detector = methods.factory("degree-gap")(0).fit(molecules[:60])
    scores = detector.decision_function(molecules[60:])
    alone = [detector.decision_function(molecules[place])[0] for place in range(60, 70)]
    assert np.array_equal(scores[:10], alone)


def test_an_encoder(add):
    from graphglass import graphdp, profile
    from graphglass.glass.encoders.text_encoder import TextEncoder

    encoder = add("src/graphglass/glass/encoders/word_counts.py").WordCountEncoder()
    assert isinstance(encoder, TextEncoder)
    prompts = graphdp(profile(load_dataset("MUTAG")[:20]))
    rows = encoder.encode(prompts)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, rtol=1e-6)
    assert np.array_equal(rows[3], encoder.encode([prompts[3]])[0])
