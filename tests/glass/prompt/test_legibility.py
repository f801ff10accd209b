import numpy as np
import pytest

from graphglass.errors import ParameterError
from graphglass.glass.prompt.fields import scaled
from graphglass.glass.prompt.legibility import legibility


def test_rows_that_are_the_fields_read_perfectly(fifty_prompts):
    """A tiny arc of the sphere around one point: cosine distance is monotone in the fields' distance."""
    fields = scaled(fifty_prompts.fields)
    fields = (fields - fields.mean(axis=0)) / fields.std(axis=0)
    rows = np.hstack([np.full((50, 1), 1000.0), fields])
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    found = legibility(rows.astype(np.float64), fifty_prompts, slices=(8,))
    assert found.spearman[22] > 0.99
    assert 0.2 < found.spearman[8] < found.spearman[22]
    assert found.read_out > 0.99


def test_noise_reads_nothing(fifty_prompts):
    rows = np.random.default_rng(1).standard_normal((50, 16)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    found = legibility(rows, fifty_prompts)
    assert abs(found.spearman[16]) < 0.2
    assert found.read_out < 0.2


def test_too_few_or_mismatched_rows(fifty_prompts):
    with pytest.raises(ParameterError):
        legibility(np.ones((5, 4), np.float32), fifty_prompts[:5])
    with pytest.raises(ParameterError):
        legibility(np.ones((49, 4), np.float32), fifty_prompts)
