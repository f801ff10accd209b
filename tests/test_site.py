"""The documentation site: built without a warning, searchable, complete, and independent of the network."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[1]
TERM = "known anomalies"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Strict mode: a dead link, a missing anchor or a docstring that does not parse is an error."""
    folder = tmp_path_factory.mktemp("site")
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    result = subprocess.run(build, cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    return folder


def test_the_search_finds_known_anomalies(site):
    entries = json.loads((site / "search" / "search_index.json").read_text())["docs"]
    found = {
        entry["location"].partition("#")[0] for entry in entries if TERM in f"{entry['title']} {entry['text']}".lower()
    }
    assert {"index.html", "concepts/references.html", "quality.html"} <= found


def test_nothing_is_loaded_from_elsewhere(site):
    loads = re.compile(
        r"""<(?:script|img|iframe)[^>]+src="?(https?:)?//|<link[^>]+rel="?stylesheet[^>]+href="?https?:"""
    )
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert not loads.search(text), page
        assert 'data-md-component="source"' not in text, page  # it would ask GitHub for stars


def test_every_command_and_every_public_name_has_an_entry(site):
    import graphglass
    from graphglass.cli.app import COMMANDS

    commands = (site / "reference" / "command-line.html").read_text(encoding="utf-8")
    assert all(f'id="glass-{name}"' in commands for name in COMMANDS)
    index = (site / "reference" / "api.html").read_text(encoding="utf-8")
    pages = "".join(path.read_text(encoding="utf-8") for path in (site / "reference" / "api").glob("*.html"))
    for name in graphglass.__all__:
        assert f"<code>{name}</code>" in index, name
        assert re.search(rf'id="graphglass\.(\w+\.)*{name}"', pages), name


def test_every_class_has_its_own_page(site):
    assert (site / "reference" / "api" / "graphglass.GraphGlass.html").is_file()
    assert max(path.stat().st_size for path in (site / "reference" / "api").glob("*.html")) < 600_000


def test_notebooks_are_pages_with_pictures(site):
    pages = sorted((site / "gallery").glob("*.html"))
    assert len(pages) == 5
    assert all("<svg" in page.read_text(encoding="utf-8") for page in pages)
