"""Commands on a full disk: one error, what was there before stays, nothing half-written is left."""

import subprocess
import sys

import pytest

from graphglass import GraphGlass, write_json_lines

# No file of the child may grow past the limit, as on a full disk.
CODE = """
import resource, signal, sys
from graphglass.cli.app import main
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)
del sys.argv[1]
main()
"""


@pytest.fixture
def place(normals, queries, tmp_path):
    write_json_lines(normals, tmp_path / "normals.jsonl")
    write_json_lines(queries[:3].without_labels(), tmp_path / "more.jsonl")
    GraphGlass().fit(normals).save(tmp_path / "model")
    (tmp_path / "scores.csv").write_text("id,score\nbefore,1\n")
    return tmp_path


def files(folder):
    return {str(path.relative_to(folder)): path.is_file() and path.read_bytes() for path in folder.rglob("*")}


def run(place, limit, command):
    return subprocess.run(
        [sys.executable, "-c", CODE, str(limit), *command], cwd=place, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    "command",
    [
        ("fit", "normals.jsonl", "-o", "new"),
        ("fit", "more.jsonl", "-o", "model", "--force"),
        ("score", "model", "normals.jsonl", "-o", "scores.csv"),
        ("references", "model", "add", "more.jsonl"),
    ],
    ids=" ".join,
)
def test_a_full_disk_is_one_error_and_changes_nothing(place, command):
    before = files(place)
    result = run(place, 512, command)
    assert result.returncode != 0
    assert "Could not write" in result.stderr
    assert "Traceback" not in result.stderr
    assert files(place) == before
    spare = run(place, 2**30, command)
    assert spare.returncode == 0, spare.stderr
    assert files(place) != before
