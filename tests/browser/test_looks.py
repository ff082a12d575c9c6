"""Every page in light and dark, wide and narrow: axe-core finds nothing serious, no policy is violated."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Page, expect

from tests.browser.collections import HOSTILE, write_ris
from tests.browser.conftest import KeepPicture, OpenPage
from tests.browser.reviewing import Running, press, saved, title_of

PATHS = ("/", "/search?q=part", "/history", "/progress", "/data", "/settings")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    running = Running(write_ris(tmp_path_factory.mktemp("looks") / "things.ris", n=60, hostile=HOSTILE))
    yield running
    running.stop()


@pytest.fixture(scope="module")
def said() -> set[str]:
    """The servers on which something was said already."""
    return set()


def something_said(page: Page, said: set[str], server: Running) -> None:
    """Make sure that there is something to see on every page."""
    title_of(page)
    if server.address not in said:
        for key in "riimsri":
            press(page, key)
        saved(page)
        said.add(server.address)


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 390)])
def test_no_serious_fault_for_anybody(
    server: Running, open_page: OpenPage, keep_picture: KeepPicture, said: set[str], scheme: str, width: int
) -> None:
    page = open_page(server, color_scheme=scheme, viewport={"width": width, "height": 800})
    something_said(page, said, server)
    for path in PATHS:
        page.goto(server.address + path)
        settle(page, path)
        found = Axe().run(page).response["violations"]
        serious = [(one["id"], one["nodes"][0]["html"]) for one in found if one["impact"] in ("serious", "critical")]
        assert not serious, (path, serious)
        assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth"), path
        assert page.evaluate("() => window.broken") is None  # texts of documents stay texts
        name = path.strip("/").partition("?")[0] or "reading"
        keep_picture(page, f"{name}-{scheme}-{width}", full_page=path != "/")


def settle(page: Page, path: str) -> None:
    if path == "/":
        title_of(page)
    elif path.startswith("/search"):
        expect(page.locator("#hits li").first).to_be_visible()
    elif path == "/progress":
        expect(page.locator("[data-chart=recall] svg")).to_be_visible()


def test_the_reader_chooses_the_colours(server: Running, open_page: OpenPage) -> None:
    page = open_page(server, color_scheme="light")
    title_of(page)
    ground = "() => getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    page.get_by_role("button", name="Use the dark colours").click()
    dark = page.evaluate(ground)
    assert light != dark
    page.reload()
    assert page.evaluate(ground) == dark
    page.get_by_role("button", name="Use the light colours").click()
    assert page.evaluate(ground) == light


def test_no_other_host_is_asked(server: Running, open_page: OpenPage) -> None:
    page = open_page(server)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    for path in PATHS:
        page.goto(server.address + path)
        settle(page, path)
    assert all(url.startswith((server.address, "blob:", "data:")) for url in asked)
