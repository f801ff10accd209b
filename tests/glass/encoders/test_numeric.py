import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphglass.errors import EncoderError, ParameterError
from graphglass.glass.encoders.numeric import NumericEncoder
from graphglass.glass.encoders.text_encoder import load_encoder
from graphglass.glass.prompt.fields import FIELD_NAMES
from graphglass.glass.prompt.graphdp import GraphDP, PromptContext


def test_rows_and_even_prefixes_have_constant_length(fifty_prompts):
    rows = NumericEncoder().encode(fifty_prompts)
    assert rows.shape == (50, 1024)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)
    for width in (64, 128, 256, 512):
        np.testing.assert_allclose(np.linalg.norm(rows[:, :width], axis=1), np.sqrt(width / 1024), atol=1e-6)


def test_rows_are_the_stated_features_of_the_scaled_fields(fifty_prompts):
    encoder = NumericEncoder(8)
    from graphglass.glass.prompt.fields import scaled

    phases = scaled(fifty_prompts.fields) @ encoder._frequencies.astype(float)
    expected = np.stack([np.cos(phases), np.sin(phases)], axis=2).reshape(50, 8) / 2
    np.testing.assert_allclose(encoder.encode(fifty_prompts), expected, atol=1e-4)


def test_prefixes_are_coarse_to_fine():
    """A step of one level moves the last features more than the first."""
    fields = np.full((2, len(FIELD_NAMES)), 10.0)
    fields[1] *= 1.01
    first, second = NumericEncoder().encode(GraphDP(fields, PromptContext())).astype(float)
    moved = np.add.reduceat((first - second) ** 2, range(0, 1024, 128))
    assert np.all(np.diff(moved) > 0)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 49), st.integers(1, 50))
def test_a_row_does_not_depend_on_its_batch(index, size):
    fields = np.random.default_rng(0).uniform(0, 40, (50, len(FIELD_NAMES)))
    prompts = GraphDP(fields, PromptContext())
    encoder = NumericEncoder()
    batch = np.unique(np.append(np.arange(size), index))
    row = encoder.encode(prompts[batch])[np.searchsorted(batch, index)]
    assert np.array_equal(row, encoder.encode(prompts[index : index + 1])[0])


def test_context_and_words_do_not_matter(fifty_prompts):
    other = GraphDP(fifty_prompts.fields, PromptContext(domain="social", style="levels"))
    assert np.array_equal(NumericEncoder().encode(fifty_prompts), NumericEncoder().encode(other))


def test_two_encoders_agree_and_their_fingerprint_says_so(fifty_prompts):
    first, second = load_encoder("numeric"), load_encoder("numeric")
    assert first.fingerprint == second.fingerprint
    assert first.fingerprint != load_encoder("numeric", dimension=64).fingerprint
    assert np.array_equal(first.encode(fifty_prompts), second.encode(fifty_prompts))


def test_it_needs_numbers_and_an_even_dimension():
    with pytest.raises(EncoderError, match="graphdp"):
        NumericEncoder().encode(["nodes=3"])
    for wrong in (0, 7, -2, 2.0):
        with pytest.raises(ParameterError):
            NumericEncoder(wrong)
    assert NumericEncoder().encode(GraphDP(np.zeros((0, len(FIELD_NAMES))), PromptContext())).shape == (0, 1024)


def test_it_is_fast():
    prompts = GraphDP(np.random.default_rng(0).uniform(0, 40, (20_000, len(FIELD_NAMES))), PromptContext())
    encoder = NumericEncoder()
    encoder.encode(prompts)  # compiles
    spent = []
    for _ in range(3):
        start = time.process_time()
        encoder.encode(prompts)
        spent.append(time.process_time() - start)
    assert min(spent) < 1  # 0.2 on a quiet core
