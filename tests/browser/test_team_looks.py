"""The pages of a team in light and dark, wide and narrow: axe-core finds nothing serious."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import expect

from riffler.review.remarks import Answer
from riffler.review.store import Review
from riffler.team.desk import TeamDesk
from tests.browser.conftest import KeepPicture, OpenPage, Visit
from tests.browser.team import Office, Serving


@pytest.fixture(scope="module")
def disagreeing(office: Office, review: Review) -> None:
    """Let some documents be read by two people who do not always agree."""
    review.change_settings({"screening": "all"})
    desks = [TeamDesk(review, office.number_of(name), name, "reviewer") for name in ("anna", "bert")]
    for row in range(12):
        for desk in desks:
            verdict = "irrelevant" if row < 2 and desk.name == "bert" else ("relevant" if row % 3 else "maybe")
            note = "Nothing on krill in it." if verdict == "irrelevant" else ""
            desk.answer([Answer(f"d{row}", f"{desk.name}/{row}", note=note, seconds=7.5, verdict=verdict)])


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 390)])
def test_no_serious_fault_for_anybody(
    come: Visit,
    open_page: OpenPage,
    team_server: Serving,
    base: str,
    disagreeing: None,
    keep_picture: KeepPicture,
    scheme: str,
    width: int,
) -> None:
    options = {"color_scheme": scheme, "viewport": {"width": width, "height": 800}}
    guest, olga = open_page(team_server, "/login", **options), come("olga", **options)
    for page, path, there in (
        (guest, "/login", "#login"),
        (guest, "/invitation", "#invitation-words"),
        (olga, "/", "#reviews"),
        (olga, "/account", "#change"),
        (olga, "/people", "#accounts"),
        (olga, f"{base}/conflicts", ".conflict"),
        (olga, f"{base}/team", "#agreement .tile"),
        (olga, f"{base}/settings", "#screening"),
        (olga, f"{base}/history", "#lines li"),
    ):
        page.goto(team_server.address + path)
        expect(page.locator(there).first).to_be_visible()
        found = Axe().run(page).response["violations"]
        serious = [(one["id"], one["nodes"][0]["html"]) for one in found if one["impact"] in ("serious", "critical")]
        assert not serious, (path, serious)
        assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth"), path
        name = path.rpartition("/")[2] or "reviews"
        keep_picture(page, f"team-{name}-{scheme}-{width}", full_page=True)
