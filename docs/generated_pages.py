"""MkDocs hook: pages that are made from the code and from files outside docs/ when the site is built."""

from __future__ import annotations

import inspect
import json
import posixpath
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import Any

import typer
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from typer.core import TyperArgument, TyperGroup
from typer.main import get_command

ROOT = Path(__file__).parents[1]
# Page of the site -> file of the repository.
COPIES = {"changelog.md": "CHANGELOG.md", "contributing.md": "CONTRIBUTING.md", "vulnerabilities.md": "SECURITY.md"}
COPIES |= {path.name: f"bench/docs/{path.name}" for path in sorted((ROOT / "bench/docs").glob("*.md"))}
GALLERY = {f"gallery/{path.stem}.md": f"examples/{path.name}" for path in sorted((ROOT / "examples").glob("*.ipynb"))}
PAGES_OF = {source: page for page, source in (COPIES | GALLERY).items()}
LINK = re.compile(r"\]\((?P<target>(?!\w+:)[^)#\s]+)(?P<anchor>#[^)\s]*)?\)")
READING = "Reading graphs"  # the panel that most commands share
PUBLIC = (
    "graphglass", "graphglass.cluster", "graphglass.glass", "graphglass.privacy", "glassbench", "glassbench.baselines",
)  # fmt: skip


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages, the copied ones, and the figures of results/ that pages show."""
    made = {"reference/command-line.md": command_line_page(), **api_pages()}
    made |= {page: notebook_page(ROOT / source) for page, source in GALLERY.items()}
    made |= {page: (ROOT / source).read_text(encoding="utf-8") for page, source in COPIES.items()}
    for path, text in made.items():
        files.append(File.generated(config, path, content=text))
    for figure in sorted((ROOT / "bench/results").rglob("*.png")):
        files.append(File.generated(config, figure.relative_to(ROOT).as_posix(), abs_src_path=str(figure)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Links are written for the repository; the site has some of the same files in other places."""
    if page.file.src_uri in GALLERY:
        return markdown  # SMILES look like links
    source = PurePosixPath(COPIES.get(page.file.src_uri, f"docs/{page.file.src_uri}"))

    def moved(link: re.Match[str]) -> str:
        target, anchor = link["target"], link["anchor"] or ""
        place = posixpath.normpath(posixpath.join(source.parent, target))
        inside = PAGES_OF.get(place, place.removeprefix("docs/"))
        return f"]({posixpath.relpath(inside, posixpath.dirname(page.file.src_uri) or '.')}{anchor})"

    return LINK.sub(moved, markdown)


def api_pages() -> dict[str, str]:
    """One page per public class, one for the functions of a package, and a page that lists them all."""
    pages = {}
    parts = ["# Python API", "Everything below is public. Other modules may change without notice.", ""]
    for package in PUBLIC:
        module = import_module(package)
        names = sorted(module.__all__, key=str.lower)
        functions = [name for name in names if not isinstance(getattr(module, name), type)]
        parts += [f"## {package}", module.__doc__ or "", "", "| name | what it is |", "|---|---|"]
        for name in names:
            page = f"api/{package}.functions.md" if name in functions else f"api/{package}.{name}.md"
            first = (inspect.getdoc(getattr(module, name)) or "").partition("\n")[0]
            parts.append(f"| [`{name}`]({page}{f'#{package}.{name}' * (name in functions)}) | {_cell(_prose(first))} |")
            if name not in functions:
                pages[f"reference/{page}"] = _documented(f"{package}.{name}", 1)
        parts.append("")
        if functions:
            listed = "\n".join(_documented(f"{package}.{name}", 2) for name in functions)
            pages[f"reference/api/{package}.functions.md"] = f"# Functions of {package}\n\n{listed}"
    return pages | {"reference/api.md": "\n".join(parts)}


def _documented(name: str, level: int) -> str:
    return f"::: {name}\n    options:\n      heading_level: {level}\n"


def notebook_page(path: Path) -> str:
    """A notebook with its outputs."""
    parts = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if "text/html" in data:
                # Without the looks that pandas brings, a table has those of the site.
                html = re.sub(r"<style scoped>.*?</style>", "", "".join(data["text/html"]), flags=re.DOTALL)
                html = html.replace(' border="1" class="dataframe"', "")
                parts.append(f"<div>\n{html}\n</div>")
            else:
                parts.append(f"```text\n{''.join(output.get('text', data.get('text/plain', []))).rstrip()}\n```")
    where = path.relative_to(ROOT).as_posix()
    return "\n\n".join([*parts, f"This page is `{where}`, as it was run.", ""])


def command_line_page() -> str:
    """Every command of `glass`, with its arguments and options."""
    from graphglass.cli.app import app

    group = get_command(app)
    parts = ["# Command line", "This page is made from the commands; `glass COMMAND --help` prints the same.", ""]
    parts += _tables(group)
    shared: dict[str, Any] = {}
    for name, command in _commands(group, "glass"):
        parts += [f"{'##' if name.count(' ') == 1 else '###'} {name}", "", _prose(command.help or ""), ""]
        if not isinstance(command, TyperGroup):
            arguments = [_argument(item) for item in command.params if isinstance(item, TyperArgument)]
            parts += ["```text", " ".join([name, *arguments, "[OPTIONS]"]), "```", ""]
        parts += _tables(command)
        if any(item.name not in shared and _panel(item) == READING for item in command.params):
            shared |= {item.name: (item, command) for item in command.params if _panel(item) == READING}
    parts += ["## Reading graphs", "", "Commands that read graphs share these options.", ""]
    return "\n".join([*parts, *_table("option", [_row(*pair) for pair in shared.values()])])


def _commands(group: Any, path: str) -> Iterator[tuple[str, Any]]:
    # What the group itself takes, such as MODEL, comes before the name of the command.
    taken = "".join(f" {_argument(item)}" for item in group.params if isinstance(item, TyperArgument))
    for name in group.list_commands(None):
        command = group.get_command(None, name)
        yield f"{path}{taken} {name}", command
        if isinstance(command, TyperGroup):
            yield from _commands(command, f"{path} {name}")


def _tables(command: Any) -> list[str]:
    """One table for each panel of the help; the shared one is linked."""
    panels: dict[str, list[Any]] = {}
    for item in command.params:
        if not getattr(item, "hidden", False) and item.name != "help":
            panels.setdefault(_panel(item), []).append(item)
    lines = []
    for panel, items in panels.items():
        if panel == READING:
            lines += ["It also has the [options for reading graphs](#reading-graphs).", ""]
        else:
            lines += _table(panel, [_row(item, command) for item in items])
    return lines


def _table(title: str, rows: list[str]) -> list[str]:
    return [f"| {title} | meaning | default |", "|---|---|---|", *rows, ""]


def _panel(item: Any) -> str:
    return getattr(item, "rich_help_panel", None) or ("argument" if isinstance(item, TyperArgument) else "option")


def _row(item: Any, command: Any) -> str:
    return f"| {_names(item, command)} | {_prose(_cell(item.help or ''))} | {_default(item)} |"


def _names(item: Any, command: Any) -> str:
    if isinstance(item, TyperArgument):
        return f"`{_argument(item)}`"
    flags = ", ".join(f"`{name}`" for name in (*item.opts, *item.secondary_opts))
    if item.is_flag:
        return flags
    kind = item.display_type(typer.Context(command)).strip("<>").upper().removesuffix(" RANGE")
    return f"{flags} `{_cell(kind.replace('LIST[STR]', 'STR'))}`"


def _argument(item: Any) -> str:
    name = (item.metavar or item.name or "").upper() + ("..." if item.nargs == -1 else "")
    return name if item.required else f"[{name}]"


def _default(item: Any) -> str:
    if item.required:
        return "required"
    if isinstance(getattr(item, "show_default", None), str):
        return _cell(item.show_default)
    shown = isinstance(item.default, str | int | float | Path) and not isinstance(item.default, bool)
    return f"`{item.default}`" if shown else ""


def _prose(text: str) -> str:
    return re.sub(r"(?<![`\w])(--[a-z][\w-]*)", r"`\1`", text.replace("<", "&lt;"))


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
