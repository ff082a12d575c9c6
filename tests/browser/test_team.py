"""A team on its server, on both databases: from the first invitation to the agreement."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import KeepPicture, OpenPage
from tests.browser.reviewing import press, saved, title_of
from tests.browser.team import Serving, accept, invite, write_csv


@pytest.fixture(params=["sqlite", "postgres"])
def empty_server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Serving]:
    address = request.getfixturevalue("postgres_address") if request.param == "postgres" else tmp_path / "new.riffler"
    running = Serving(str(address))
    yield running
    running.stop()


def test_from_the_first_invitation_to_the_agreement(
    empty_server: Serving, open_page: OpenPage, keep_picture: KeepPicture, tmp_path: Path
) -> None:
    server = empty_server
    olga = open_page(server, server.first_invitation())
    keep_picture(olga, "team-invitation")
    expect(olga.locator("#invitation-words")).to_have_text("You are invited to this server, as an admin.")
    assert "#" not in olga.url  # the secret is gone from the address
    accept(olga, "Olga")
    olga.wait_for_url(f"{server.address}/")
    base = new_review(olga, write_csv(tmp_path / "things.csv", 6))
    read_by_several(olga, base)
    olga.goto(server.address + base + "/team")
    to_anna, to_bert = invite(olga, "Anna"), invite(olga, "")
    keep_picture(olga, "team-invite", full_page=True)

    anna, bert = open_page(server, to_anna), open_page(server, to_bert)
    expect(anna.locator("#invitation-words")).to_have_text("Olga invites you to take part in “Whales” as a reviewer.")
    expect(anna.locator("#name")).to_have_value("Anna")
    assert anna.locator("#name").get_attribute("readonly") is not None
    accept(anna)
    accept(bert, "Bert")
    for page in (anna, bert):
        page.wait_for_url(server.address + base)
        title_of(page)

    bert.goto(server.address + base + "/history")  # what was on his screen goes back
    read(anna, {})
    expect(anna.locator("#others-words")).to_contain_text("6 documents wait for another reader.")
    bert.reload()
    expect(bert.locator("#lines li")).to_have_count(0)  # nothing of what Anna said
    bert.goto(server.address + base + "/search?q=text")
    expect(bert.locator("#hits li")).to_have_count(6)
    expect(bert.locator("#hits .chip")).to_have_count(0)
    bert.goto(server.address + base)
    read(bert, {"Whales 3": "i"})
    expect(bert.locator("#others-words")).to_contain_text("1 conflict is open.")
    keep_picture(bert, "team-nothing-left")

    anna.keyboard.press("x")
    expect(anna.locator(".conflict")).to_contain_text("You have read it yourself: somebody else decides.")
    expect(anna.locator(".conflict .says")).to_have_count(0)
    olga.goto(server.address + base + "/progress")
    expect(olga.locator("#still-open")).to_contain_text("1 conflict is open. None of these counts as found")
    olga.goto(server.address + base + "/conflicts")
    expect(olga.locator("nav .number-of")).to_have_text("1 open")
    decide(olga, keep_picture)

    olga.goto(server.address + base + "/team")
    expect(olga.locator("#agreement .tile").first).to_contain_text("83%")
    expect(olga.locator("#agreement .hit")).to_contain_text("decided by a third person: Olga")
    expect(olga.locator("#paces")).to_contain_text("Bert")
    expect(olga.locator("#audit")).to_contain_text("Olga")
    keep_picture(olga, "team-agreement", full_page=True)
    anna.goto(server.address + base)
    expect(anna.locator("#finished")).to_be_visible()
    anna.goto(server.address + base + "/history?kind=answer")
    expect(anna.locator("#lines li").first).to_contain_text("Olga")
    expect(anna.locator("#lines")).to_contain_text("All readers agreed")
    keep_picture(anna, "team-history")


def new_review(page: Page, source: Path) -> str:
    """Make a review with the documents of a file, and return its address."""
    page.locator("#review-name").fill("Whales")
    page.get_by_role("button", name="Make it").click()
    page.wait_for_url(re.compile(r"/reviews/[^/]+/data$"))
    page.locator("#file").set_input_files(source)
    page.get_by_role("button", name="Look at it first").click()
    page.get_by_role("button", name="Add these documents").click()
    expect(page.locator("#added")).to_contain_text("6 new documents")
    return "/reviews/" + page.url.split("/")[-2]


def read_by_several(page: Page, base: str) -> None:
    """Let two people read each document of a review."""
    page.keyboard.press(",")
    page.wait_for_url(f"**{base}/settings")
    page.locator("#screening").select_option("all")
    expect(page.locator("#readers")).to_have_value("2")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#saved")).to_have_text("Saved")


def read(page: Page, said: dict[str, str]) -> None:
    """Read all six documents: whales are relevant, unless something else is to be said of a title."""
    for _ in range(6):
        title = title_of(page)
        expect(page.locator("#holds")).to_be_hidden()
        press(page, said.get(title, "r" if "Whales" in title else "i"))
    expect(page.locator("#others")).to_be_visible()
    saved(page)


def decide(page: Page, keep_picture: KeepPicture) -> None:
    """Settle the only conflict, by keys."""
    conflict = page.locator(".conflict")
    expect(conflict.locator(".opinions li")).to_have_count(2)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(conflict.locator(".whole-abstract")).to_have_text("Text 3 on krill.")
    page.keyboard.press("n")
    page.keyboard.type("It is about krill.")
    keep_picture(page, "team-conflict")
    page.keyboard.press("Escape")
    page.keyboard.press("r")
    expect(page.locator("#told")).to_contain_text("“Whales 3” is relevant. No conflict is left.")
