"""Who may ask: a bearer token, compared in constant time, and addresses that need one."""

from __future__ import annotations

import hmac
import ipaddress
from pathlib import Path

from graphglass.errors import ServeError

LOOPBACK_NAMES = frozenset(("127.0.0.1", "localhost", "::1"))
_SHORTEST = 16


def read_token(path: Path) -> str:
    """The token in a file, without surrounding white space."""
    try:
        token = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ServeError(f"The token file {path} cannot be read: {error}.") from error
    if len(token) < _SHORTEST or any(character.isspace() for character in token):
        raise ServeError(f"The token in {path} needs at least {_SHORTEST} characters and no white space.")
    return token


def check_address(host: str, token: str | None) -> None:
    """Refuse an address others can reach when no token protects it."""
    try:
        private = ipaddress.ip_address(host).is_loopback
    except ValueError:
        private = host == "localhost"
    if not private and token is None:
        raise ServeError(
            f"{host} can be reached from other machines. Give --token-file, or serve on 127.0.0.1 behind a proxy."
        )


def host_of(header: str) -> str:
    """The name in a Host header, without port and brackets."""
    if header.startswith("["):
        return header[1:].partition("]")[0]
    return header.partition(":")[0].lower()


def allowed(header: str | None, token: str) -> bool:
    """Whether an Authorization header carries the token."""
    expected = f"Bearer {token}".encode()
    return header is not None and hmac.compare_digest(header.encode(), expected)
