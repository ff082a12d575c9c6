"""What was given stays as it was: names with any letters, and goals with more digits than a field shows."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.collections import write_ris
from tests.browser.conftest import OpenPage
from tests.browser.reviewing import Running

TARGET = 0.9123456789


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    source = write_ris(tmp_path_factory.mktemp("given") / "Übersicht_鯨.ris", n=20)
    running = Running(source, "--target", str(TARGET), "--confidence", "0.9995")
    yield running
    running.stop()


def goal(page: Page) -> tuple[float, float]:
    settings = page.request.get("/api/v1/review").json()["settings"]
    return settings["target"], settings["confidence"]


def test_a_file_is_saved_under_the_name_of_the_review(server: Running, open_page: OpenPage) -> None:
    page = open_page(server, "/data")
    with page.expect_download() as download:
        page.get_by_role("button", name="Export").click()
    assert download.value.suggested_filename == "Übersicht_鯨.csv"


def test_saving_changes_no_goal_that_was_not_touched(server: Running, open_page: OpenPage) -> None:
    page = open_page(server, "/settings", base_url=server.address)
    expect(page.locator("#target")).to_have_value("91.234567")
    page.locator("#criteria").fill("Whales.")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#saved")).to_have_text("Saved")
    assert goal(page) == (TARGET, 0.9995)
    page.locator("#confidence").fill("56.3")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#saved")).to_have_text("Saved")
    assert goal(page) == (TARGET, 0.563)
