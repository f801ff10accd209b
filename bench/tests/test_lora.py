"""Adapters in a tiny sentence encoder: only they change, and they move anchors to the graph codes."""

from __future__ import annotations

import string
from importlib.util import find_spec

import numpy as np
import pytest

from glassbench.lora import LoraSettings, _adapted, _tune, tuned_scores
from graphglass.errors import BenchError
from graphglass.graphs.datasets import load_dataset

pytestmark = [
    pytest.mark.skipif(find_spec("peft") is None, reason="needs peft"),
    pytest.mark.skipif(find_spec("sentence_transformers") is None, reason="needs sentence_transformers"),
    pytest.mark.filterwarnings("ignore"),
]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A sentence encoder of random weights over single characters."""
    import torch
    from sentence_transformers import SentenceTransformer, models
    from transformers import BertConfig, BertModel, BertTokenizerFast

    torch.manual_seed(0)
    raw = tmp_path_factory.mktemp("raw")
    pieces = list(string.ascii_lowercase + string.digits + "=;.,_/")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *pieces, *(f"##{piece}" for piece in pieces)]
    (raw / "vocab.txt").write_text("\n".join(words))
    BertTokenizerFast(vocab_file=str(raw / "vocab.txt")).save_pretrained(raw)
    shape = {"hidden_size": 64, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 64}
    BertModel(BertConfig(vocab_size=len(words), max_position_embeddings=512, **shape)).save_pretrained(raw)
    word = models.Transformer(str(raw), max_seq_length=256)
    folder = tmp_path_factory.mktemp("tiny") / "encoder"
    SentenceTransformer(modules=[word, models.Pooling(64, "mean")], device="cpu").save(str(folder))
    return str(folder)


def test_only_adapters_learn(tiny: str) -> None:
    settings = LoraSettings(epochs=8, learning_rate=3e-2, batch_size=4)
    model = _adapted(tiny, settings, 0)
    texts = [f"nodes={i}; edges={2 * i}" for i in range(16)]
    target = np.zeros((16, 64), np.float32)
    target[:, 3] = 1.0
    frozen = {name: weight.detach().clone() for name, weight in model.named_parameters() if "lora" not in name}
    before = model.encode(texts, show_progress_bar=False)
    _tune(model, texts, {64: target}, settings, 0)
    after = model.encode(texts, show_progress_bar=False)
    for name, weight in model.named_parameters():
        if "lora" not in name:
            assert (weight == frozen[name]).all()

    def closeness(rows: np.ndarray) -> float:
        return float((rows / np.linalg.norm(rows, axis=1, keepdims=True))[:, 3].mean())

    assert closeness(after) > closeness(before) + 0.3


def test_tuned_scores(tiny: str) -> None:
    from graphglass import GLASS

    graphs = load_dataset("MUTAG")[:30].without_labels()
    detector = GLASS(encoder=tiny, epochs=1, random_state=0).fit(graphs[:16])
    settings = LoraSettings(epochs=1, learning_rate=1e-2)
    scores = tuned_scores(detector, graphs[:16], graphs[16:30], tiny, settings, 0)
    again = tuned_scores(detector, graphs[:16], graphs[16:30], tiny, settings, 0)
    assert np.isfinite(scores).all()
    np.testing.assert_allclose(scores, again, atol=1e-6)
    assert not np.allclose(scores, detector.decision_function(graphs[16:30]))


def test_the_installed_encoder_goes_by_its_name() -> None:
    model = _adapted("minilm", LoraSettings(), 0)
    adapted = {name.partition(".lora_")[0] for name, _ in model.named_parameters() if ".lora_" in name}
    assert len(adapted) == 6 * 4  # query, key, value and output of six attention layers
    assert all(".attention." in name for name in adapted)


def test_an_encoder_without_layers_is_refused() -> None:
    with pytest.raises(BenchError, match="sentence-transformers loads"):
        _adapted("numeric", LoraSettings(), 0)
