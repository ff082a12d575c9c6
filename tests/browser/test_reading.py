"""Reading by keyboard: verdicts, undo, notes, tags, a reload in the middle, two tabs, a phone, a lost server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.collections import HOSTILE, write_ris
from tests.browser.conftest import KeepPicture, OpenPage
from tests.browser.reviewing import Running, n_read, press, saved, title_of


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    running = Running(write_ris(tmp_path_factory.mktemp("reading") / "things.ris", n=80, hostile=HOSTILE))
    yield running
    running.stop()


def open_found(server: Running, open_page: OpenPage, words: str) -> Page:
    """Search for a document, and open it from the results."""
    page = open_page(server, f"/search?q={words}")
    page.locator(".hit-title").first.click()
    title_of(page)
    return page


def test_verdicts_by_keyboard_and_undo(server: Running, open_page: OpenPage, keep_picture: KeepPicture) -> None:
    page = open_page(server)
    first = title_of(page)
    keep_picture(page, "reading")
    before = n_read(page)
    for key in ("r", "i", "m", "s", "1", "2"):
        press(page, key)
    assert n_read(page) == before + 6
    last = title_of(page)
    assert last != first
    page.keyboard.press("u")
    expect(page.locator("#saved")).to_have_text("Undone")
    assert n_read(page) == before + 5
    assert title_of(page) != last  # the document whose answer was undone is on the screen again


def test_undo_goes_back_to_the_beginning(server: Running, open_page: OpenPage) -> None:
    page = open_page(server)
    before, titles = n_read(page), []
    for _ in range(3):
        titles.append(title_of(page))
        press(page, "i")
    saved(page)
    for title in reversed(titles):
        page.keyboard.press("u")
        expect(page.locator("#title")).to_have_text(title)
    assert n_read(page) == before


def test_a_note_and_tags_are_kept(server: Running, open_page: OpenPage, keep_picture: KeepPicture) -> None:
    page = open_page(server)
    title = title_of(page)
    page.keyboard.press("n")
    page.keyboard.type("rims <b>bold</b> r i m")  # keys do nothing while somebody types
    page.keyboard.press("Escape")
    page.keyboard.press("t")
    page.keyboard.type("krill")
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    keep_picture(page, "note-and-tag")
    saved(page)
    page.reload()
    assert title_of(page) == title  # a reload in the middle shows the same document
    expect(page.locator("#note")).to_have_value("rims <b>bold</b> r i m")
    expect(page.locator("#tags")).to_contain_text("krill")
    page.get_by_role("button", name="Remove the tag krill").click()
    saved(page)
    page.reload()
    title_of(page)
    expect(page.locator("#tags li")).to_have_count(0)


def test_nothing_of_a_document_is_executed(server: Running, open_page: OpenPage) -> None:
    page = open_found(server, open_page, "onerror")
    assert HOSTILE in title_of(page)
    assert page.evaluate("() => window.broken") is None
    links = page.locator("#about a").evaluate_all("links => links.map(link => [link.href, link.rel])")
    assert links == [["https://doi.org/10.1000/market.1", "noopener noreferrer"]]
    assert page.evaluate("() => import('/static/document.js').then(m => m.safeAddress('javascript:alert(1)'))") is None


def test_copies_are_shown_together(server: Running, open_page: OpenPage) -> None:
    page = open_found(server, open_page, "song part 0")
    expect(page.locator("#twins-count")).to_contain_text("2 copies of this record")
    expect(page.locator("#twins-list")).to_contain_text("The song of the humpback whale")


def test_an_answer_in_another_tab_is_noticed(server: Running, open_page: OpenPage, keep_picture: KeepPicture) -> None:
    one = open_page(server)
    title = title_of(one)
    other = one.context.new_page()
    server.enter(other)
    assert title_of(other) == title
    press(one, "i")
    saved(one)
    press(other, "r")
    conflict = other.locator("#conflict")
    expect(conflict).to_contain_text("In another tab you said")
    expect(conflict).to_contain_text(title)
    keep_picture(other, "two-tabs")
    before = n_read(one)
    conflict.get_by_role("button", name="Correct it").click()
    expect(conflict).to_have_count(0)
    saved(other)
    other.goto(server.address + "/history?verdict=relevant&holding=true")
    expect(other.locator("#lines li").first).to_contain_text(title)
    one.reload()
    assert n_read(one) == before  # corrected, not counted twice


def test_marked_words_and_why_are_the_readers_choice(server: Running, open_page: OpenPage) -> None:
    page = open_page(server)
    title_of(page)
    assert not page.locator("#why").evaluate("one => one.open")
    page.keyboard.press("y")
    expect(page.locator("#why-words")).to_be_visible()
    page.keyboard.press("w")
    assert "plain-text" in (page.locator("#reading").get_attribute("class") or "")
    page.reload()
    title_of(page)
    assert not page.locator("#marks").is_checked()
    page.keyboard.press("w")


def test_enter_and_space_press_what_has_the_focus(server: Running, open_page: OpenPage) -> None:
    page = open_page(server)
    title = title_of(page)
    fields = page.locator("#fields")
    for key in ("Enter", "Space"):
        fields.locator("summary").focus()
        before = fields.evaluate("one => one.open")
        page.keyboard.press(key)
        assert fields.evaluate("one => one.open") is not before
    page.locator("#title").focus()
    page.keyboard.press("Enter")  # without a verdict nothing goes on
    assert title_of(page) == title


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("The song of whales", [["song of whales", "for"]]),  # a pair may have small words between
        ("Old WHALES, new bonds", [["WHALES", "for"], ["bonds", "against"]]),
        ("wholesale whalesong", []),  # whole words only
        ("random walks, randomised", [["random", "own"], ["randomised", "own"]]),
        ("95 of 100 whale's songs", []),
        ("Straße und deep sea whales", [["Straße", "for"], ["deep sea", "own"], ["whales", "for"]]),
    ],
)
def test_which_words_are_marked(server: Running, open_page: OpenPage, text: str, spans: list[list[str]]) -> None:
    page = open_page(server)
    found = page.evaluate(
        """async (text) => {
            const { makeMarker } = await import("/static/marking.js");
            const terms = [["whales", 2], ["song whales", 1], ["bonds", -1], ["straße", 1], ["95", 3]];
            const spans = makeMarker(terms, ["random*", "Deep Sea"]).spans(text);
            return spans.map(({start, end, kind}) => [text.slice(start, end), kind]);
        }""",
        text,
    )
    assert found == spans


def test_a_phone_has_the_verdicts_in_reach(server: Running, open_page: OpenPage, keep_picture: KeepPicture) -> None:
    page = open_page(server, viewport={"width": 390, "height": 780}, has_touch=True, is_mobile=True)
    before, title = n_read(page), title_of(page)
    keep_picture(page, "phone")
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")  # nothing sticks out
    buttons = page.locator(".actions button")
    for at in range(buttons.count()):
        box = buttons.nth(at).bounding_box()
        assert box is not None
        assert box["height"] >= 44
        assert box["y"] > 600
    page.get_by_role("button", name="Irrelevant").tap()
    page.wait_for_function("title => document.getElementById('title').innerText !== title", arg=title)
    assert n_read(page) == before + 1


@pytest.mark.parametrize(
    ("n_read", "alive", "error", "words"),
    [
        (0, True, None, "The first document comes by itself"),
        (9, True, None, "The next document comes by itself"),
        (9, False, None, "The search is starting again"),
        (9, True, "The scheduler went away.", "The scheduler went away."),  # another one is trying
    ],
)
def test_why_nothing_is_there_to_be_read(
    server: Running, open_page: OpenPage, n_read: int, alive: bool, error: str | None, words: str
) -> None:
    page = open_page(server)
    title_of(page)
    told = page.evaluate(
        """async (review) => {
            const { drawRest } = await import("/static/resting.js");
            drawRest(review, 1e6, () => {});
            return document.getElementById("preparing-words").textContent;
        }""",
        {"counts": {"unread": 5, "relevant": n_read}, "learner": {"alive": alive, "error": error}},
    )
    assert words in told


def test_answers_wait_while_the_server_is_away(tmp_path: Path, open_page: OpenPage, keep_picture: KeepPicture) -> None:
    server = Running(write_ris(tmp_path / "away.ris", n=40))
    page = open_page(server)
    with page.expect_response(lambda reply: "/next" in reply.url and len(reply.json()) > 1):
        title_of(page)  # and some documents are fetched ahead, sooner or later
    server.kill()
    press(page, "i")
    expect(page.locator("#unsent")).to_contain_text("kept in this browser")
    keep_picture(page, "server-away")
    server.start()
    expect(page.locator("#unsent")).to_contain_text("open the address that it printed")
    second = page.context.new_page()
    server.enter(second)  # the new address, in another tab
    page.reload()
    assert n_read(page) == 1
    server.stop()
