"""Errors as a client sees them: a status, a short code and words; never a trace of our source."""

from __future__ import annotations

import errno
import html
import json
import logging
import traceback
from collections.abc import Mapping
from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, Response

from riffler.errors import (
    AnswerConflict,
    ConnectionLost,
    DiskFull,
    LogInRefused,
    NotAllowed,
    ReviewFileError,
    ReviewFrozen,
    RifflerError,
    StorageError,
    TooManyTries,
    UnknownName,
)

log = logging.getLogger("riffler.web")

API = "/api/"
STATUS: tuple[tuple[type[Exception], int, str], ...] = (
    (AnswerConflict, 409, "conflict"),
    (ReviewFrozen, 409, "frozen"),
    (NotAllowed, 403, "not_allowed"),
    (LogInRefused, 401, "refused"),
    (TooManyTries, 429, "too_many_tries"),
    (UnknownName, 404, "not_found"),
    (ReviewFileError, 409, "review_file"),
    (DiskFull, 507, "disk_full"),
    (StorageError, 503, "storage"),
    (RifflerError, 400, "bad_input"),
)
"""What each kind of error is in HTTP; the first that fits."""

CODES = {
    400: "bad_input",
    401: "not_let_in",
    403: "forbidden",
    404: "not_found",
    405: "not_allowed",
    413: "too_large",
    415: "wrong_type",
    429: "too_many_tries",
}
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
AWAY = (
    "The database does not answer. Try again when it is back: what was confirmed is kept, and what is sent again with "
    "the same key is recorded once."
)
A_FAULT = "Something went wrong in Riffler; nothing was lost. Its terminal says where. Reload the page, or try again."


class Refused(Exception):
    """A request that does not pass the gate."""

    def __init__(
        self, status: int, message: str, headers: Mapping[str, str] | None = None, code: str | None = None
    ) -> None:
        super().__init__(message)
        self.status, self.message, self.headers = status, message, headers
        self.code = CODES[status] if code is None else code

    def response(self, path: str) -> Response:
        """Return the answer to it."""
        return error_response(path, self.status, self.code, self.message, self.headers)


def error_response(
    path: str, status: int, code: str, message: str, headers: Mapping[str, str] | None = None, **more: object
) -> Response:
    """Return an error: JSON below /api/, a small page elsewhere."""
    if not path.startswith(API):
        return HTMLResponse(_page(status, message), status, headers)
    # ASCII only: a message may quote half a character, which no other encoding can hold
    body = json.dumps({"error": {"code": code, "message": message, **more}})
    return Response(body, status, headers, media_type="application/json")


def answer_errors(app: FastAPI) -> None:
    """Make an app answer every error in this form."""
    app.add_exception_handler(RifflerError, _of_riffler)
    app.add_exception_handler(RequestValidationError, _of_validation)
    app.add_exception_handler(HTTPException, _of_http)
    app.add_exception_handler(OSError, _of_system)


def fault_response(path: str, error: Exception) -> Response:
    """Return the answer to a fault of ours; the log says where it arose, and not what anybody wrote."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    log.error("a fault of Riffler: %s in %s, line %s", type(error).__name__, place.name, place.lineno)
    log.debug("its trace", exc_info=error)
    return error_response(path, 500, "fault", A_FAULT)


def riffler_response(path: str, error: RifflerError) -> Response:
    """Return the answer to an error of Riffler's own."""
    status, code = next((status, code) for kind, status, code in STATUS if isinstance(error, kind))
    if isinstance(error, ConnectionLost):  # what it says is for who looks after the server: it names hosts and users
        log.error("%s", error)
        return error_response(path, status, code, AWAY)
    wait = {"retry-after": str(error.seconds)} if isinstance(error, TooManyTries) else None
    return error_response(path, status, code, str(error), wait)


async def _of_riffler(request: Request, error: Exception) -> Response:
    assert isinstance(error, RifflerError)
    return riffler_response(request.scope["path"], error)


async def _of_validation(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    found = [f"{'.'.join(str(part) for part in one['loc'])}: {one['msg']}" for one in error.errors()[:5]]
    return error_response(request.scope["path"], 422, "invalid", f"The request is not as expected. {'; '.join(found)}.")


async def _of_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    code = CODES.get(error.status_code, "error")
    return error_response(request.scope["path"], error.status_code, code, str(error.detail), error.headers)


async def _of_system(request: Request, error: Exception) -> Response:
    assert isinstance(error, OSError)
    if error.errno in FULL:
        words = "The disk is full. Free some space, then try again; nothing was half-written."
        return error_response(request.scope["path"], 507, "disk_full", words)
    return fault_response(request.scope["path"], error)


def _page(status: int, message: str) -> str:
    title = html.escape(HTTPStatus(status).phrase)
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title} - Riffler</title>'
        '<meta name="viewport" content="width=device-width"><link rel="stylesheet" href="/static/style.css"></head>'
        f'<body><main class="notice"><h1>{title}</h1><p>{html.escape(message)}</p>'
        '<p><a href="/">To the first page</a></p></main></body></html>'
    )
