"""The gate before every request: who may come in, from where, with how much; and what an answer forbids a browser."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import ip_address

from anyio import to_thread
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from riffler.web.errors import API, CODES, error_response, fault_response
from riffler.web.sessions import INVITATION_MINUTES, BadTries, BrowserSession, Sessions, same_secret
from riffler.web.settings import LOOPBACK, MAX_BODY, ServerSettings

SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
STATIC = "/static/"
UPLOADS = "/api/v1/imports"
ENVELOPE = 1 << 16
"""Bytes that a form may have around its file."""

CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
HEADERS = {
    "content-security-policy": CONTENT_POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}

HOST = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([^\[\]:/?#@\\\s]+))(?::[0-9]*)?")
"""A Host header: a name or a number, and a port; what is put together with more would be read as a path."""

LOCKED = "This review is locked. Open the address that Riffler printed in its terminal; Enter prints a new one there."
SPENT = (
    f"This address was used before, is older than {INVITATION_MINUTES} minutes, or is not one of this server. Press "
    "Enter in Riffler's terminal for a new one."
)
ELSEWHERE = "The request came from another page than Riffler's. Reload the page of Riffler, and try again."

# A redirect out of another site's page would come without the strict cookie; a page of our own that goes on has it.
GO_ON = '<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=/"><a href="/">Go on</a>'


class Refused(Exception):
    """A request that does not pass the gate."""

    def __init__(self, status: int, message: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(message)
        self.status, self.message, self.headers = status, message, headers


@dataclass(frozen=True, slots=True)
class Visitor:
    """Whose request it is; ``csrf`` is for the pages of a browser, "" for a program with a token."""

    csrf: str = ""


class Gate:
    """Middleware that lets requests through, or answers them itself.

    settings : where the server listens and by which names
    sessions : browsers that were let in
    knows_token : whether a secret is an API token
    max_upload : bytes of a file that is imported
    """

    def __init__(
        self, app: ASGIApp, settings: ServerSettings, sessions: Sessions, knows_token: Callable[[str], bool],
        max_upload: int,
    ) -> None:  # fmt: skip
        self.app = app
        self.settings = settings
        self.sessions = sessions
        self.knows_token = knows_token
        self.max_upload = max_upload
        self.bad_tries = BadTries()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request = Request(scope)
        answer = _Answer(request, send)
        try:
            response = await self._admitted(request)
            if response is None:
                limit = self.max_upload + ENVELOPE if request.scope["path"] == UPLOADS else MAX_BODY
                await self.app(scope, _bounded(request, receive, limit), answer.send)
                return
        except Refused as no:
            code = CODES[no.status]
            response = error_response(request.scope["path"], no.status, code, no.message, no.headers)
        except ClientDisconnect:
            return  # nobody is there any more to be told anything
        except Exception as error:
            if answer.started:
                raise
            response = fault_response(request.scope["path"], error)
        await response(scope, receive, answer.send)

    async def _admitted(self, request: Request) -> Response | None:
        """Return None for a request that may go on, an answer where the gate has one; else raise Refused."""
        self._check_host(request)
        is_read = request.method in SAFE_METHODS
        if is_read and request.scope["path"].startswith(STATIC):
            return None
        if request.method == "GET" and request.scope["path"] == "/" and "token" in request.query_params:
            return self._welcome(request)
        if request.scope["path"].startswith(API) and "authorization" in request.headers:
            await self._check_token(request)
            request.state.visitor = Visitor()
        else:
            session = self._session(request)
            if session is None:
                raise Refused(401, LOCKED, {"www-authenticate": "Bearer"})
            _check_same_page(request, session)
            request.state.visitor = Visitor(session.csrf)
        if not is_read:
            _check_type(request)
        return None

    def _check_host(self, request: Request) -> None:
        """Refuse names that are not ours: a page elsewhere could make its own name point to this machine."""
        header = request.headers.get("host", "")
        name = _host_name(header)
        ours = (*LOOPBACK, self.settings.host, *self.settings.allowed_hosts)
        if not name or (name not in ours and (self.settings.is_local or not _is_number(name))):
            words = f"This server does not answer to the name {name or header!r}. Use one of: {', '.join(LOOPBACK)}."
            raise Refused(403, words)

    def _welcome(self, request: Request) -> Response:
        """Let a browser in that has the address with the secret, once."""
        to_first_page = RedirectResponse("/", 303)
        is_invited = self.sessions.spend(request.query_params["token"])
        if self._session(request) is not None:  # who is in stays in, and the address is spent for everybody else
            return to_first_page
        if not is_invited:
            raise self._wrong(request, SPENT)
        is_linked = request.headers.get("sec-fetch-site") in ("cross-site", "same-site")
        response = HTMLResponse(GO_ON) if is_linked else to_first_page
        response.set_cookie(self.settings.cookie, self.sessions.begin(), httponly=True, samesite="strict", path="/")
        return response

    async def _check_token(self, request: Request) -> None:
        scheme, _, secret = request.headers["authorization"].partition(" ")
        if scheme.lower() == "bearer" and await to_thread.run_sync(self.knows_token, secret.strip()):
            return
        words = "The token is not known, or was revoked. Make one on the settings page: Authorization: Bearer TOKEN."
        raise self._wrong(request, words)

    def _wrong(self, request: Request, words: str) -> Refused:
        """Return the refusal of a wrong secret; many are slowed, and a right one is not: others may send the wrong."""
        caller = request.client.host if request.client else ""
        seconds = self.bad_tries.wait_seconds(caller)
        if seconds:
            return Refused(429, f"Too many wrong tokens. Wait {seconds} seconds.", {"retry-after": str(seconds)})
        self.bad_tries.note(caller)
        return Refused(401, words, {"www-authenticate": "Bearer"})

    def _session(self, request: Request) -> BrowserSession | None:
        cookie = request.cookies.get(self.settings.cookie)
        return None if cookie is None else self.sessions.find(cookie)


class _Answer:
    """Sends an answer with the headers that every answer has."""

    def __init__(self, request: Request, send: Send) -> None:
        self._is_static = request.scope["path"].startswith(STATIC)
        self._has_version = "v" in request.query_params
        self._send = send
        self.started = False

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.started = True
            headers = MutableHeaders(scope=message)
            headers.update(HEADERS)
            headers.setdefault("cache-control", self._keeping())
        await self._send(message)

    def _keeping(self) -> str:
        if not self._is_static:
            return "no-store"
        return "public, max-age=31536000, immutable" if self._has_version else "no-cache"


def _check_same_page(request: Request, session: BrowserSession) -> None:
    """Refuse what another page made the browser send."""
    site = request.headers.get("sec-fetch-site", "same-origin")
    if request.method in SAFE_METHODS:
        if site not in ("same-origin", "none"):
            raise Refused(403, ELSEWHERE)
        return
    host = request.headers.get("host", "")
    if site != "same-origin" or request.headers.get("origin") not in (f"http://{host}", f"https://{host}"):
        raise Refused(403, ELSEWHERE)
    if not same_secret(request.headers.get("x-csrf-token", ""), session.csrf):
        raise Refused(403, ELSEWHERE)


def _check_type(request: Request) -> None:
    """Let in what a plain form of another page could not send: JSON, and files where files are expected."""
    has_body = request.headers.get("content-length", "0") != "0" or "transfer-encoding" in request.headers
    wanted = "multipart/form-data" if request.scope["path"] == UPLOADS else "application/json"
    got = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if has_body and got != wanted:
        raise Refused(415, f"The body must be {wanted}, got {got or 'no type'!r}. Set the header Content-Type.")


def _bounded(request: Request, receive: Receive, limit: int) -> Receive:
    """Return ``receive`` that stops where a body is longer than it may be, whatever its headers say."""
    n_bytes = 0

    async def bounded() -> Message:
        nonlocal n_bytes
        message = await receive()
        n_bytes += len(message.get("body", b""))
        if n_bytes > limit:
            raise HTTPException(413, f"More than {limit >> 20:,} MB were sent. Send less, or split the file.")
        return message

    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > limit:
        raise Refused(413, f"More than {limit >> 20:,} MB were sent. Send less, or split the file.")
    return bounded


def _host_name(header: str) -> str:
    """Return the name in a Host header, without its port; "" where there is more in it than a name and a port.

    >>> _host_name("LocalHost:8765"), _host_name("[::1]:8765"), _host_name("evil_name.example"), _host_name("")
    ('localhost', '::1', 'evil_name.example', '')
    >>> _host_name("127.0.0.1:1/static/x?"), _host_name("localhost:1@evil")
    ('', '')
    """
    parts = HOST.fullmatch(header)
    return "" if parts is None else (parts[1] or parts[2]).lower().rstrip(".")


def _is_number(host: str) -> bool:
    """Whether a host is an IP address, which no name server can make point elsewhere."""
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
