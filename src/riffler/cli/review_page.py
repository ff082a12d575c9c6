"""The page of a review while it runs: its address, a new one for each Enter, and the end."""

from __future__ import annotations

import html
import json
import sys
import threading
import time
import urllib.error
import urllib.request
import webbrowser
from collections.abc import Callable, Sequence
from pathlib import Path

from riffler.cli import output
from riffler.errors import InputError, RifflerError

FIRST_DOCUMENT_SECONDS = 600.0
GO_TO = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="referrer" content="no-referrer">'
    '<meta http-equiv="refresh" content="0;url={0}"><title>Riffler</title><a href="{0}">Go on to the review</a></html>'
)


class Page:
    """The server of a review file, with what it prints.

    file : of the review
    host, port : where it listens; a port that is taken gives way to the next free one
    allowed_hosts : further names by which it may be called
    told : options of the learner
    """

    def __init__(
        self, file: Path, host: str, port: int, allowed_hosts: tuple[str, ...], told: Sequence[str] = ()
    ) -> None:
        from riffler.review.supervisor import LearnerKeeper
        from riffler.web.app import make_app
        from riffler.web.serving import Server, free_socket
        from riffler.web.settings import ServerSettings

        self.console = output.console()
        self.listening = free_socket(host, port)
        got: int = self.listening.getsockname()[1]
        if port not in (0, got):
            self.say(f"Port {port} is taken by another program; this review uses {got}.")
        self.settings = ServerSettings(file, host, got, LearnerKeeper(file, *told), allowed_hosts)
        self.app = make_app(self.settings)
        self.server = Server(self.app, self._ready)
        self._when_ready: Callable[[], None] = lambda: self._print_address(self.address())

    def say(self, words: str) -> None:
        """Print a line, whole."""
        self.console.print(words, soft_wrap=True, markup=False)

    def address(self) -> str:
        """Return an address that lets one browser in."""
        return self.settings.address(self.app.state.sessions.invite())

    def show(self) -> None:
        """Serve until Ctrl-C; Enter prints a new address."""
        self._warn_if_open()
        if sys.stdin is not None and sys.stdin.isatty():
            threading.Thread(target=self._answer_enter, daemon=True).start()
        self.server.serve_on(self.listening)
        self.say(f"The review is closed. Everything is in {self.settings.review}.")

    def show_in_browser(self) -> None:
        """The same, and open the browser at the address that is printed."""

        def open_too() -> None:
            address = self.address()
            self._print_address(address)
            threading.Thread(target=self._open, args=[address], daemon=True).start()

        self._when_ready = open_too
        self.show()

    def show_once(self) -> None:
        """Serve until the first document was fetched as a browser would, print its title, and end."""
        found: list[str | RifflerError] = []

        def fetch() -> None:
            try:
                found.append(self._first_title())
            except RifflerError as error:
                found.append(error)
            finally:
                self.server.should_exit = True

        self._when_ready = threading.Thread(target=fetch, daemon=True).start
        self.server.serve_on(self.listening)
        if not found or isinstance(found[0], RifflerError):
            raise found[0] if found and isinstance(found[0], RifflerError) else InputError("The page did not answer.")
        self.say(f"The first document to read: {found[0]}")

    def _ready(self) -> None:
        self._when_ready()

    def _print_address(self, address: str) -> None:
        from riffler.web.sessions import INVITATION_MINUTES

        self.say(f"\nThe page: {address}\n")
        enter = "Enter prints a new one, " if sys.stdin is not None and sys.stdin.isatty() else ""
        within = f"within {INVITATION_MINUTES} minutes"
        self.say(f"The address works once, {within}. {enter}Ctrl-C ends the review; nothing is lost.")

    def _open(self, address: str) -> None:
        """Open the browser by a private page that goes on to the address: everybody can read command lines."""
        page: Path = self.app.state.house.folder.new_path(".html")
        page.touch(0o600, exist_ok=False)
        page.write_text(GO_TO.format(html.escape(address)), encoding="utf-8")
        webbrowser.open(page.as_uri())

    def _answer_enter(self) -> None:
        for _ in sys.stdin:
            self.say(f"The page: {self.address()}")

    def _warn_if_open(self) -> None:
        if not self.settings.is_local:
            self.console.print(
                f"WARNING: everybody who reaches {self.settings.host} over the network can reach this page, and what "
                "is sent is not encrypted. Who has the address that is printed here, or a token, reads and changes "
                "the review. Use it in a network that you trust, or through an SSH tunnel without --host.",
                style="bold red",
            )

    def _first_title(self) -> str:
        """Fetch the first document over HTTP; it may take a moment until the learner has chosen one."""
        cookies = urllib.request.HTTPCookieProcessor()
        opener = urllib.request.build_opener(cookies, urllib.request.ProxyHandler({}))
        address = self.address()
        base = address.partition("/?")[0]
        end = time.monotonic() + FIRST_DOCUMENT_SECONDS
        try:
            opener.open(address, timeout=60).close()
            while time.monotonic() < end:
                with opener.open(f"{base}/api/v1/next", timeout=60) as reply:
                    documents = json.load(reply)
                if documents:
                    return str(documents[0]["document"]["title"] or documents[0]["document"]["id"])
                time.sleep(0.1)
        except (OSError, urllib.error.URLError) as error:
            raise InputError(f"The page did not answer: {error}.") from error
        learner = self.settings.learner
        raise InputError(f"No document was ready in time. {getattr(learner, 'last_error', '')}".strip())
