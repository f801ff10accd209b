"""The pages of the service: the inspector and the API reference, which load nothing from elsewhere."""

from __future__ import annotations

import json
from html import escape
from importlib.resources import files
from typing import Any

from graphglass.report.html_page import html_page, page_style

_STYLE = '<link rel="stylesheet" href="/style.css">'


def inspector_page() -> str:
    """The page on which people rank and look at graphs."""
    script = '<script type="module" src="/web/inspector.js"></script>'
    return html_page("GraphGlass inspector", _web_file("inspector.html"), links=_STYLE + script, kind="inspector")


def style_sheet() -> str:
    """What both pages look like."""
    return page_style() + _web_file("inspector.css")


def docs_page(document: dict[str, Any]) -> str:
    """HTML of an OpenAPI document: every route with its text, parameters, body and answers."""
    routes = "".join(
        f"<section><h2><code>{method.upper()} {escape(path)}</code></h2><p>{escape(route.get('description', ''))}</p>"
        f"{_parameters(route)}{_answers(route)}</section>"
        for path, methods in document["paths"].items()
        for method, route in methods.items()
    )
    schemas = "".join(
        f'<section id="{escape(name)}"><h3>{escape(name)}</h3><pre tabindex="0">'
        f"{escape(json.dumps(schema, indent=1))}</pre></section>"
        for name, schema in document["components"]["schemas"].items()
    )
    info = document["info"]
    body = (
        f"<h1>{escape(info['title'])} {escape(info['version'])}</h1><p>{escape(info['description'])} The "
        f'machine-readable form is <a href="/openapi.json">openapi.json</a>.</p>{routes}<h2>Schemas</h2>{schemas}'
    )
    return html_page(f"{info['title']} API", body, links=_STYLE, kind="docs")


def _web_file(name: str) -> str:
    return files("graphglass.serve").joinpath("web", name).read_text(encoding="utf-8")


def _parameters(route: dict[str, Any]) -> str:
    rows = [
        f"<code>{escape(item['name'])}</code> ({item['in']}{', required' if item.get('required') else ''})"
        for item in route.get("parameters", [])
    ]
    content = route.get("requestBody", {}).get("content", {})
    rows += [f"Body {escape(kind)}: {_links({kind: item})}" for kind, item in content.items()]
    return _list(rows)


def _answers(route: dict[str, Any]) -> str:
    rows = route["responses"].items()
    return _list([f"{code}: {escape(row['description'])} {_links(row.get('content', {}))}" for code, row in rows])


def _list(rows: list[str]) -> str:
    return f"<ul>{''.join(f'<li>{row}</li>' for row in rows)}</ul>" if rows else ""


def _links(content: dict[str, Any]) -> str:
    """Links to the schemas of a body, which may come in several media types."""
    names = [item.get("schema", {}).get("$ref", "").rpartition("/")[2] for item in content.values()]
    return "".join(f'<a href="#{escape(name)}">{escape(name)}</a>' for name in names if name)
