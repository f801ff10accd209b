"""Qwen3-Embedding: the paper's text encoder, from weights on this machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphglass.embedding.encoders.progress import tracked
from graphglass.embedding.encoders.text_encoder import Fingerprint, unit_rows
from graphglass.embedding.encoders.weights import revision_of, weights_digest
from graphglass.embedding.prompt.graphdp import TEMPLATE
from graphglass.errors import EncoderError, MissingExtraError, ParameterError

_DTYPES = ("auto", "float32", "bfloat16", "float16")


class Qwen3Encoder:
    """The last hidden state at the end-of-sequence token, f_text(I, GraphDP(G)) of eq:textencoder.

    Prompts carry their instruction (``Instruct: ...\\nQuery: ...``). They are sorted by length, batched by
    token count and padded on the left, so the last position of every row is its end token. Rows are native
    Matryoshka embeddings: any prefix, re-normalised, is an embedding (eq:textslice).

    Parameters
    ----------
    folder : path
        A directory with config.json, tokenizer and safetensors.
    name : str or None
        What the fingerprint calls it.
    dimension : int or None
        Keep this many leading numbers of every row; None keeps all.
    device : str or None
        None takes a GPU if there is one.
    dtype : str
        ``auto`` is bfloat16 on a GPU and float32 on a CPU.
    tokens_per_batch : int or None
        None is 32,768 on a GPU and 2,048 on a CPU.
    longest : int
        Tokens kept of one prompt.
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        name: str | None = None,
        dimension: int | None = None,
        device: str | None = None,
        dtype: str = "auto",
        tokens_per_batch: int | None = None,
        longest: int = 8192,
    ) -> None:
        if dtype not in _DTYPES:
            raise ParameterError("Qwen3Encoder", "dtype", f"one of {', '.join(_DTYPES)}", dtype)
        try:
            import torch
            from transformers import AutoModel, AutoTokenizer
        except ImportError as error:
            raise MissingExtraError("Qwen3-Embedding", "qwen") from error
        path = Path(folder)
        self._device = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
        on_gpu = self._device.type == "cuda"
        self._dtype = ("bfloat16" if on_gpu else "float32") if dtype == "auto" else dtype
        try:
            self._tokenizer = AutoTokenizer.from_pretrained(str(path), local_files_only=True)
            model = AutoModel.from_pretrained(
                str(path), local_files_only=True, use_safetensors=True, dtype=getattr(torch, self._dtype)
            )
        except Exception as error:
            raise EncoderError(f"{path} cannot be loaded as a Qwen3 model: {str(error)[:300]}") from error
        self._model = model.to(self._device).eval().requires_grad_(False)
        width = int(model.config.hidden_size)
        if dimension is not None and not 1 <= dimension <= width:
            raise ParameterError("Qwen3Encoder", "dimension", f"between 1 and {width} for this model", dimension)
        self._dimension = dimension or width
        self._tokens_per_batch = tokens_per_batch or (32768 if on_gpu else 2048)
        self._longest = longest
        # Rows of another precision differ in the third digit: they are another encoder.
        revision = f"{revision_of(path)}/{self._dtype}"
        self._fingerprint = Fingerprint(name or str(path), revision, TEMPLATE, weights_digest(path), self._dimension)

    @property
    def dimension(self) -> int:
        return self._dimension

    @property
    def fingerprint(self) -> Fingerprint:
        return self._fingerprint

    def encode(self, prompts: Sequence[str], *, progress: bool = False) -> NDArray[np.float32]:
        """Unit rows, (prompts, dimension)."""
        tokens = [self._tokens(prompt) for prompt in prompts]
        rows = np.empty((len(tokens), self._dimension), np.float32)
        with tracked("Encoding prompts", len(tokens), progress) as advance:
            for batch in self._batches(tokens):
                rows[batch] = self._forward([tokens[i] for i in batch])[:, : self._dimension]
                advance(len(batch))
        return unit_rows(rows, len(tokens), self._dimension, self._fingerprint.name)

    def _tokens(self, prompt: str) -> list[int]:
        ids: list[int] = self._tokenizer(prompt, truncation=True, max_length=self._longest)["input_ids"]
        ends = (self._tokenizer.eos_token_id, self._tokenizer.pad_token_id)
        # The published tokenizer ends every text with an end token; one saved without that rule gets it here.
        if not ids or ids[-1] not in ends:
            ids = [*ids[: self._longest - 1], self._tokenizer.eos_token_id]
        return ids

    def _batches(self, tokens: Sequence[Sequence[int]]) -> Iterator[list[int]]:
        order = sorted(range(len(tokens)), key=lambda i: len(tokens[i]), reverse=True)
        start = 0
        while start < len(order):
            size = max(1, self._tokens_per_batch // len(tokens[order[start]]))
            yield order[start : start + size]
            start += size

    def _forward(self, batch: list[list[int]]) -> Any:
        import torch

        longest = max(map(len, batch))
        pad = self._tokenizer.pad_token_id or 0
        ids = torch.tensor([[pad] * (longest - len(row)) + row for row in batch], device=self._device)
        mask = torch.tensor([[0] * (longest - len(row)) + [1] * len(row) for row in batch], device=self._device)
        # Positions count from a prompt's first own token, as they do when it is encoded alone.
        positions = (mask.cumsum(1) - 1).clamp(min=0)
        with torch.inference_mode():
            hidden = self._model(
                input_ids=ids, attention_mask=mask, position_ids=positions, use_cache=False
            ).last_hidden_state
        return hidden[:, -1].float().cpu().numpy()
