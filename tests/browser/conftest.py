"""A real server and a real browser: `riffler review` in a process of its own, Chromium driven by Playwright."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from riffler.review.settings import ReviewSettings
from riffler.review.store import Review
from tests.browser.team import PASSWORD, ROLES, As, Office, Serving, write_csv

OpenPage = Callable[..., Page]
Visit = Callable[..., Page]
KeepPicture = Callable[..., None]
SCREENSHOTS = Path("out/browser")
PATIENCE = 60_000  # milliseconds, on a busy machine


class Entrance(Protocol):
    """Something that lets a browser in."""

    def enter(self, page: Page, path: str) -> None:
        """Open a page."""


# Not for the whole session: while Playwright runs, its event loop keeps other tests of the process from theirs.
@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    path = os.environ.get("RIFFLER_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.skip("no Chromium: install Debian's package chromium, or name one in RIFFLER_CHROMIUM")
    # As root Chromium has no sandbox of its own.
    options = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=options)
        yield browser
        browser.close()


@pytest.fixture
def open_page(chromium: Browser) -> Iterator[OpenPage]:
    """Open the page of a server in a browser of its own; faults in its console fail the test."""
    contexts: list[BrowserContext] = []
    faults: list[str] = []

    def opened(server: Entrance, path: str = "/", **options: object) -> Page:
        context = chromium.new_context(**options)  # type: ignore[arg-type]
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        page = context.new_page()
        watch(page, faults)
        server.enter(page, path)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert not faults, faults


def watch(page: Page, faults: list[str]) -> None:
    """Note errors of scripts and of the Content-Security-Policy; what is refused in words or not reached is none."""
    refused = (400, 401, 403, 404, 409, 429)
    expected = (
        *(f"the server responded with a status of {status}" for status in refused),
        "ERR_CONNECTION",
        "ERR_EMPTY_RESPONSE",
        "ERR_INTERNET",
    )
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on(
        "console",
        lambda said: (
            faults.append(said.text)
            if said.type in ("error", "warning") and not any(one in said.text for one in expected)
            else None
        ),
    )


@pytest.fixture
def keep_picture() -> KeepPicture:
    """Keep a screenshot among the results of the tests."""

    def kept(page: Page, name: str, full_page: bool = False) -> None:
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=full_page)

    return kept


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    """Make the database of a team: an owner who is an admin too, two reviewers and a reader."""
    made = Office(str(tmp_path_factory.mktemp("team") / "office.riffler"))
    for name in ROLES:
        made.people.make_account(name, PASSWORD, is_admin=name == "olga")
    yield made
    made.office.close()


@pytest.fixture(scope="module")
def team_server(office: Office) -> Iterator[Serving]:
    running = Serving(office.database)
    yield running
    running.stop()


@pytest.fixture(scope="module")
def review(office: Office, tmp_path_factory: pytest.TempPathFactory) -> Review:
    source = write_csv(tmp_path_factory.mktemp("source") / "things.csv", 30)
    return office.add_review(source, ROLES, ReviewSettings(description="whales"))


@pytest.fixture
def base(review: Review) -> str:
    """Where the pages of the review begin."""
    return f"/reviews/{review.identity}"


@pytest.fixture
def come(open_page: OpenPage, team_server: Serving) -> Visit:
    """Let somebody open a page in a browser of their own."""

    def opened(name: str, path: str = "/", **options: object) -> Page:
        return open_page(As(team_server, name), path, **options)

    return opened
