"""What a release is made of: one version number, a valid container file, and checks that agree with `make check`."""

import json
import re
import subprocess
import sys
from pathlib import Path, PurePosixPath

import pytest
import yaml

import graphglass

ROOT = Path(__file__).parents[1]


def text(name):
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_version_is_written_once():
    assert 'version = {attr = "graphglass.__version__"}' in text("pyproject.toml")
    assert yaml.safe_load(text("CITATION.cff"))["version"] == graphglass.__version__
    assert re.search(rf"^## {re.escape(graphglass.__version__)} ", text("CHANGELOG.md"), re.MULTILINE)


def test_the_container_file_has_no_fault_and_the_process_is_not_root():
    linter = Path(sys.executable).with_name("hadolint")
    result = subprocess.run([linter, ROOT / "Dockerfile"], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout
    lines = text("Dockerfile").splitlines()
    assert "USER 1000" in lines
    assert any(line.startswith("HEALTHCHECK") for line in lines)
    assert any("graphglass-*.whl" in line for line in lines)


def test_the_container_keeps_the_change_log_next_to_the_model():
    """The log is written next to the model: the model's parent must be a mounted folder."""
    (command,) = re.findall(r"^CMD (.*)$", text("Dockerfile"), re.M)
    folder = str(PurePosixPath(json.loads(command)[0]).parent)
    for page in ("Dockerfile", "docs/how-to/service.md"):
        (run,) = re.findall(r"docker run .*", text(page))
        assert f':{folder}"' in run, page


def test_pre_commit_runs_the_checks_of_make_check():
    commands = re.findall(
        r"^\t\$\(BIN\)/(.+?)(?: \$\(CODE\))?$", text("Makefile").split("check: ")[1].split("\n\n")[0], re.M
    )
    hooks = yaml.safe_load(text(".pre-commit-config.yaml"))["repos"][0]["hooks"]
    assert [hook["entry"].removeprefix(".venv/bin/") for hook in hooks] == commands


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
def test_the_workflow_tests_every_supported_python(version):
    workflow = yaml.safe_load(text(".github/workflows/ci.yml"))
    assert version in workflow["jobs"]["test"]["strategy"]["matrix"]["python"]
    assert f"Programming Language :: Python :: {version}" in text("pyproject.toml")
    assert set(workflow["jobs"]["publish"]["needs"]) == {"test", "docs", "audit", "build"}


def test_what_is_built_from_is_pinned():
    """Actions by commit, the base image by digest, build tools by version; all of them are updated by a bot."""
    uses = re.findall(r"uses: \S+@(\S+)", text(".github/workflows/ci.yml"))
    assert uses
    assert all(re.fullmatch(r"[0-9a-f]{40}", commit) for commit in uses)
    assert re.search(r"^FROM python:[\w.-]+@sha256:[0-9a-f]{64}$", text("Dockerfile"), re.M)
    pins = {line.partition("==")[0].lower() for line in text("constraints.txt").splitlines() if "==" in line}
    assert {"build", "setuptools"} <= pins
    updates = yaml.safe_load(text(".github/dependabot.yml"))["updates"]
    assert {update["package-ecosystem"] for update in updates} == {"pip", "github-actions", "docker"}
