"""A real server and a real browser: `riffler review` in a process of its own, Chromium driven by Playwright."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.browser.reviewing import Running

OpenPage = Callable[..., Page]
KeepPicture = Callable[..., None]
SCREENSHOTS = Path("out/browser")
PATIENCE = 20_000  # milliseconds, on a busy machine


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

    def opened(server: Running, path: str = "/", **options: object) -> Page:
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
    """Note errors of scripts and of the Content-Security-Policy; a replaced suggestion or a lost server is none."""
    expected = ("409 (Conflict)", "ERR_CONNECTION", "401 (Unauthorized)", "400 (Bad Request)")
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
