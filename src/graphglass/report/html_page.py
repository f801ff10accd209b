"""The frame of every page that GraphGlass makes: the report, the inspector and the API reference."""

from __future__ import annotations

from html import escape
from importlib.resources import files

from graphglass.drawing.graph_svg import drawing_style


def html_page(title: str, body: str, *, style: str = "", script: str = "", links: str = "", kind: str = "") -> str:
    """A whole HTML document.

    Parameters
    ----------
    title : str
        Plain text.
    body : str
        HTML; what it quotes must be escaped already.
    style, script : str
        Written into the page, so it needs no other file.
    links : str
        HTML of the head that loads files, where the page has a server.
    kind : str
        Class of the body.
    """
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">'
        f"<title>{escape(title)}</title>{links}{f'<style>{style}</style>' if style else ''}</head>"
        f'<body class="{kind}">{body}{f"<script>{script}</script>" if script else ""}</body></html>'
    )


def page_style() -> str:
    """The style sheet that all pages share, with that of the drawings."""
    return drawing_style() + files("graphglass.report").joinpath("style.css").read_text(encoding="utf-8")
