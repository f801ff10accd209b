"""Every code block of README and docs: Python runs from top to bottom of its page, commands parse or run."""

import importlib.util
import json
import re
import shlex
from pathlib import Path

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from graphglass import GLASS, concatenate, load_dataset, read_graphs, write_json_lines, write_parquet
from graphglass.cli.app import app

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
# Commands that end at once and write into the working directory only; the others must parse.
RUN = ("glass private budget create", "glass private sigma", "glass data list", "glass describe", "glass --version")
# Places that a reader replaces by their own.
STAND_INS = {"tcp://scheduler:8786": "local"}
MOLECULES = ("CCO", "CCN", "CCCO", "CC(C)O", "c1ccccc1O", "CC(=O)O", "CCCl", "CCOC", "CCCN", "OCCO", "CCS", "CCBr")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with every file that the pages name."""
    folder = tmp_path_factory.mktemp("docs")
    for name in ("normals", "new", "trusted", "molecules"):
        start = {"trusted": 4, "new": 8}.get(name, 0)
        (folder / f"{name}.smi").write_text("".join(f"{s} {name}-{i}\n" for i, s in enumerate(MOLECULES[start:])))
    (folder / "known.smi").write_text("N#N known-0\nC=C=C known-1\n")
    molecules = read_graphs(folder / "normals.smi")
    (folder / "parts").mkdir()
    for path in (folder / "other-normals.parquet", folder / "parts" / "one.parquet"):
        write_parquet(molecules, path)
    write_parquet(molecules, folder / "edges.parquet", nodes=folder / "nodes.parquet")
    write_json_lines(molecules, folder / "graphs.jsonl")
    (folder / "token.txt").write_text("a-token-of-sufficient-length-for-clients\n")
    mutag = load_dataset("MUTAG").without_labels()
    for name in ("model", "MODEL"):
        GLASS().fit(molecules).save(folder / name)
    write_json_lines(mutag[:30], folder / "REFERENCES")
    return folder


def blocks():
    for page in PAGES:
        for place, (language, body) in enumerate(BLOCK.findall(page.read_text(encoding="utf-8"))):
            yield pytest.param(language, body, id=f"{page.stem}-{place}-{language or 'text'}")


def python_pages():
    return [page for page in PAGES if any(language == "python" for language, _ in BLOCK.findall(page.read_text()))]


@pytest.mark.parametrize("page", python_pages(), ids=lambda page: page.stem)
def test_python_runs_from_top_to_bottom(page, place, monkeypatch):
    monkeypatch.chdir(place)
    names = starting_names(page.stem)
    for language, body in BLOCK.findall(page.read_text(encoding="utf-8")):
        if language != "python":
            continue
        for stand_in in STAND_INS.items():
            body = body.replace(*stand_in)
        code = compile(body, str(page), "exec")
        if all(importlib.util.find_spec(name) for name in re.findall(r"^(?:from|import) (\w+)", body, re.MULTILINE)):
            exec(code, names)


def starting_names(page):
    """What a page's Python takes as given."""
    if page != "privacy":
        return {}
    result = CliRunner().invoke(
        app, shlex.split("private budget create clinic.db --dataset wards-2026 --epsilon 4 --delta 1e-5")
    )
    assert result.exit_code == 0, result.output
    mutag = load_dataset("MUTAG").without_labels()
    model = GLASS("paper", encoder="numeric", epochs=1).fit(mutag[:40])
    return {"model": model, "references": mutag[40:120], "queries": mutag[120:130]}


def commands():
    for parameter in blocks():
        language, body = parameter.values
        if language in ("console", "sh", ""):
            for line in body.splitlines():
                command = line.removeprefix("$ ").partition("  #")[0].strip().rpartition("| ")[2]
                if command.startswith("glass "):
                    yield pytest.param(command, id=f"{parameter.id}: {command}")


@pytest.mark.parametrize("command", list(commands()))
def test_commands_are_understood(command, place, monkeypatch):
    monkeypatch.chdir(place)
    arguments = shlex.split(command)[1:]
    if command.startswith(RUN) and "--cluster" not in command:
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == 0 or "already" in str(result.exception), (result.output, result.exception)
        return
    group, context = get_command(app), None
    while True:
        context = group.make_context(group.name, arguments, parent=context)
        rest = [*getattr(context, "_protected_args", []), *context.args]
        if not hasattr(group, "resolve_command") or not rest:
            return
        _, group, arguments = group.resolve_command(context, rest)


def test_json_blocks_are_graphs(tmp_path):
    found = [parameter.values[1] for parameter in blocks() if parameter.values[0] == "json"]
    assert found
    for number, body in enumerate(found):
        path = tmp_path / f"{number}.jsonl"
        path.write_text(json.dumps(json.loads(body)) + "\n")
        assert len(read_graphs(path)) == 1
    assert len(concatenate([read_graphs(tmp_path / "0.jsonl")])) == 1


# The order in which data passes through the packages.
ORDER = ("graphs", "structure", "embedding", "channels", "detector", "privacy", "bench", "serve", "cli")


def walks():
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    found = re.findall(r"^- \*\*(.+?)\*\*: (.+)$", text, re.MULTILINE)
    return [pytest.param(re.findall(r"`([\w.]+)`", line), id=name) for name, line in found]


@pytest.mark.parametrize("modules", walks())
def test_walks_name_real_modules_and_never_turn_back(modules):
    assert len(modules) > 5
    for module in modules:
        assert importlib.util.find_spec(f"graphglass.{module}") is not None, module
    places = [ORDER.index(module.partition(".")[0]) for module in modules]
    assert places == sorted(places)


def test_the_six_walks_are_there():
    names = {parameter.id for parameter in walks()}
    assert names >= {"fit", "score", "explain", "private release", "bench single", "serve"}
