"""A running `riffler review`, and what a reviewer does with its page."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from queue import Empty, Queue
from typing import Any

from playwright.sync_api import Page, Request, expect

from tests.browser.collections import is_relevant
from tests.waiting import wait_until

RIFFLER = Path(sys.executable).with_name("riffler")
START_SECONDS = 60


class Running:
    """The server of one review, in a process of its own; it can be killed and started again on the same port."""

    PRINTED = re.compile(r"http://\S+token=\S+")

    def __init__(self, source: Path, *options: str) -> None:
        self.source, self.options = source, options
        self.port = 0
        self.start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def command(self) -> list[str]:
        return ["review", str(self.source), "--no-browser", "--port", str(self.port)]

    def start(self) -> None:
        self.process = subprocess.Popen(
            [str(RIFFLER), *self.command(), *self.options],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "400"},
        )
        self._addresses: Queue[str] = Queue()
        self._said: list[str] = []
        threading.Thread(target=self._listen, args=[self.process, self._addresses, self._said], daemon=True).start()
        try:
            self.invitation = self._addresses.get(timeout=START_SECONDS)
        except Empty:
            self.kill()
            raise AssertionError(f"no address after {START_SECONDS} s, only: {self._said}") from None
        self.port = int(self.invitation.split(":")[2].split("/")[0])
        self._cookies: list[Any] = []

    def enter(self, page: Page, path: str = "/") -> None:
        """Open a page: with the printed address, which works once, and later with the cookie that it gave."""
        if self._cookies:
            page.context.add_cookies(self._cookies)
        else:
            page.goto(self.invitation)
            self._cookies = page.context.cookies()
        if path != "/" or page.url == "about:blank":
            page.goto(self.address + path)

    def stop(self) -> None:
        self.process.send_signal(signal.SIGINT)
        self.process.wait(timeout=30)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def _listen(self, process: subprocess.Popen[str], addresses: Queue[str], said: list[str]) -> None:
        assert process.stdout is not None
        with process.stdout as lines:
            for line in lines:
                said.append(line)
                for found in self.PRINTED.findall(line):
                    addresses.put(found)


class Line:
    """The line between a page and its server, from now on: it can be cut and mended."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self._under_way: set[Request] = set()
        page.on("request", lambda asked: self._under_way.add(asked))
        page.on("requestfinished", lambda asked: self._under_way.discard(asked))
        page.on("requestfailed", lambda asked: self._under_way.discard(asked))

    def cut(self) -> None:
        """Let nothing more through, and wait for what is under way: the server would hear of it later."""
        self.page.route("**", lambda asked: asked.abort("internetdisconnected"))
        wait_until(self._is_quiet)
        self.page.context.set_offline(True)

    def mend(self) -> None:
        self.page.unroute("**")
        self.page.context.set_offline(False)

    def _is_quiet(self) -> bool:
        self.page.wait_for_timeout(20)  # else nothing would be heard of the browser
        return not self._under_way


def title_of(page: Page) -> str:
    """The title of the document on the screen, as soon as there is one."""
    heading = page.locator("#title")
    expect(heading).to_be_visible()
    expect(heading).not_to_be_empty()
    return heading.inner_text()


def press(page: Page, key: str) -> None:
    """Say something by a key, and wait for the next document (or the end)."""
    before = title_of(page)
    page.keyboard.press(key)
    page.wait_for_function(
        "title => document.getElementById('title').innerText !== title || document.getElementById('reading').hidden",
        arg=before,
    )


def read_all(page: Page, n: int) -> None:
    """Judge n documents as one who looks for whales, or fewer where the end comes first."""
    for _ in range(n):
        expect(page.locator("#title:visible, #finished:visible")).to_have_count(1)
        if page.locator("#finished").is_visible():
            return
        press(page, "r" if is_relevant(title_of(page)) else "i")


def saved(page: Page) -> None:
    """Wait until everything that was said is with the server."""
    page.wait_for_function("() => !Object.keys(localStorage).some(name => name.startsWith('riffler:unsent:'))")
    expect(page.locator("#unsent")).to_have_count(0)


def n_read(page: Page) -> int:
    saved(page)
    expect(page.locator("#n-read")).not_to_have_text("–")
    return int(page.locator("#n-read").inner_text().replace(",", ""))
