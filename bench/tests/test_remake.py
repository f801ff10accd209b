"""The command that remakes the records of GraphGlass: what it drops, and that its steps are commands that exist."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from glassbench.cli import app
from glassbench.records import Results

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def remake() -> Any:
    spec = importlib.util.spec_from_file_location("remake", ROOT / "bench/scripts/remake.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_step_is_a_command(remake: Any) -> None:
    lines = [f"{command} -o {folder}" for folder, command in remake.BENCHMARKS.items()]
    lines += [line.removeprefix("glassbench ") for line in remake.PAGES if line.startswith("glassbench ")]
    for line in lines:
        name, *arguments = line.split()
        get_command(app).commands[name].make_context(name, arguments)  # type: ignore[attr-defined]
    scripts = [*remake.SCRIPTS, *(line for line in remake.PAGES if not line.startswith("glassbench "))]
    for line in scripts:
        assert (ROOT / "bench/scripts" / line.split()[0]).exists()


def test_every_folder_with_records_of_graphglass_is_remade(remake: Any) -> None:
    found = {path.parent for path in (ROOT / "bench/results").rglob("graphglass.jsonl")}
    assert found <= {ROOT / "bench/results" / folder for folder in remake.BENCHMARKS}
    for folder, command in remake.BENCHMARKS.items():
        if (path := ROOT / "bench/results" / folder).exists():
            purpose = Results.open(path).purpose
            assert purpose.benchmark == command.split()[0]
            assert purpose.flip == ("--flip" in command)


def test_only_records_of_other_code_are_dropped(remake: Any, tmp_path: Path) -> None:
    path = tmp_path / "graphglass.jsonl"
    lines = [json.dumps({"seed": seed, "fingerprint": code}) + "\n" for seed, code in enumerate(["a", "b", "a", None])]
    path.write_text("".join(lines))
    assert remake.drop_other_code(path, "a") == 2
    assert path.read_text() == lines[0] + lines[2]
    assert remake.drop_other_code(path, "a") == 0
