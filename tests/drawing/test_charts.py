"""What the charts of a report show, read back from their SVG."""

import re

import numpy as np
import pytest

from graphglass.drawing.charts import score_distribution


def heights(svg, kind):
    return [float(value) for value in re.findall(rf'<rect class="{kind}"[^>]* height="([\d.]+)"', svg)]


def test_groups_of_different_sizes_stand_on_one_scale_of_shares():
    # All of one group in one bin, the other spread evenly over two: half as tall, though ten times as many.
    svg = score_distribution(np.repeat([0.0, 1.0], 50), np.zeros(10), threshold=float("inf"))
    (whole,) = heights(svg, "query")
    assert heights(svg, "reference") == pytest.approx([whole / 2] * 2, abs=0.1)
    assert re.findall(r'<text class="share"[^>]*>([^<]*)<', svg) == ["0%", "50%", "100%"]
