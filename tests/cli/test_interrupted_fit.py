"""Ctrl-C during a real `glass fit`, then --resume."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from typer.testing import CliRunner

from graphglass import GLASS, GraphGlass, write_json_lines
from graphglass.cli.app import app


def fingerprint(model):
    result = CliRunner().invoke(app, ["info", str(model), "--json"])
    return json.loads(result.output)["encoder fingerprint"]


@pytest.mark.slow
def test_resume_continues_to_the_same_bits(tmp_path, normals):
    write_json_lines(normals[:12], tmp_path / "normals.jsonl")
    settings = "--method glass --encoder numeric --epochs 40 -o".split()
    command = [sys.executable, "-m", "graphglass.cli", "fit", str(tmp_path / "normals.jsonl"), *settings]
    # The first run is cut as soon as its first checkpoint is on disk.
    # A shell's background jobs ignore Ctrl-C, and children inherit that; the tests may run in one.
    process = subprocess.Popen(
        [*command, str(tmp_path / "cut")],
        stderr=subprocess.PIPE,
        env={**os.environ},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    checkpoint = tmp_path / "cut.checkpoint"
    deadline = time.monotonic() + 300
    while process.poll() is None and time.monotonic() < deadline and not any(checkpoint.glob("*")):
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 130, errors
    assert b"--resume" in errors
    assert not (tmp_path / "cut").exists()
    subprocess.run([*command, str(tmp_path / "cut"), "--resume"], check=True, capture_output=True)
    assert not checkpoint.exists()
    subprocess.run([*command, str(tmp_path / "whole")], check=True, capture_output=True)
    assert fingerprint(tmp_path / "cut") == fingerprint(tmp_path / "whole")


def test_ctrl_c_promises_a_checkpoint_only_if_there_is_one(normals, tmp_path, monkeypatch):
    write_json_lines(normals, tmp_path / "normals.jsonl")

    def interrupted(*_, checkpoint, **__):
        if training:
            checkpoint.mkdir()
        raise KeyboardInterrupt

    def glass(*arguments):
        return CliRunner().invoke(app, ["fit", str(tmp_path / "normals.jsonl"), *map(str, arguments)])

    monkeypatch.setattr(GLASS, "fit", interrupted)
    monkeypatch.setattr(GraphGlass, "fit", lambda *_, **options: interrupted(checkpoint=None))
    for training in (False, True):
        result = glass("-o", tmp_path / "m", "--method", "glass")
        assert result.exit_code == 130
        assert result.stderr.startswith("glass: interrupted")
        assert ("--resume" in result.stderr) == training
    training = False
    result = glass("-o", tmp_path / "n")
    assert result.exit_code == 130
    assert result.stderr == "glass: interrupted\n"
