"""What a text encoder is: prompts in, unit rows out, and a fingerprint that travels with every model."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from graphglass.errors import EncoderError, ParameterError


@dataclass(frozen=True)
class Fingerprint:
    """Which encoder made an embedding. Two embeddings are comparable only if their fingerprints are equal."""

    name: str  # the name :func:`load_encoder` was called with
    revision: str  # the version of the weights or of the algorithm, as its publisher counts
    template: str  # the version of the GraphDP template the prompts follow
    weights: str  # sha256 over the weights; empty where there are none, ``remote`` where only a server knows them
    dimension: int  # length of a row

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Fingerprint:
        expected = {item.name for item in fields(cls)}
        if set(value) != expected:
            raise EncoderError(
                f"An encoder fingerprint must have the keys {sorted(expected)}, found {sorted(value)}. "
                "It was written by another version of GraphGlass."
            )
        return cls(**{**value, "dimension": int(value["dimension"])})

    @property
    def digest(self) -> str:
        """sha256 over all parts."""
        return hashlib.sha256(json.dumps(self.to_json(), sort_keys=True).encode()).hexdigest()


@runtime_checkable
class TextEncoder(Protocol):
    """A frozen map from prompts to the unit sphere, f_text of eq:textencoder."""

    @property
    def fingerprint(self) -> Fingerprint: ...

    @property
    def dimension(self) -> int: ...

    def encode(self, prompts: Sequence[str], *, progress: bool = False) -> NDArray[np.float32]:
        """Unit rows, (prompts, dimension), one per prompt and in their order."""
        ...


def checked_rows(rows: object, count: int, dimension: int, name: str) -> NDArray[np.float32]:
    """Check what an encoder returned and scale each row to length one; a wrong shape, NaN or a zero row is refused."""
    values = np.asarray(rows, dtype=np.float64)
    if values.shape != (count, dimension):
        raise EncoderError(
            f"Encoder {name!r} must return {count} rows of dimension {dimension}, found shape {values.shape}."
        )
    wrong = np.flatnonzero(~np.isfinite(values).all(axis=1))
    if len(wrong):
        raise EncoderError(
            f"Encoder {name!r} returned NaN or infinity for {len(wrong)} of {count} prompts (first: {wrong[0]}). "
            "Half-precision overflow is the usual cause: load it with dtype='float32'."
        )
    lengths = np.linalg.norm(values, axis=1, keepdims=True)
    if count and lengths.min() < 1e-12:
        raise EncoderError(f"Encoder {name!r} returned a zero row for prompt {int(lengths.argmin())}.")
    # Rows that are unit already stay as they are, to the last bit: a cached row equals a fresh one.
    lengths[np.abs(lengths - 1.0) < 1e-6] = 1.0
    return np.asarray(values / lengths, dtype=np.float32)


def load_encoder(name: str, **options: Any) -> TextEncoder:
    """Load a text encoder by name.

    Parameters
    ----------
    name : str
        ``numeric``: reads the field values, no weights. ``minilm``: the embedded language encoder.
        ``http://host:port/v1#model``: an OpenAI-compatible server. A local directory or a hub name such as
        ``Qwen/Qwen3-Embedding-0.6B``: weights that are already on this machine (``download=True`` fetches
        them).
    **options
        Settings of that encoder; see its class.

    Raises
    ------
    EncoderError
        If the encoder is unknown, or its weights are missing or damaged.
    MissingExtraError
        If a package it needs is not installed.
    """
    if not isinstance(name, str) or not name:
        raise ParameterError("load_encoder", "name", "an encoder's name", name)
    try:
        return _load(name, options)
    except TypeError as error:
        if "unexpected keyword argument" in str(error):
            raise ParameterError(
                "load_encoder", "options", f"settings that {name!r} accepts ({error})", options
            ) from error
        raise


def load_saved_encoder(fingerprint: Fingerprint, named: str | None, where: str) -> TextEncoder:
    """The encoder a saved model was made with.

    A model file names nothing that is opened: a server, directory or hub name in its `fingerprint` is used only if the
    caller `named` the same, there or in ``GRAPHGLASS_ENCODER``, which ``glass --encoder`` sets. The weights must have
    the stored digest before they are loaded. `where` is the model, for the message.
    """
    if fingerprint.name in ("numeric", "minilm"):
        return load_encoder(fingerprint.name)
    if (named or os.environ.get("GRAPHGLASS_ENCODER")) != fingerprint.name:
        raise EncoderError(
            f"{where} was made with the encoder {fingerprint.name!r}. No model file may choose which server is sent "
            "the descriptions of graphs, or which folder is loaded. If you trust this one, name it: "
            "GLASS.load(path, encoder=...), or `glass --encoder ... COMMAND`."
        )
    return load_encoder(fingerprint.name, **({} if is_endpoint(fingerprint.name) else {"weights": fingerprint.weights}))


def is_endpoint(name: str) -> bool:
    """Whether an encoder's name is the address of a server."""
    return name.strip().lower().startswith(("http://", "https://"))


def _load(name: str, options: dict[str, Any]) -> TextEncoder:
    if name == "numeric":
        from graphglass.glass.encoders.numeric import NumericEncoder

        return NumericEncoder(**options)
    if name == "minilm":
        from graphglass.glass.encoders.sentence_model import MiniLMEncoder

        return MiniLMEncoder(**options)
    if is_endpoint(name):
        from graphglass.glass.encoders.endpoint import EndpointEncoder

        return EndpointEncoder(name, **options)
    if Path(name).is_dir() or (name.count("/") == 1 and not name.startswith(("/", ".", "~"))):
        from graphglass.glass.encoders.sentence_model import SentenceEncoder
        from graphglass.glass.encoders.weights import find_weights

        where = {key: options.pop(key) for key in ("download", "revision") if key in options}
        return SentenceEncoder(find_weights(name, **where), name=name, **options)
    if "/" in name or "\\" in name:
        raise EncoderError(f"No encoder directory at {name!r}. Give a directory that holds config.json and weights.")
    raise EncoderError(
        f"Unknown encoder {name!r}. Use 'numeric', 'minilm', a hub name such as 'Qwen/Qwen3-Embedding-0.6B', "
        "a local directory, or 'http://host:port/v1#model'. `glass encoders` lists what is installed."
    )
