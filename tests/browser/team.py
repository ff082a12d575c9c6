"""A running `riffler serve`, and the people of a team, each in a browser of their own."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect
from sqlalchemy import select

from riffler.data import read_collection
from riffler.review.database import writing
from riffler.review.schema_team import HoldRow
from riffler.review.settings import ReviewSettings
from riffler.review.store import Review
from riffler.team.office import open_office
from tests.browser.reviewing import START_SECONDS, Running

PASSWORD = "the whales sing at night"
ROLES = {"olga": "owner", "anna": "reviewer", "bert": "reviewer", "rita": "reader"}


class Serving(Running):
    """The server of a team on a database, in a process of its own."""

    PRINTED = re.compile(r"http://127[\w.:/#-]+[\w/-]")  # a sentence may end behind it

    def __init__(self, database: str) -> None:
        self.database = database
        self.visits: dict[str, list[Any]] = {}  # cookies of those who have logged in
        super().__init__(Path())

    def command(self) -> list[str]:
        return ["serve", "--database", self.database, "--port", str(self.port)]

    def first_invitation(self) -> str:
        """Return what it printed after its address: how the first admin comes in."""
        return self._addresses.get(timeout=START_SECONDS)

    def enter(self, page: Page, path: str = "/") -> None:
        """Open a page, or an address that somebody was sent, as one who is not logged in."""
        page.goto(path if path.startswith("http") else self.address + path)


class As:
    """Somebody who logs in, once: later the cookie does."""

    def __init__(self, server: Serving, name: str) -> None:
        self.server, self.name = server, name

    def enter(self, page: Page, path: str) -> None:
        cookies = self.server.visits.get(self.name)
        if cookies is None:
            self.server.enter(page, "/login")
            log_in(page, self.name)
            page.wait_for_url(f"{self.server.address}/")
            self.server.visits[self.name] = page.context.cookies()
        else:
            page.context.add_cookies(cookies)
        self.server.enter(page, path)


class Office:
    """The database of a server, as somebody at its machine has it."""

    def __init__(self, database: str) -> None:
        self.database, self.office = database, open_office(database)
        self.people = self.office.people

    def number_of(self, name: str) -> int:
        return next(one.id for one in self.people.accounts() if one.name == name)

    def add_review(self, source: Path, roles: dict[str, str], settings: ReviewSettings) -> Review:
        """Make a review with documents and members; the first of them makes it, and is an owner."""
        owner, *others = roles
        review = self.office.create("Whales", settings, by=self.number_of(owner))
        review.add_documents(read_collection(source), reviewer=owner)
        for one in others:
            self.people.add_member(review.id, self.number_of(one), roles[one], self.number_of(owner))
        return review

    def age_holds(self, review: Review, name: str) -> None:
        """Let what somebody holds be as old as if nothing had been heard of them for an hour."""
        with writing(self.office._engine) as session:
            theirs = (HoldRow.review_id == review.id, HoldRow.reviewer_id == self.number_of(name))
            for hold in session.scalars(select(HoldRow).where(*theirs)):
                hold.renewed_at -= 3600


def write_csv(path: Path, n: int) -> Path:
    """Write n short documents, every other one about whales."""
    topics = (("Bread", "flour"), ("Whales", "krill"))
    rows = [f"d{row},{title} {row},Text {row} on {word}." for row in range(n) for title, word in [topics[row % 2]]]
    path.write_text("\n".join(["id,title,abstract", *rows, ""]), encoding="utf-8")
    return path


def log_in(page: Page, name: str, password: str = PASSWORD) -> None:
    page.locator("#name").fill(name)
    page.locator("#password").fill(password)
    page.get_by_role("button", name="Log in").click()


def accept(page: Page, name: str | None = None) -> None:
    """Take an invitation: choose a name, unless it says one, and a password."""
    if name is not None:
        page.locator("#name").fill(name)
    page.locator("#password").fill(PASSWORD)
    page.locator("#again").fill(PASSWORD)
    page.locator("#accept-button").click()


def invite(page: Page, name: str, role: str = "reviewer") -> str:
    """Invite somebody on the team page, and return the address that it shows."""
    page.locator("#invite-name").fill(name)
    page.locator("#invite-role").select_option(role)
    page.get_by_role("button", name="Invite", exact=True).click()
    expect(page.locator("#address-words")).to_contain_text(f"Send this address to {name or 'whom you invite'}")
    return page.locator("#address").input_value()


def sure(page: Page, button: str) -> None:
    """Confirm what the page asks."""
    page.locator("#sure").get_by_role("button", name=button).click()
