"""An explanation to look at: in a notebook, as a page, or as a picture with the nearest normal graph."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from graphglass.drawing.charts import share_bars
from graphglass.drawing.graph_svg import drawing_style
from graphglass.errors import InputError
from graphglass.files.output_file import write_file

if TYPE_CHECKING:
    from graphglass.detector.explanation import Explanation

_GAP, _TITLE = 20.0, 22.0
_STYLE = (
    ".explanation{font:14px system-ui,sans-serif;max-width:760px}"
    ".explanation .pair{display:flex;gap:20px;flex-wrap:wrap}"
    ".explanation figure{margin:0;width:300px}.bar{display:grid;grid-template-columns:110px 1fr 50px;gap:8px}"
    ".bar svg{height:12px;width:100%}.bar rect{fill:#b3541e}"
)


def explanation_html(explanation: Explanation) -> str:
    """Drawings, sentences and bars."""
    figures = [f"<figure>{explanation.draw().svg}<figcaption>{escape(explanation.id)}</figcaption></figure>"]
    if (near := explanation.draw_nearest()) is not None:
        caption = f"nearest normal: {escape(explanation.nearest.ids[0])} (dashed: not in {escape(explanation.id)})"
        figures.append(f"<figure>{near.svg}<figcaption>{caption}</figcaption></figure>")
    sentences = "".join(f"<li>{escape(cause.words)} ({cause.share:.0f}%)</li>" for cause in explanation.causes)
    shares = [(name, share) for name, share in explanation.shares.items() if share >= 0.5]
    return (
        f'<div class="explanation"><style>{drawing_style()}{_STYLE}</style><p><b>{escape(explanation.id)}</b>: '
        f'{explanation.headline}</p><div class="pair">{"".join(figures)}</div>'
        f"<ul>{sentences}</ul>{share_bars(shares)}</div>"
    )


def save_explanation(explanation: Explanation, path: Path) -> None:
    """Write the picture (``.svg``, ``.png``) or everything (``.html``)."""
    kind = path.suffix.lower()
    if kind == ".html":
        title = escape(f"{explanation.id} explained")
        themes = '<meta name="color-scheme" content="light dark">'  # the page's own colours follow the drawing's
        head = f'<!doctype html><html lang="en"><meta charset="utf-8">{themes}<title>{title}</title>'
        write_file(path, f"{head}{explanation_html(explanation)}</html>".encode())
    elif kind == ".svg":
        write_file(path, explanation_svg(explanation).encode())
    elif kind == ".png":
        write_file(path, _png(explanation_svg(explanation)))
    else:
        raise InputError(f"An explanation is saved as .svg, .png or .html; found {path.name!r}.")


def explanation_svg(explanation: Explanation) -> str:
    """The graph and the nearest normal graph next to each other, in one file that needs no other."""
    pictures = [(explanation.id, explanation.draw())]
    if (near := explanation.draw_nearest()) is not None:
        pictures.append((f"nearest normal: {explanation.nearest.ids[0]}", near))
    parts, x, height = [], 0.0, 0.0
    for title, picture in pictures:
        wide, high = (float(number) for number in re.findall(r'viewBox="0 0 (\S+) (\S+)"', picture.svg)[0])
        place = f'<svg x="{x:g}" y="{_TITLE:g}" width="{wide:g}" height="{high:g}"'
        parts.append(f'<text class="key" x="{x + 8:g}" y="12" font-size="12">{escape(title)}</text>')
        parts.append(picture.svg.replace("<svg", place, 1))
        x, height = x + wide + _GAP, max(height, high + _TITLE)
    size = f'viewBox="0 0 {x - _GAP:g} {height:g}" width="{2 * (x - _GAP):g}"'
    opened = f'<svg xmlns="http://www.w3.org/2000/svg" class="graph" {size}>'
    return f"{opened}<style>{_plain_style()}</style>{''.join(parts)}</svg>"


def _plain_style() -> str:
    """The style sheet in light colours without variables, which few programs but browsers know."""
    text = re.sub(r"@media[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}", "", drawing_style())
    values = dict(re.findall(r"(--[\w-]+):\s*([^;}]+)", text))
    text = re.sub(r"var\((--[\w-]+)\)", lambda match: values[match[1]].strip(), text)
    # Inside another picture a width of 100% would be that of the whole.
    return re.sub(r":root\s*\{[^}]*\}|svg\.graph \{[^}]*\}", "", text)


def _png(svg: str) -> bytes:
    try:
        from cairosvg import svg2png  # type: ignore[import-not-found]
    except ImportError as error:
        raise InputError(
            "A .png needs CairoSVG, which is not installed: pip install cairosvg, or save .svg or .html."
        ) from error
    return bytes(svg2png(bytestring=svg.encode(), scale=2.0, background_color="white"))
