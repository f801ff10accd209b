"""Charts as SVG: distributions, bars, and the map of references and graphs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

_WIDTH, _HEIGHT, _MARGIN = 560, 220, 34


def score_distribution(references: NDArray[np.float64], queries: NDArray[np.float64], threshold: float) -> str:
    """Histograms of reference and query scores on one axis, with the flagging threshold.

    Heights are shares of each group on one scale: groups of different sizes can be compared.
    """
    both = np.concatenate([references, queries])
    low, high = np.quantile(both, [0.0, 1.0])
    high = high if high > low else low + 1
    edges = np.linspace(low, high, 41)
    parts = [_open("Distribution of scores: references in grey, queries in colour")]
    shares = {
        kind: np.histogram(values, edges)[0] / max(1, len(values))
        for kind, values in (("reference", references), ("query", queries))
    }
    tallest = max(float(heights.max()) for heights in shares.values())
    scale = (_HEIGHT - 2 * _MARGIN) / max(tallest, 1e-9)
    for share in (0.0, tallest / 2, tallest):
        y = _HEIGHT - _MARGIN - share * scale
        parts.append(f'<line class="grid" x1="{_MARGIN}" y1="{y:.1f}" x2="{_WIDTH - _MARGIN}" y2="{y:.1f}"/>')
        parts.append(f'<text class="share" x="{_MARGIN - 4}" y="{y + 4:.1f}">{share:.0%}</text>')
    for kind, heights in shares.items():
        for left, right, height in zip(edges[:-1], edges[1:], heights, strict=True):
            if height:
                x, width = _x(left, low, high), _x(right, low, high) - _x(left, low, high)
                tall = height * scale
                place = f'x="{x:.1f}" y="{_HEIGHT - _MARGIN - tall:.1f}" width="{width:.1f}" height="{tall:.1f}"'
                parts.append(f'<rect class="{kind}" {place}/>')
    if low <= threshold <= high:
        x = _x(threshold, low, high)
        parts.append(f'<line class="threshold" x1="{x:.1f}" y1="{_MARGIN}" x2="{x:.1f}" y2="{_HEIGHT - _MARGIN}"/>')
        beside = min(max(x, _MARGIN + 50), _WIDTH - _MARGIN - 20)  # the words are centred and must fit
        parts.append(f'<text x="{beside:.1f}" y="{_MARGIN - 6}">flagged from here</text>')
    for value in np.linspace(low, high, 5):
        parts.append(f'<text x="{_x(value, low, high):.1f}" y="{_HEIGHT - 14}">{value:.2g}</text>')
    return "".join([*parts, "</svg>"])


def reference_map(
    references: NDArray[np.float64],
    queries: NDArray[np.float64],
    flagged: NDArray[np.bool_],
    ids: Sequence[str],
    anomalies: NDArray[np.float64] | None = None,
) -> str:
    """References, graphs and known anomalies on one plane, with the same scale along both axes."""
    size, margin = 360, 16
    known = np.zeros((0, 2)) if anomalies is None else anomalies
    points = np.concatenate([references, queries, known])
    low, extent = points.min(axis=0), np.ptp(points, axis=0)
    scale = (size - 2 * margin) / max(float(extent.max()), 1e-9)
    placed = size / 2 + (points - low - extent / 2) * scale * (1, -1)
    parts = [f'<svg class="map" viewBox="0 0 {size} {size}" role="img" aria-label="Map of references and graphs">']
    for x, y in placed[: len(references)]:
        parts.append(f'<circle class="reference" cx="{x:.1f}" cy="{y:.1f}" r="2.5"/>')
    for (x, y), flag, name in zip(placed[len(references) :], flagged, ids, strict=False):
        kind = "flagged" if flag else "query"
        title = f"<title>{escape(name)}</title>"
        parts.append(f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="4">{title}</circle>')
    for x, y in placed[len(references) + len(queries) :]:
        parts.append(f'<path class="known" d="M{x:.1f} {y - 6:.1f}l5 10h-10z"><title>known anomaly</title></path>')
    return "".join([*parts, "</svg>"])


def share_bars(shares: Sequence[tuple[str, float]]) -> str:
    """One bar per family, as long as its share of the score in percent."""
    largest = max((share for _, share in shares), default=0) or 1
    return "".join(
        f'<div class="bar"><span>{escape(name)}</span><svg viewBox="0 0 100 10" preserveAspectRatio="none" '
        f'aria-hidden="true"><rect y="1" height="8" width="{100 * share / largest:.1f}"/></svg>'
        f"<output>{share:.0f}%</output></div>"
        for name, share in shares
    )


def rankings(rows: Mapping[str, NDArray[np.bool_]]) -> str:
    """One strip per method: graphs from the most to the least abnormal, anomalies in colour."""
    height = 34 * len(rows) + 32
    style = 'role="img" font-family="sans-serif" font-size="12"'
    legend = "most abnormal on the left; anomalies in red, normal graphs in grey"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" {style}>',
        '<title>Rankings of the same graphs</title><rect width="100%" height="100%" fill="#fff"/>',
        f'<text x="100" y="{height - 10}">{legend}</text>',
    ]
    for row, (name, anomalous) in enumerate(rows.items()):
        top, step = 34 * row + 8, (_WIDTH - 110) / max(len(anomalous), 1)
        parts.append(f'<text x="4" y="{top + 16}">{escape(name)}</text>')
        parts += [
            f'<rect x="{100 + place * step:.2f}" y="{top}" width="{max(step - 0.6, 0.6):.2f}" height="24" '
            f'fill="{"#c0392b" if hit else "#cfd4d9"}"/>'
            for place, hit in enumerate(anomalous)
        ]
    return "".join(parts) + "</svg>"


def _open(label: str) -> str:
    return f'<svg class="chart" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(label)}">'


def _x(value: float, low: float, high: float) -> float:
    return float(_MARGIN + (value - low) / (high - low) * (_WIDTH - 2 * _MARGIN))
