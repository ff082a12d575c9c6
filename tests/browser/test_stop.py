"""To the end: the advice to stop as the certificate allows it, the charts, and the page that says that all is read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic, sleep
from typing import Any

import psutil
import pytest
from playwright.sync_api import Page, expect

from tests.browser.collections import write_ris
from tests.browser.conftest import PATIENCE, KeepPicture, OpenPage
from tests.browser.reviewing import Running, n_read, press, read_all, saved, title_of
from tests.databases import is_free

N_DOCUMENTS = 40
ADVICE_EVERY = 5_000  # milliseconds: the page asks no more often (static/line.js)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    source = write_ris(tmp_path_factory.mktemp("stop") / "things.ris", n=N_DOCUMENTS)
    running = Running(source, "--target", "0.5", "--confidence", "0.5", "--description", "whales")
    yield running
    running.stop()


@contextmanager
def learner_paused(server: Running) -> Iterator[None]:
    """Let the learner of a server stand still, so that what it has to do stays undone; not while it writes."""
    children = psutil.Process(server.process.pid).children(recursive=True)
    (learner,) = [child for child in children if "riffler.review.learner" in child.cmdline()]
    end = monotonic() + PATIENCE / 1000
    learner.suspend()
    try:
        while not is_free(server.source.with_suffix(".riffler")):  # all others would wait for it in vain
            assert monotonic() < end, "the learner is writing all the time"
            learner.resume()
            sleep(0.05)
            learner.suspend()
        yield
    finally:
        learner.resume()


def progress_of(server: Running, page: Page) -> dict[str, Any]:
    reply = page.request.get(f"{server.address}/api/v1/progress", headers={"Sec-Fetch-Site": "same-origin"})
    told: dict[str, Any] = reply.json()
    return told


def caught_up(server: Running, page: Page) -> dict[str, Any]:
    """Return the progress once the learner knows every answer: on a busy machine all could be read before it does."""
    saved(page)
    end = monotonic() + PATIENCE / 1000
    while (told := progress_of(server, page))["behind"] or told["stale"]:
        assert monotonic() < end, f"the learner is still behind: {told}"
        page.wait_for_timeout(50)
    return told


def test_advice_to_stop_comes_with_the_certificate(
    server: Running, open_page: OpenPage, keep_picture: KeepPicture
) -> None:
    page = open_page(server)
    advice = page.locator("#advice")
    title_of(page)
    expect(advice).to_be_hidden()
    while not (caught_up(server, page)["decision"] or {}).get("stop"):
        assert not page.locator("#finished").is_visible()
        read_all(page, 1)
    page.wait_for_timeout(ADVICE_EVERY)
    read_all(page, 1)
    expect(advice).to_contain_text("You may stop: at least 50% of all relevant documents are found")
    keep_picture(page, "advice")
    page.keyboard.press("p")
    expect(page.locator(".advice.good .lead")).to_contain_text("You may stop")
    expect(page.locator("[data-chart=recall] svg")).to_be_visible()
    expect(page.locator("[data-chart=pace] svg")).to_be_visible()
    expect(page.locator("[data-chart=map] svg")).to_be_visible()
    keep_picture(page, "progress", full_page=True)


def test_an_undo_withdraws_the_claim_until_it_is_made_anew(server: Running, open_page: OpenPage) -> None:
    page = open_page(server)
    title_of(page)
    lead = page.locator(".advice .lead")
    with learner_paused(server):
        page.keyboard.press("u")
        expect(page.locator("#saved")).to_have_text("Undone")
        told = progress_of(server, page)
        assert told["stale"]
        assert told["decision"] is None
        page.goto(server.address + "/progress")
        expect(lead).to_contain_text("being made anew")
    expect(lead).not_to_contain_text("being made anew")


def test_everything_is_read(server: Running, open_page: OpenPage, keep_picture: KeepPicture) -> None:
    page = open_page(server)
    press(page, "s")
    read_all(page, N_DOCUMENTS)
    finished = page.locator("#finished")
    expect(finished).to_be_visible()
    expect(finished).to_contain_text("Everything is read")
    expect(finished).to_contain_text("0 maybe, 1 skipped")
    assert n_read(page) == N_DOCUMENTS
    for button in page.locator(".verdict[data-verdict]").all():
        assert button.is_disabled()
    keep_picture(page, "finished")
    page.keyboard.press("u")  # also from here
    assert title_of(page)
    assert n_read(page) == N_DOCUMENTS - 1
