"""The door of one reader's page: an address that is printed lets a browser in; programs bring a key of the review."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from threading import Lock

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from riffler.review.store import Review
from riffler.review.tokens import Token
from riffler.web.access import OWNER
from riffler.web.errors import Refused
from riffler.web.sessions import INVITATION_MINUTES, BadTries, BrowserSession, Sessions
from riffler.web.settings import ServerSettings
from riffler.web.visitor import Visitor

LOCKED = "This review is locked. Open the address that Riffler printed in its terminal; Enter prints a new one there."
SPENT = (
    f"This address was used before, is older than {INVITATION_MINUTES} minutes, or is not one of this server. Press "
    "Enter in Riffler's terminal for a new one."
)
WRONG_KEY = "The token is not known, or was revoked. Make one on the settings page: Authorization: Bearer TOKEN."
ASK_FOR_KEY = {"www-authenticate": "Bearer"}

# A redirect out of another site's page would come without the strict cookie; a page of our own that goes on has it.
GO_ON = '<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=/"><a href="/">Go on</a>'


class SoloDoor:
    """Knows the browsers that were let in, in memory; whoever comes in owns the review.

    review : what its keys open, once the server runs
    """

    may_be_linked = False

    def __init__(self, settings: ServerSettings, sessions: Sessions, review: Callable[[], Review]) -> None:
        self.settings, self.sessions, self.review = settings, sessions, review
        self.bad_tries = BadTries()
        self._noting = Lock()

    def welcome(self, request: Request) -> Response | None:
        """Let a browser in that has the address with the secret, once."""
        is_first_page = request.method == "GET" and request.scope["path"] == "/"
        if not is_first_page or "token" not in request.query_params:
            return None
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

    async def browser(self, request: Request, identity: str) -> Visitor | None:
        """Return the visitor of a browser that was let in."""
        session = self._session(request)
        return None if session is None else Visitor(session.csrf, role=OWNER)

    async def program(self, request: Request, identity: str) -> Visitor:
        """Return the visitor of a program with a token."""
        review = self.review()
        token = await to_thread.run_sync(review.check_token, bearer_of(request))
        if token is None:
            raise self._wrong(request, WRONG_KEY)
        note = None if token.is_noted else partial(self._note, review, token)
        return Visitor(role=OWNER, is_program=True, afterwards=note)

    def locked(self, request: Request) -> Response:
        """Say how to come in."""
        raise Refused(401, LOCKED, ASK_FOR_KEY)

    def _wrong(self, request: Request, words: str) -> Refused:
        """Return the refusal of a wrong secret; many are slowed, and a right one is not: others may send the wrong."""
        caller = caller_of(request)
        seconds = self.bad_tries.wait_seconds(caller)
        if seconds:
            return too_many(seconds)
        self.bad_tries.note(caller)
        return Refused(401, words, ASK_FOR_KEY)

    def _note(self, review: Review, token: Token) -> None:
        """Write down that a key is used, unless that is being done: one thread at most waits for the database."""
        if self._noting.acquire(blocking=False):
            try:
                review.note_use(token)
            finally:
                self._noting.release()

    def _session(self, request: Request) -> BrowserSession | None:
        cookie = request.cookies.get(self.settings.cookie)
        return None if cookie is None else self.sessions.find(cookie)


def bearer_of(request: Request) -> str:
    """Return the secret that a program sends; "" where it says who it is in another way."""
    scheme, _, secret = request.headers["authorization"].partition(" ")
    return secret.strip() if scheme.lower() == "bearer" else ""


def caller_of(request: Request) -> str:
    """Return the address that a request comes from."""
    return request.client.host if request.client else ""


def too_many(seconds: int) -> Refused:
    """Return the refusal of a secret after too many wrong ones."""
    return Refused(429, f"Too many wrong tokens. Wait {seconds} seconds.", {"retry-after": str(seconds)})
