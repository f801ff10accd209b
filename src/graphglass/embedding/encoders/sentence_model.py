"""Any sentence-transformers model, with the pooling its publisher chose."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from graphglass.embedding.encoders.progress import tracked
from graphglass.embedding.encoders.text_encoder import Fingerprint, unit_rows
from graphglass.embedding.encoders.weights import revision_of, weights_digest
from graphglass.embedding.prompt.graphdp import TEMPLATE, query_of
from graphglass.errors import EncoderError, MissingExtraError

_PROMPTS_PER_STEP = 256


class SentenceEncoder:
    """A sentence-transformers model from a directory.

    Parameters
    ----------
    folder : path
        A directory that sentence-transformers can load; code inside it is never run.
    name : str or None
        What the fingerprint calls it.
    device : str or None
        None takes a GPU if there is one.
    batch_size : int
        Prompts per batch.
    instructed : bool
        Keep the line ``Instruct: ...`` of a prompt. For models trained on instructions.
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        name: str | None = None,
        device: str | None = None,
        batch_size: int = 32,
        instructed: bool = False,
    ) -> None:
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise MissingExtraError(f"The encoder {name or folder}", "qwen") from error
        path = Path(folder)
        try:
            self._model = SentenceTransformer(
                str(path), device=device, local_files_only=True, model_kwargs={"use_safetensors": True}
            )
        except Exception as error:
            raise EncoderError(f"{path} cannot be loaded by sentence-transformers: {str(error)[:300]}") from error
        self._batch_size, self._instructed = batch_size, instructed
        probe = self._model.encode(["dimension"], show_progress_bar=False, convert_to_numpy=True)
        revision = f"{revision_of(path)}{'/instructed' if instructed else ''}"
        width = int(np.asarray(probe).shape[1])
        self._fingerprint = Fingerprint(name or str(path), revision, TEMPLATE, weights_digest(path), width)

    @property
    def dimension(self) -> int:
        return self._fingerprint.dimension

    @property
    def fingerprint(self) -> Fingerprint:
        return self._fingerprint

    def encode(self, prompts: Sequence[str], *, progress: bool = False) -> NDArray[np.float32]:
        """Unit rows, (prompts, dimension)."""
        texts = list(prompts) if self._instructed else [query_of(prompt) for prompt in prompts]
        rows = np.empty((len(texts), self.dimension), np.float32)
        with tracked("Encoding prompts", len(texts), progress) as advance:
            for start in range(0, len(texts), _PROMPTS_PER_STEP):
                step = texts[start : start + _PROMPTS_PER_STEP]
                made = self._model.encode(
                    step, batch_size=self._batch_size, show_progress_bar=False, convert_to_numpy=True
                )
                rows[start : start + len(step)] = made
                advance(len(step))
        return unit_rows(rows, len(texts), self.dimension, self._fingerprint.name)
