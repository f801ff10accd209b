import numpy as np
import pytest

from graphglass.errors import InputError
from graphglass.glass.slices import available_slices, normalise, prefix_slice


def test_prefix_is_renormalised():
    rows = normalise(np.random.default_rng(0).normal(size=(5, 16)))
    cut = prefix_slice(rows, 4)
    assert np.allclose(np.linalg.norm(cut, axis=1), 1, atol=1e-6)
    assert np.allclose(cut, rows[:, :4] / np.linalg.norm(rows[:, :4], axis=1, keepdims=True), atol=1e-6)


def test_zero_row_lands_on_the_sphere():
    unit = normalise(np.array([[0.0, 0.0], [3.0, 4.0]]))
    assert unit.tolist() == [[1, 0], [0.6, 0.8]]


def test_slice_past_the_dimension_is_refused():
    with pytest.raises(InputError, match="8 dimensions does not exist in rows of 4"):
        prefix_slice(np.ones((1, 4)), 8)


def test_available_slices_are_capped_by_the_encoder():
    assert available_slices((64, 128, 256, 512), 384) == (64, 128, 256, 384)
    assert available_slices((64, 128), 64) == (64,)
