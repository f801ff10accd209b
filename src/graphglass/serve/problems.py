"""Errors as RFC 9457 problem documents, without stack traces."""

from __future__ import annotations

from http import HTTPStatus

from starlette.responses import JSONResponse


class ProblemResponse(JSONResponse):
    """A JSON response with the media type of problem documents."""

    media_type = "application/problem+json"


def problem_response(status: int, detail: str, headers: dict[str, str] | None = None) -> ProblemResponse:
    """One problem: what went wrong, and what to do about it."""
    title = HTTPStatus(status).phrase
    body = {"type": "about:blank", "title": title, "status": status, "detail": detail}
    return ProblemResponse(body, status_code=status, headers=headers)
