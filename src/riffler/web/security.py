"""The gate before every request: who may come in, from where, with how much; and what an answer forbids a browser."""

from __future__ import annotations

import re
from contextlib import suppress
from ipaddress import ip_address
from typing import Protocol

from anyio import to_thread
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from riffler.errors import RifflerError, StorageError
from riffler.web.access import ADMIN, NOBODY, Access, Rule, may
from riffler.web.errors import API, Refused, fault_response, riffler_response
from riffler.web.sessions import same_secret
from riffler.web.settings import MAX_BODY
from riffler.web.visitor import Door, Visitor

SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
STATIC = "/static/"
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

ELSEWHERE = "The request came from another page than Riffler's. Reload the page of Riffler, and try again."
NO_REVIEW = "There is no such review."
ASK_A_PERSON = "A key makes no other keys and lets nobody in. Do it with a browser, on the pages Settings and Team."
NOTHING_HERE = "There is nothing at this address. Go to the first page, and look from there."


class Listening(Protocol):
    """What a gate knows of its server: the names that it answers to, and whether only this machine can reach it."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names that are its own."""

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach it."""


class Gate:
    """Middleware that lets requests through, or answers them itself.

    settings : by which names the server may be called
    access : who may do what
    door : how it is known who comes
    max_upload : bytes of a file that is imported
    """

    def __init__(self, app: ASGIApp, settings: Listening, access: Access, door: Door, max_upload: int) -> None:
        self.app = app
        self.settings, self.access, self.door = settings, access, door
        self.max_upload = max_upload

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
                await self.app(scope, _bounded(request, receive, request.state.max_body), answer.send)
        except Refused as no:
            response = no.response(scope["path"])
        except RifflerError as error:
            response = riffler_response(scope["path"], error)
        except ClientDisconnect:
            return  # nobody is there any more to be told anything
        except Exception as error:
            if answer.started:
                raise
            response = fault_response(scope["path"], error)
        if response is not None:
            await response(scope, receive, answer.send)
        await _afterwards(getattr(request.state, "visitor", None))

    async def _admitted(self, request: Request) -> Response | None:
        """Return None for a request that may go on, an answer where the gate has one; else raise Refused."""
        self._check_host(request)
        request.state.max_body = MAX_BODY
        path, is_read = request.scope["path"], request.method in SAFE_METHODS
        if is_read and path.startswith(STATIC):
            return None
        if (answer := self.door.welcome(request)) is not None:
            return answer
        rules, identity = self.access.of_path(path), self.access.review_in(path)
        rule = rules.get(request.method)
        is_open = rule is not None and rule.least == NOBODY
        visitor = await self._visitor(request, identity)
        if visitor is None and not is_open:
            return self.door.locked(request)
        if visitor is None or not visitor.is_program:
            self._check_same_page(request, None if visitor is None or is_open else visitor.csrf)
        _check_allowed(visitor, rules, rule, identity)
        assert rule is not None
        request.state.visitor = Visitor() if visitor is None else visitor
        if rule.is_upload:
            request.state.max_body = self.max_upload + ENVELOPE
        if not is_read:
            _check_type(request, "multipart/form-data" if rule.is_upload else "application/json")
        return None

    async def _visitor(self, request: Request, identity: str) -> Visitor | None:
        if request.scope["path"].startswith(API) and "authorization" in request.headers:
            return await self.door.program(request, identity)
        return await self.door.browser(request, identity)

    def _check_host(self, request: Request) -> None:
        """Refuse names that are not ours: a page elsewhere could make its own name point to this machine."""
        header = request.headers.get("host", "")
        name = _host_name(header)
        if not name or (name not in self.settings.names and (self.settings.is_local or not _is_number(name))):
            ours = ", ".join(self.settings.names)
            raise Refused(403, f"This server does not answer to the name {name or header!r}. Use one of: {ours}.")

    def _check_same_page(self, request: Request, csrf: str | None) -> None:
        """Refuse what another page made the browser send; ``csrf`` is what a change must bring, if anything."""
        site = request.headers.get("sec-fetch-site", "same-origin")
        if request.method in SAFE_METHODS:
            if site not in ("same-origin", "none") and not (self.door.may_be_linked and _is_link(request)):
                raise Refused(403, ELSEWHERE)
            return
        host = request.headers.get("host", "")
        if site != "same-origin" or request.headers.get("origin") not in (f"http://{host}", f"https://{host}"):
            raise Refused(403, ELSEWHERE)
        if csrf is not None and not same_secret(request.headers.get("x-csrf-token", ""), csrf):
            raise Refused(403, ELSEWHERE)


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


async def _afterwards(visitor: Visitor | None) -> None:
    """Do what was put off until the request is answered: it may have to wait for the database."""
    if visitor is not None and visitor.afterwards is not None:
        with suppress(StorageError):  # it is due again with the next request
            await to_thread.run_sync(visitor.afterwards)


def _check_allowed(visitor: Visitor | None, rules: dict[str, Rule], rule: Rule | None, identity: str) -> None:
    """Refuse what is not in the table of who may do what, or needs more than somebody is."""
    if identity and (visitor is None or visitor.role is None):
        raise Refused(404, NO_REVIEW)  # as if it did not exist
    if rule is None and rules:
        raise Refused(405, "This address is asked for in another way.", {"allow": ", ".join(sorted(rules))})
    if rule is None:
        raise Refused(404, NOTHING_HERE)
    if not may(visitor, rule.least):
        raise Refused(403, _too_little(visitor, rule.least), code="not_allowed")
    if visitor is not None and visitor.is_program and not rule.is_for_programs:
        raise Refused(403, ASK_A_PERSON, code="not_allowed")


def _too_little(visitor: Visitor | None, least: str) -> str:
    if visitor is not None and visitor.is_program and not visitor.identity:
        return "A key opens the review that it was made for, and nothing else of the server. Log in with a browser."
    if least == ADMIN:
        return "Only an admin of this server may do that. Ask one."
    role = None if visitor is None else visitor.role
    return f"This needs the role {least!r} in the review, and yours is {role!r}. Ask an owner of the review."


def _is_link(request: Request) -> bool:
    """Whether somebody followed a link to a page, which changes nothing."""
    is_page = request.method == "GET" and not request.scope["path"].startswith(API)
    return is_page and request.headers.get("sec-fetch-mode") == "navigate"


def _check_type(request: Request, wanted: str) -> None:
    """Let in what a plain form of another page could not send: JSON, and files where files are expected."""
    has_body = request.headers.get("content-length", "0") != "0" or "transfer-encoding" in request.headers
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
