"""Attributes in a bounded number of columns."""

import numpy as np
import pytest

from graphglass.graphs.attributes import WIDEST, attribute_columns, narrow, rows_times
from graphglass.graphs.canonical import canonical_graph_set


def test_up_to_the_widest_nothing_changes():
    values = np.random.default_rng(0).normal(size=(5, WIDEST))
    assert narrow(values) is values
    bare = canonical_graph_set([3], [0, 1], [1, 2])
    assert attribute_columns(bare).shape == (3, 0)


def test_mixing_keeps_squared_lengths_on_average_and_depends_on_the_width_alone():
    values = np.random.default_rng(1).normal(size=(400, 500))
    mixed = narrow(values)
    assert mixed.shape == (400, WIDEST)
    assert (mixed**2).sum() == pytest.approx((values**2).sum(), rel=0.02)
    assert (narrow(values[7:9]) == mixed[7:9]).all()  # bit for bit, whatever the batch


def test_the_product_is_the_product():
    table, matrix = np.random.default_rng(2).normal(size=(6, 4)), np.random.default_rng(3).normal(size=(4, 3))
    assert rows_times(table, matrix) == pytest.approx(table @ matrix)
