"""A model file from a stranger: loading it opens nothing but its own files."""

import hashlib
import json
import os
import sys
import sysconfig
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner

import graphglass
from graphglass import GLASS
from graphglass.cli.app import app
from graphglass.errors import EncoderError

WATCHED = {"open", "os.listdir", "os.scandir", "os.mkfifo", "socket.connect", "socket.getaddrinfo", "subprocess.Popen"}
EVENTS = []
RECORDING = []


def record(event, arguments):
    if RECORDING and event in WATCHED:
        EVENTS.append((event, str(arguments[0])))


@contextmanager
def recorded():
    """Every file that is opened, folder that is listed and connection that is made inside the block."""
    if record not in RECORDING:
        sys.addaudithook(record)  # it cannot be removed; outside the block it does nothing
    EVENTS.clear()
    RECORDING.append(record)
    yield EVENTS
    RECORDING.clear()


@pytest.fixture(scope="module")
def honest(tmp_path_factory, normals):
    path = tmp_path_factory.mktemp("honest") / "model"
    GLASS(encoder="numeric", epochs=1).fit(normals[:20]).save(path)
    return path


def renamed_encoder(model, name):
    """Change the encoder that a model names, and recompute the checksums as a forger would."""
    manifest = json.loads((model / "manifest.json").read_text())
    for role, entry in manifest["files"].items():
        content = (model / entry["file"]).read_bytes()
        if entry["file"].endswith(".json") and b'"numeric"' in content:
            (model / entry["file"]).unlink()
            content = content.replace(b'"numeric"', json.dumps(name).encode())
            digest = hashlib.sha256(content).hexdigest()
            entry.update(file=f"{role}-{digest[:12]}.json", bytes=len(content), sha256=digest)
            (model / entry["file"]).write_bytes(content)
    (model / "manifest.json").write_text(json.dumps(manifest))


@pytest.mark.parametrize("kind", ["inside", "outside", "hub", "endpoint"])
def test_info_of_a_hostile_model_opens_nothing_else(honest, tmp_path, kind):
    model = tmp_path / "model"
    model.mkdir()
    for part in honest.iterdir():
        (model / part.name).write_bytes(part.read_bytes())
    trap = (model if kind == "inside" else tmp_path) / "encoder"
    trap.mkdir()
    os.mkfifo(trap / "config.json")  # reading it would wait for ever
    (trap / "model.safetensors").symlink_to("/dev/zero")
    (trap / "modules.json").write_text('[{"idx": 0, "name": "0", "path": "", "type": "evil_code.Evil"}]')
    (trap / "evil_code.py").write_text("raise SystemExit('code of a model was run')")
    name = {"hub": "some/model", "endpoint": "http://127.0.0.1:9/v1#toy"}.get(kind, str(trap))
    renamed_encoder(model, name)
    with recorded() as events:
        result = CliRunner().invoke(app, ["info", str(model)])
    assert isinstance(result.exception, EncoderError)
    assert "name it" in str(result.exception)
    files = {str(path) for path in model.iterdir() if path.is_file()} | {str(model)}
    code = (sysconfig.get_path("purelib"), str(Path(graphglass.__file__).parent), sys.base_prefix, "/proc", "/sys")
    assert [event for event in events if event[1] not in files and not event[1].startswith(code)] == []
