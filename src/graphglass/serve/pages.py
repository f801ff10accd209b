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
    routes = []
    for path, methods in document["paths"].items():
        for method, route in methods.items():
            title, text = f"{method.upper()} {escape(path)}", escape(route.get("description", ""))
            parts = f"{_parameters(route)}{_body(route)}{_answers(route)}"
            routes.append(f"<section><h2><code>{title}</code></h2><p>{text}</p>{parts}</section>")
    schemas = "".join(
        f'<section id="{escape(name)}"><h3>{escape(name)}</h3><pre tabindex="0">'
        f"{escape(json.dumps(schema, indent=1))}</pre></section>"
        for name, schema in document.get("components", {}).get("schemas", {}).items()
    )
    info = document["info"]
    title = escape(info["title"])
    body = (
        f"<h1>{title} {escape(info['version'])}</h1><p>{escape(info['description'])} The machine-readable form is "
        f'<a href="/openapi.json">openapi.json</a>.</p>{"".join(routes)}<h2>Schemas</h2>{schemas}'
    )
    return html_page(f"{info['title']} API", body, links=_STYLE, kind="docs")


def _web_file(name: str) -> str:
    return files("graphglass.serve").joinpath("web", name).read_text(encoding="utf-8")


def _parameters(route: dict[str, Any]) -> str:
    rows = "".join(
        f"<li><code>{escape(item['name'])}</code> ({item['in']}{', required' if item.get('required') else ''})</li>"
        for item in route.get("parameters", [])
    )
    return f"<ul>{rows}</ul>" if rows else ""


def _body(route: dict[str, Any]) -> str:
    content = route.get("requestBody", {}).get("content", {})
    return "".join(f"<p>Body {escape(kind)}: {_link(item.get('schema', {}))}</p>" for kind, item in content.items())


def _answers(route: dict[str, Any]) -> str:
    rows = "".join(
        f"<li>{escape(status)}: {escape(answer['description'])} "
        f"{''.join(_link(item.get('schema', {})) for item in answer.get('content', {}).values())}</li>"
        for status, answer in route["responses"].items()
    )
    return f"<ul>{rows}</ul>"


def _link(schema: dict[str, Any]) -> str:
    name = schema.get("$ref", "").rpartition("/")[2]
    return f'<a href="#{escape(name)}">{escape(name)}</a>' if name else ""
