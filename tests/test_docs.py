"""Every code block of README and docs: each page runs from top to bottom, in a folder with the files it names."""

import importlib.util
import json
import os
import re
import runpy
import shlex
import sys
from glob import glob
from pathlib import Path

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from graphglass import GLASS, GraphGlass, concatenate, load_dataset, read_graphs, write_json_lines, write_parquet
from graphglass.cli.app import app

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
# Pages whose commands are run in order; those of the other pages must parse, or run if they end at once.
WALKED = ("README", "index", "how-to", "concepts")
QUICK = (
    "glass private budget create",
    "glass private sigma",
    "glassbench data list",
    "glass describe",
    "glass --version",
)
# Commands that wait for requests or input, need another machine, or take minutes.
PARSED = re.compile(r"glass (serve|watch|review|bench|demo|references MODEL)|tcp://| NORMALS | QUERIES ")
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
    (folder / "labelled.csv").write_text(
        "name,smiles,toxic\n" + "".join(f"m{i},{s},{i % 4 // 3}\n" for i, s in enumerate(MOLECULES))
    )
    here = Path.cwd()
    os.chdir(folder)
    run_notebook = runpy.run_path(str(ROOT / "docs" / "notebooks.py"))["run"]
    run_notebook(ROOT / "examples" / "molecules.ipynb")  # drugs.csv and candidates.csv
    os.chdir(here)
    molecules = read_graphs(folder / "normals.smi")
    (folder / "parts").mkdir()
    for path in (folder / "other-normals.parquet", folder / "parts" / "one.parquet"):
        write_parquet(molecules, path)
    write_parquet(molecules, folder / "edges.parquet", nodes=folder / "nodes.parquet")
    write_json_lines(molecules, folder / "graphs.jsonl")
    (folder / "token.txt").write_text("a-token-of-sufficient-length-for-clients\n")
    mutag = load_dataset("MUTAG").without_labels()
    for name in ("model", "MODEL"):
        GraphGlass().fit(molecules).save(folder / name)
    write_json_lines(mutag[:30], folder / "REFERENCES")
    return folder


def blocks(page):
    return BLOCK.findall(page.read_text(encoding="utf-8"))


def commands(body):
    """The `glass` commands of a console block, continued lines joined."""
    for line in body.replace("\\\n", " ").splitlines():
        command = line.removeprefix("$ ").partition("  #")[0].strip().rpartition("| ")[2]
        if command.startswith("glass "):
            yield command


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).with_suffix("").as_posix())
def test_a_page_runs_from_top_to_bottom(page, place, monkeypatch, capsys):
    monkeypatch.chdir(place)
    names = starting_names(page.stem)
    walked = page.stem in WALKED or page.parent.name in WALKED
    printed = ""
    for language, body in blocks(page):
        if language == "python":
            capsys.readouterr()
            run_python(body, page, names)
            printed = capsys.readouterr().out
        elif language == "text":  # what the block before it prints
            assert body.split() == printed.split()
        elif language in ("console", "sh", ""):
            for command in commands(body):
                quick = command.startswith(QUICK) and "--cluster" not in command
                run_command(command, parse_only=not quick and (not walked or PARSED.search(command) is not None))


def run_python(body, page, names):
    for stand_in in STAND_INS.items():
        body = body.replace(*stand_in)
    code = compile(body, str(page), "exec")
    if all(importlib.util.find_spec(name) for name in re.findall(r"^(?:from|import) (\w+)", body, re.MULTILINE)):
        exec(code, names)


def run_command(command, *, parse_only):
    words = shlex.split(command)[1:]
    arguments = [name for word in words for name in (sorted(glob(word)) if "*" in word else [word])]
    if not parse_only:
        result = CliRunner().invoke(app, arguments)
        done = result.exit_code == 0 or "already" in str(result.exception)
        assert done, (command, result.output, result.exception)
        return
    group, context = get_command(app), None
    while True:
        context = group.make_context(group.name, arguments, parent=context)
        rest = [*getattr(context, "_protected_args", []), *context.args]
        if not hasattr(group, "resolve_command") or not rest:
            return
        _, group, arguments = group.resolve_command(context, rest)


def starting_names(page):
    """What a page's Python takes as given."""
    if page != "privacy":
        return {}
    run_command("glass private budget create clinic.db --dataset wards-2026 --epsilon 4 --delta 1e-5", parse_only=False)
    mutag = load_dataset("MUTAG").without_labels()
    model = GLASS(encoder="numeric", epochs=1).fit(mutag[:40])
    write_json_lines(mutag[40:120], "normals.jsonl")
    Path("wards.summary").touch()  # what the first block makes; its commands are only parsed
    return {"model": model, "queries": mutag[120:130]}


def test_json_blocks_are_graphs(tmp_path):
    found = [body for page in PAGES for language, body in blocks(page) if language == "json"]
    assert found
    for number, body in enumerate(found):
        path = tmp_path / f"{number}.jsonl"
        path.write_text(json.dumps(json.loads(body)) + "\n")
        assert len(read_graphs(path)) == 1
    assert len(concatenate([read_graphs(tmp_path / "0.jsonl")])) == 1


# The order in which data passes through the packages.
ORDER = ("graphs", "structure", "channels", "detector", "glass", "privacy", "glassbench", "serve", "cli")
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def walks():
    found = re.findall(r"^- \*\*(.+?)\*\*: (.+)$", ARCHITECTURE, re.MULTILINE)
    return [pytest.param(re.findall(r"(?:^|→ )`([\w.]+)`", line), id=name) for name, line in found]


@pytest.mark.parametrize("modules", walks())
def test_walks_name_real_modules_and_never_turn_back(modules):
    assert len(modules) > 5
    for module in modules:
        package = "" if module.startswith("glassbench.") else "graphglass."
        assert importlib.util.find_spec(f"{package}{module}") is not None, module
    places = [ORDER.index(module.partition(".")[0]) for module in modules]
    assert places == sorted(places)


# Written by the reader of a page, or named in someone else's code.
NOT_HERE = {"main.py", "main_1.py", "modules.json", "card.json", "METHOD.jsonl", "test_chains.py", "test_degree_gap.py"}
NOT_HERE |= {"test_word_counts.py"}
FOLDERS = [ROOT / name for name in ("src", "bench", "docs", "examples", "tests")]
ALL_PAGES = [*PAGES, ROOT / "CONTRIBUTING.md", *(ROOT / "bench").rglob("*.md"), *(ROOT / "src").rglob("*.md")]


@pytest.mark.parametrize("page", ALL_PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_files_and_commands_named_on_a_page_exist(page):
    from glassbench.cli import app as bench_app

    text = page.read_text(encoding="utf-8")
    files = [f"/{path.relative_to(ROOT)}" for folder in FOLDERS for path in folder.rglob("*.*")]
    for name in re.findall(r"`([\w./-]+\.(?:py|json|jsonl|toml))(?:::\w+)?`", text):
        missing = not any(file.endswith(f"/{name.lstrip('./')}") for file in files)
        assert Path(name).name in NOT_HERE or not missing, name
    for program, command in re.findall(r"(?:`|^\$ )(glass|glassbench) (?!raw`)([a-z][\w-]*)", text, re.MULTILINE):
        assert command in get_command(app if program == "glass" else bench_app).list_commands(None), command


def readings():
    rooms = [ROOT / "src" / "graphglass" / name for name in ("glass", "privacy", "serve", "cluster")]
    return [(room, room / "README.md") for room in rooms] + [(ROOT / "bench/src/glassbench", ROOT / "bench/README.md")]


@pytest.mark.parametrize(("folder", "page"), readings(), ids=lambda path: path.name)
def test_a_reading_list_names_every_file_and_no_other(folder, page):
    text = page.read_text(encoding="utf-8")
    named = [Path(name).name for name in re.findall(r"`([\w/]+\.py)`", text)]
    baselines = folder / "baselines"  # listed as one folder
    files = [path.name for path in folder.rglob("*.py") if path.name != "__init__.py" and path.parent != baselines]
    assert not set(named) - {path.name for path in folder.rglob("*.py")}
    assert {name for name in files if named.count(name) < files.count(name)} == set()


def test_walks_are_the_modules_that_a_command_enters(tmp_path):
    walk = {parameter.id: parameter.values[0] for parameter in walks()}
    assert walk.keys() >= {"fit", "score", "explain", "release", "serve", "a bench cell"}
    queries, model, out = (
        str(ROOT / "src/graphglass/graphs/MUTAG.zip"),
        str(tmp_path / "model"),
        str(tmp_path / "x.csv"),
    )
    commands = {"fit": ["-o", model, queries], "score": [model, queries, "-o", out], "explain": [model, queries]}
    commands["explain"] += ["--id", "MUTAG-2"]
    for command, arguments in commands.items():
        entered = set()
        sys.setprofile(lambda frame, event, value, entered=entered: entered.add(frame.f_globals.get("__name__")))
        try:
            get_command(app).main([command, *arguments], standalone_mode=False)
        finally:
            sys.setprofile(None)
        assert {f"graphglass.{module}" for module in walk[command]} <= entered


def test_the_page_starts_with_twelve_files_that_take_an_hour():
    files = re.findall(r"^\d+\. `([\w/]+\.py)`", ARCHITECTURE, re.MULTILINE)
    lengths = [len((ROOT / "src/graphglass" / file).read_text(encoding="utf-8").splitlines()) for file in files]
    assert len(files) == 12
    assert sum(lengths) < 2_600
    assert ARCHITECTURE.index("1. `graphs/graph_set.py`") < 400
