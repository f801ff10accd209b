"""An encoder behind HTTP: any server that speaks OpenAI's ``/v1/embeddings``."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

import numpy as np
from numpy.typing import NDArray

from graphglass.errors import EncoderError, ParameterError
from graphglass.files.progress import progress_bar
from graphglass.glass.encoders.text_encoder import Fingerprint, checked_rows
from graphglass.glass.prompt.graphdp import TEMPLATE

_RETRIED = frozenset({408, 425, 429, 500, 502, 503, 504})
_LARGEST_REPLY = 256 * 2**20
_LONGEST_WAIT = 30.0


class _NoRedirect(HTTPRedirectHandler):
    """A redirect would carry the key to a host nobody named."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


class EndpointEncoder:
    """Embeddings from vLLM, Text Embeddings Inference, Ollama, llama.cpp or a hosted service.

    Parameters
    ----------
    address : str
        ``http://host:port/v1#model``: the part before ``#`` is the API's base, the part after it the model's name.
    dimension : int or None
        Length of a row; None asks the server once.
    batch_size : int
        Prompts per request.
    timeout : float
        Seconds one request may take.
    retries : int
        Further attempts after a refused connection, a timeout, or status 408, 425, 429 or 5xx.
    backoff : float
        Seconds before the first retry; doubles each time, and gives way to the server's ``Retry-After``.
    key_variable : str
        The environment variable that holds the key. The key is sent, as a bearer token, only to the host that the
        variable with ``_HOST`` appended names: ``GRAPHGLASS_API_KEY_HOST=api.example.org``.
    """

    def __init__(
        self,
        address: str,
        *,
        dimension: int | None = None,
        batch_size: int = 64,
        timeout: float = 60.0,
        retries: int = 4,
        backoff: float = 0.5,
        key_variable: str = "GRAPHGLASS_API_KEY",
    ) -> None:
        base, _, self._model = address.partition("#")
        parts = urlsplit(base)
        if parts.scheme not in ("http", "https") or not parts.hostname or not self._model or parts.username:
            raise ParameterError(
                "EndpointEncoder", "address", "http(s)://host:port/v1#model, without a password", address
            )
        for name, value, least in (("batch_size", batch_size, 1), ("retries", retries, 0), ("timeout", timeout, 1e-3)):
            if value < least:
                raise ParameterError("EndpointEncoder", name, f"at least {least}", value)
        self._address, self._url = address, base.rstrip("/") + "/embeddings"
        self._batch_size, self._timeout, self._retries, self._backoff = batch_size, timeout, retries, backoff
        self._key_variable = key_variable
        self._opener = build_opener(_NoRedirect)
        self._dimension = dimension or len(self._request(["dimension"])[0])

    @property
    def dimension(self) -> int:
        return self._dimension

    @property
    def fingerprint(self) -> Fingerprint:
        return Fingerprint(self._address, self._model, TEMPLATE, "remote", self._dimension)

    def encode(self, prompts: Sequence[str], *, progress: bool = False) -> NDArray[np.float32]:
        """Unit rows, (prompts, dimension)."""
        texts = list(prompts)
        rows = np.empty((len(texts), self._dimension), np.float32)
        with progress_bar("Encoding prompts", len(texts), show=progress) as advance:
            for start in range(0, len(texts), self._batch_size):
                batch = texts[start : start + self._batch_size]
                made = self._request(batch)
                # Rows of several lengths are no table; checked_rows says which shape was expected.
                table = np.stack(made) if len({len(vector) for vector in made}) == 1 else np.empty((0, 0))
                rows[start : start + len(batch)] = checked_rows(table, len(batch), self._dimension, self._address)
                advance(len(batch))
        return rows

    def _request(self, texts: list[str]) -> list[NDArray[np.float64]]:
        body = json.dumps({"model": self._model, "input": texts, "encoding_format": "float"}).encode()
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if key := self._key():
            headers["Authorization"] = f"Bearer {key}"
        wait = self._backoff
        for attempt in range(self._retries + 1):
            asked: float | None = None
            try:
                request = Request(self._url, body, headers)  # noqa: S310  the scheme was checked
                with self._opener.open(request, timeout=self._timeout) as reply:
                    return self._vectors(reply.read(_LARGEST_REPLY + 1), len(texts))
            except HTTPError as error:
                reason = f"status {error.code}: {error.read(300).decode(errors='replace').strip()}"
                asked = _seconds(error.headers.get("Retry-After"))
                if error.code not in _RETRIED:
                    raise EncoderError(
                        f"The endpoint {self._url} refused model {self._model!r} with {reason}. Check the model's name "
                        f"and the key in {self._key_variable}."
                    ) from error
            except (URLError, HTTPException, OSError) as error:
                reason = str(getattr(error, "reason", error)) or type(error).__name__
            if attempt < self._retries:
                time.sleep(min(_LONGEST_WAIT, wait if asked is None else asked))
                wait *= 2
        raise EncoderError(
            f"The endpoint {self._url} did not answer after {self._retries + 1} attempts (last: {reason}). "
            "Check that the server runs and that the address ends in /v1#model."
        )

    def _key(self) -> str | None:
        """The key, if it was configured for this host."""
        key, host = os.environ.get(self._key_variable), os.environ.get(f"{self._key_variable}_HOST")
        parts = urlsplit(self._url)
        if key and not host:
            raise EncoderError(
                f"{self._key_variable} is set, but not the host it is for. To send it to this endpoint, set "
                f"{self._key_variable}_HOST={parts.netloc}; otherwise unset the key."
            )
        return key if host in (parts.netloc, parts.hostname) else None

    def _vectors(self, content: bytes, count: int) -> list[NDArray[np.float64]]:
        try:
            if len(content) > _LARGEST_REPLY:
                raise ValueError(f"more than {_LARGEST_REPLY} bytes")
            items = json.loads(content)["data"]
            placed = {int(item.get("index", i)): item["embedding"] for i, item in enumerate(items)}
            if sorted(placed) != list(range(count)) or len(items) != count:
                raise ValueError(f"{len(items)} embeddings for {count} prompts")
            return [np.array(placed[i], np.float64).reshape(-1) for i in range(count)]
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise EncoderError(
                f"The endpoint {self._url} must answer with one embedding per prompt, "
                f"found {type(error).__name__}: {error}."
            ) from error


def _seconds(value: str | None) -> float | None:
    return float(value) if value is not None and value.strip().isdigit() else None
