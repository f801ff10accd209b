"""Commands on a full disk: one error, what was there before stays, nothing half-written is left."""

import json
import subprocess
import sys

import pytest

from graphglass import GraphGlass, write_json_lines

COMMANDS = [
    "score model normals.jsonl -o scores.csv",
    "references model add more.jsonl",
    "fit normals.jsonl -o new",
    "fit more.jsonl -o model --force",
]
# Every command twice, each in a fork of one process that has imported everything. No file of the first may grow past
# half a kilobyte, as on a full disk; the second has room.
CODE = """
import json, os, resource, signal, sys
from pathlib import Path
from graphglass.cli.app import main
from graphglass.detector import reference_detector

def files():
    return {str(path): path.read_bytes().hex() if path.is_file() else None for path in Path().rglob("*")}

def run(limit, command):
    read, write = os.pipe()
    if os.fork() == 0:
        os.dup2(write, 2)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        sys.argv = ["glass", *command.split()]
        code = 0
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
        except BaseException as error:
            print("Traceback", repr(error), file=sys.stderr)
        sys.stderr.flush()
        os._exit(code)
    os.close(write)
    with os.fdopen(read) as errors:
        text = errors.read()
    return os.waitstatus_to_exitcode(os.wait()[1]), text

run(2**30, "score model normals.jsonl -o warm.csv")  # kernels that are not compiled yet are written too
for command in json.loads(sys.argv[1]):
    before = files()
    full = run(512, command)
    unchanged = files() == before
    print(json.dumps([full, unchanged, run(2**30, command), files() != before]), flush=True)
"""


@pytest.mark.slow
def test_a_full_disk_is_one_error_and_changes_nothing(normals, queries, tmp_path):
    write_json_lines(normals, tmp_path / "normals.jsonl")
    write_json_lines(queries[:3].without_labels(), tmp_path / "more.jsonl")
    GraphGlass().fit(normals).save(tmp_path / "model")
    (tmp_path / "scores.csv").write_text("id,score\nbefore,1\n")
    child = [sys.executable, "-c", CODE, json.dumps(COMMANDS)]
    result = subprocess.run(child, cwd=tmp_path, capture_output=True, text=True, check=True)
    for command, line in zip(COMMANDS, result.stdout.splitlines(), strict=True):
        (code, errors), unchanged, (spare_code, spare_errors), changed = json.loads(line)
        assert code != 0, command
        assert "Could not write" in errors, command
        assert "Traceback" not in errors, command
        assert unchanged, command
        assert spare_code == 0, (command, spare_errors)
        assert changed, command
