"""Errors as RFC 9457 problem documents, without stack traces."""

from __future__ import annotations

from http import HTTPStatus

from starlette.responses import JSONResponse


def problem_response(status: int, detail: str, headers: dict[str, str] | None = None) -> JSONResponse:
    """One problem: what went wrong, and what to do about it."""
    body = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": detail}
    return JSONResponse(body, status, headers, media_type="application/problem+json")
