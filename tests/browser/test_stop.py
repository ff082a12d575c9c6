"""To the end: the advice to stop as the certificate allows it, the charts, and the page that says that all is read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psutil
import pytest
from playwright.sync_api import expect

from tests.browser.collections import write_ris
from tests.browser.conftest import KeepPicture, OpenPage
from tests.browser.reviewing import Running, n_read, press, read_all, saved, title_of

N_DOCUMENTS = 40


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    source = write_ris(tmp_path_factory.mktemp("stop") / "things.ris", n=N_DOCUMENTS)
    running = Running(source, "--target", "0.5", "--confidence", "0.5", "--description", "whales")
    yield running
    running.stop()


@contextmanager
def learner_paused(server: Running) -> Iterator[None]:
    """Let the learner of a server stand still, so that what it has to do stays undone."""
    children = psutil.Process(server.process.pid).children(recursive=True)
    (learner,) = [child for child in children if "riffler.review.learner" in child.cmdline()]
    learner.suspend()
    try:
        yield
    finally:
        learner.resume()


def test_advice_to_stop_comes_with_the_certificate(
    server: Running, open_page: OpenPage, keep_picture: KeepPicture
) -> None:
    page = open_page(server)
    advice = page.locator("#advice")
    title_of(page)
    expect(advice).to_be_hidden()
    while not advice.is_visible() and not page.locator("#finished").is_visible():
        read_all(page, 1)
        saved(page)
        page.wait_for_timeout(100)
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
        told = page.request.get(f"{server.address}/api/v1/progress", headers={"Sec-Fetch-Site": "same-origin"}).json()
        assert told["stale"]
        assert told["decision"] is None
        page.goto(server.address + "/progress")
        expect(lead).to_contain_text("being made anew")
    expect(lead).not_to_contain_text("being made anew", timeout=30_000)


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
