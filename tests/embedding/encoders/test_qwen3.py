import warnings

import numpy as np
import pytest

from graphglass.embedding.encoders.qwen3 import Qwen3Encoder
from graphglass.embedding.encoders.text_encoder import load_encoder
from graphglass.errors import EncoderError, GlassError, MissingExtraError, ParameterError

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A tiny Qwen3 model with random weights and a byte-level tokenizer, saved as its publisher saves."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors

    path = tmp_path_factory.mktemp("tiny-qwen3")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3Model

        alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
        vocabulary = {character: i for i, character in enumerate(alphabet)}
        tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        tokenizer.decoder = decoders.ByteLevel()
        tokenizer.add_special_tokens(["<|endoftext|>", "<|im_end|>"])
        tokenizer.post_processor = processors.TemplateProcessing(
            single="$A <|endoftext|>", special_tokens=[("<|endoftext|>", 256)]
        )
        fast = PreTrainedTokenizerFast(
            tokenizer_object=tokenizer, eos_token="<|im_end|>", pad_token="<|endoftext|>", padding_side="left"
        )
        fast.save_pretrained(path)
        torch.manual_seed(0)
        config = Qwen3Config(
            vocab_size=258, hidden_size=64, intermediate_size=96, num_hidden_layers=2, num_attention_heads=4,
            num_key_value_heads=2, head_dim=16, max_position_embeddings=1024,
        )  # fmt: skip
        Qwen3Model(config).save_pretrained(path)
    return path


@pytest.fixture(scope="module")
def encoder(folder):
    return load_encoder(str(folder), device="cpu")


def _by_hand(folder, prompts):
    """Each prompt alone, no padding: the hidden state of its end token."""
    from transformers import AutoModel, AutoTokenizer

    tokenizer, model = (
        AutoTokenizer.from_pretrained(folder),
        AutoModel.from_pretrained(folder, dtype=torch.float32).eval(),
    )
    rows = []
    for prompt in prompts:
        ids = tokenizer(prompt, return_tensors="pt")["input_ids"]
        assert ids[0, -1] == 256
        with torch.no_grad():
            rows.append(model(input_ids=ids).last_hidden_state[0, -1].numpy())
    rows = np.array(rows)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_it_loads_by_architecture_and_equals_last_token_pooling(encoder, folder, fifty_prompts):
    assert isinstance(encoder, Qwen3Encoder)
    prompts = [*fifty_prompts[:5], "short", "nodes=3; edges=2"]
    assert prompts[0].startswith("Instruct: ")
    np.testing.assert_allclose(encoder.encode(prompts), _by_hand(folder, prompts), atol=1e-5)


def test_alone_and_in_a_padded_batch(encoder, folder):
    prompts = ["a" * length for length in (1, 3, 90, 17, 240)]
    together = encoder.encode(prompts)
    alone = np.concatenate([encoder.encode([prompt]) for prompt in prompts])
    np.testing.assert_allclose(together, alone, atol=1e-5)
    small = Qwen3Encoder(folder, device="cpu", tokens_per_batch=100).encode(prompts)
    np.testing.assert_allclose(small, alone, atol=1e-5)


@pytest.mark.parametrize("width", [8, 16, 32])
def test_slices_are_renormalised_prefixes(encoder, folder, width):
    prompts = ["nodes=3", "nodes=4; edges=4"]
    whole = encoder.encode(prompts)
    cut = load_encoder(str(folder), device="cpu", dimension=width)
    expected = whole[:, :width] / np.linalg.norm(whole[:, :width], axis=1, keepdims=True)
    np.testing.assert_allclose(cut.encode(prompts), expected, atol=1e-5)
    assert cut.dimension == width
    assert cut.fingerprint != encoder.fingerprint


def test_the_instruction_is_read(encoder, fifty_prompts):
    assert not np.allclose(encoder.encode([fifty_prompts[0]]), encoder.encode(fifty_prompts.queries[:1]), atol=1e-3)


def test_a_tokenizer_without_an_end_rule_gets_one(encoder, monkeypatch):
    ids = encoder._tokens("ab")
    assert ids[-1] == 256
    assert len(ids) == 3
    monkeypatch.setattr(encoder, "_tokenizer", _Bare(encoder._tokenizer))
    assert encoder._tokens("ab") == [*ids[:-1], 257]
    assert encoder._tokens("") == [257]


class _Bare:
    def __init__(self, inner):
        self._inner, self.eos_token_id, self.pad_token_id = inner, inner.eos_token_id, inner.pad_token_id

    def __call__(self, text, **options):
        return {"input_ids": self._inner(text, **options)["input_ids"][:-1]}


def test_the_fingerprint_follows_weights_and_precision(encoder, folder, tmp_path):
    import shutil

    from safetensors.torch import load_file, save_file

    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    assert load_encoder(str(copy), device="cpu").fingerprint.weights == encoder.fingerprint.weights
    tensors = load_file(copy / "model.safetensors")
    tensors["norm.weight"] = tensors["norm.weight"] * 1.5
    save_file(tensors, copy / "model.safetensors", metadata={"format": "pt"})
    assert load_encoder(str(copy), device="cpu").fingerprint.weights != encoder.fingerprint.weights
    # Not bfloat16: some virtual machines announce matrix instructions that they do not have, and torch trusts them.
    half = load_encoder(str(folder), device="cpu", dtype="float16")
    assert half.fingerprint.revision != encoder.fingerprint.revision
    assert np.einsum("ij,ij->i", half.encode(["nodes=3"]), encoder.encode(["nodes=3"])) > 0.99


def test_nan_weights_are_reported(folder, encoder, monkeypatch):
    monkeypatch.setattr(encoder, "_forward", lambda batch: np.full((len(batch), 64), np.nan))
    with pytest.raises(EncoderError, match="NaN"):
        encoder.encode(["a"])


def test_bad_settings_and_directories(folder, tmp_path):
    for settings in ({"dtype": "int8"}, {"dimension": 65}, {"dimension": -1}):
        with pytest.raises(ParameterError):
            load_encoder(str(folder), device="cpu", **settings)
    (tmp_path / "config.json").write_text('{"model_type": "qwen3"}')
    with pytest.raises(EncoderError, match="No weights"):
        load_encoder(str(tmp_path))
    (tmp_path / "model.safetensors").write_bytes(b"broken")
    with pytest.raises(GlassError):
        load_encoder(str(tmp_path))
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(EncoderError, match=r"config\.json"):
        load_encoder(str(tmp_path))


def test_a_missing_package_names_the_extra(folder, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "transformers", None)
    with pytest.raises(MissingExtraError, match=r"graphglass\[qwen\]"):
        Qwen3Encoder(folder)
