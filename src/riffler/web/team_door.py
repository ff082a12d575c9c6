"""The door of a team's server: cookies and keys belong to accounts, which the database knows; servers keep nothing."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import quote

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from riffler.team.people import People
from riffler.team.visits import LONGEST_VISIT
from riffler.web.errors import API, Refused
from riffler.web.solo_door import ASK_FOR_KEY, WRONG_KEY, bearer_of, caller_of, too_many
from riffler.web.visitor import Visitor

LOCKED = "You are not logged in, or no longer. Log in, then try again."


class TeamDoor:
    """Knows accounts by their cookies and keys; each is looked up once a request.

    people : of the server, once it runs
    """

    may_be_linked = True

    def __init__(self, people: Callable[[], People]) -> None:
        self._people = people

    def welcome(self, request: Request) -> Response | None:
        """Nothing: logging in is a request as any other."""
        return None

    async def browser(self, request: Request, identity: str) -> Visitor | None:
        """Return who is logged in with a browser."""
        cookie = self.cookie_of(request)
        entry = None if cookie is None else await to_thread.run_sync(self._people().visitor_in, cookie, identity)
        if entry is None:
            return None
        return Visitor(entry.visit.csrf, entry.visit.account, identity, entry.review_id, entry.role)

    async def program(self, request: Request, identity: str) -> Visitor:
        """Return whose program it is; its key opens one review, whatever others its owner takes part in."""
        entry = await to_thread.run_sync(self._people().token_visitor, bearer_of(request))
        if entry is None:
            raise await to_thread.run_sync(self._wrong, request)
        if entry.identity != identity:
            return Visitor(account=entry.account, identity=identity, is_program=True)
        return Visitor("", entry.account, identity, entry.review_id, entry.role, is_program=True)

    def locked(self, request: Request) -> Response:
        """Send a browser that wants a page to the log-in, and back to the page then."""
        path = request.scope["path"]
        if request.method != "GET" or path.startswith(API):
            raise Refused(401, LOCKED, ASK_FOR_KEY)
        query = request.scope["query_string"].decode("latin-1")
        to = quote(path) + (f"?{query}" if query else "")
        return RedirectResponse("/login" if to == "/" else f"/login?to={quote(to, safe='/')}", 303)

    def cookie_of(self, request: Request) -> str | None:
        """Return the secret of a browser's cookie, if it has one."""
        return request.cookies.get(cookie_name(request))

    def give_cookie(self, request: Request, response: Response, secret: str) -> None:
        """Let a browser keep the secret of its visit: over https alone, where it came that way."""
        response.set_cookie(
            cookie_name(request),
            secret,
            max_age=int(LONGEST_VISIT),
            path="/",
            secure=is_encrypted(request),
            httponly=True,
            samesite="lax",
        )

    def take_cookie(self, request: Request, response: Response) -> None:
        """Let a browser forget it."""
        response.delete_cookie(
            cookie_name(request), path="/", secure=is_encrypted(request), httponly=True, samesite="lax"
        )

    def _wrong(self, request: Request) -> Refused:
        seconds = self._people().note_wrong_secret(caller_of(request))
        return too_many(seconds) if seconds else Refused(401, WRONG_KEY, ASK_FOR_KEY)


def cookie_name(request: Request) -> str:
    """Return the name of the cookie: over https no other host can set one that begins with __Host-.

    Else it has the port, as the browser sees it: cookies do not tell ports apart, and servers behind a proxy share one.
    """
    if is_encrypted(request):
        return "__Host-riffler"
    port = request.headers.get("host", "").rpartition(":")[2]
    return f"riffler-team-{port if port.isdecimal() else 80}"


def is_encrypted(request: Request) -> bool:
    """Tell whether a request came over https; behind a proxy that is trusted, to that."""
    return bool(request.scope["scheme"] == "https")


def local_path(to: str) -> str:
    r"""Return where to go after a log-in: a path of this server, and "/" for everything else.

    >>> local_path("/reviews/7f3a/history?n=2"), local_path("//evil.example"), local_path("/\\evil.example")
    ('/reviews/7f3a/history?n=2', '/', '/')
    >>> local_path("https://evil.example"), local_path("/\t/evil.example"), local_path("/login?to=/login")
    ('/', '/', '/')
    >>> local_path("/.//evil.example"), local_path("/..//evil.example"), local_path("/%2e%2e//evil.example")
    ('/', '/', '/')
    """
    path = to.partition("?")[0]
    is_path = path.startswith("/") and "//" not in path and not path.startswith("/login")
    has_dots = any(part in (".", "..") for part in path.split("/"))  # a browser takes them out, and // may be left
    return to if is_path and not has_dots and "\\" not in to and to.isascii() and to.isprintable() else "/"
