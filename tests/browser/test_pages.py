"""The pages beside reading: search, history, data, settings; what they change is in the review."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from playwright.sync_api import Page, expect

from riffler.disk import IndexOptions, index_collection
from tests.browser.collections import write_ris
from tests.browser.conftest import KeepPicture, OpenPage
from tests.browser.reviewing import Running, n_read, press, saved, title_of
from tests.search.on_disk import labelled_documents, made_collection


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    running = Running(write_ris(tmp_path_factory.mktemp("pages") / "things.ris", n=60))
    yield running
    running.stop()


def exported(page: Page, folder: Path, format: str = "csv", which: str = "all") -> Path:
    page.locator("#format").select_option(format)
    page.locator("#which").select_option(which)
    with page.expect_download() as download:
        page.get_by_role("button", name="Export").click()
    target = folder / download.value.suggested_filename
    download.value.save_as(target)
    return target


def rows_of(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text(encoding="utf-8-sig").splitlines()))


def test_search_as_you_type_and_label_from_the_list(
    server: Running, open_page: OpenPage, keep_picture: KeepPicture
) -> None:
    page = open_page(server)
    title_of(page)
    before = n_read(page)
    page.keyboard.press("/")
    page.wait_for_url("**/search")
    page.keyboard.type("zebra quartz")
    expect(page.locator("#told")).to_have_text("Nothing has all these words.")
    page.locator("#words").fill("sourdough yeast")
    hits = page.locator("#hits li")
    expect(hits.first).to_contain_text("Sourdough")
    expect(page.locator("#hits mark").first).to_be_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("i")
    expect(hits.first.locator(".chip")).to_have_text("Irrelevant")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("r")
    expect(hits.nth(1).locator(".chip")).to_have_text("Relevant")
    keep_picture(page, "search")
    page.goto(server.address)
    assert n_read(page) == before + 2
    page.goto(server.address + "/history?origin=search")
    expect(page.locator("#lines li")).to_have_count(2)


def test_history_filters_relabels_and_undoes(server: Running, open_page: OpenPage, keep_picture: KeepPicture) -> None:
    page = open_page(server)
    title = title_of(page)
    press(page, "m")
    saved(page)
    page.keyboard.press("h")
    page.wait_for_url("**/history")
    line = page.locator("#lines li").first
    expect(line).to_contain_text(title)
    keep_picture(page, "history")
    with page.expect_navigation():  # the page loads itself again
        line.locator("select").select_option("relevant")
    expect(page.locator("#lines li").first.locator(".chip.relevant")).to_be_visible()
    page.locator("#verdict").select_option("maybe")
    page.wait_for_url("**verdict=maybe**")
    expect(page.locator("#lines li")).to_have_count(1)
    expect(page.locator("#lines .chip")).to_have_class("chip maybe quiet")  # corrected since
    page.goto(server.address + "/history?holding=true&verdict=relevant")
    with page.expect_navigation():  # the page loads itself again
        page.locator("#lines li").first.get_by_role("button", name="Undo").click()
    page.goto(server.address + "/history?holding=true&verdict=maybe")
    expect(page.locator("#lines li")).to_contain_text([title])  # what was said before holds again


def test_what_was_said_is_in_the_export(
    server: Running, open_page: OpenPage, keep_picture: KeepPicture, tmp_path: Path
) -> None:
    page = open_page(server)
    title = title_of(page)
    press(page, "r")
    saved(page)
    page.keyboard.press("d")
    page.wait_for_url("**/data")
    expect(page.locator("#prisma")).to_contain_text("Records identified")
    keep_picture(page, "data", full_page=True)
    rows = rows_of(exported(page, tmp_path))
    assert len(rows) == 61  # the copy too
    assert {row["riffler_verdict"] for row in rows if row["TI"].strip() == title} == {"relevant"}
    assert {"AU", "PY", "JO", "DO"} <= set(rows[0])
    chosen = rows_of(exported(page, tmp_path, which="relevant"))
    assert title in {row["TI"].strip() for row in chosen}
    assert exported(page, tmp_path, "ris").read_text(encoding="utf-8").count("TY  - JOUR") == 61


@pytest.mark.parametrize("button", ["Download a backup", "Download an archive", "Download the history"])
def test_downloads(server: Running, open_page: OpenPage, button: str) -> None:
    page = open_page(server, "/data")
    with page.expect_download() as download:
        page.get_by_role("button", name=button).click()
    assert Path(download.value.path()).stat().st_size > 500


def test_documents_are_added_after_a_look(
    server: Running, open_page: OpenPage, keep_picture: KeepPicture, tmp_path: Path
) -> None:
    more = tmp_path / "more.csv"
    more.write_text(
        'key,headline,words\nn1,A new whale,"Whales, again"\nn2,A loaf,Bread <b>fresh</b>\n', encoding="utf-8"
    )
    page = open_page(server, "/data")
    page.locator("#file").set_input_files(more)
    page.get_by_role("button", name="Look at it first").click()
    expect(page.locator("#preview")).to_be_visible()
    expect(page.locator("#sample")).to_contain_text("Bread <b>fresh</b>")
    page.locator("#part-title").select_option("headline")
    page.locator("#part-abstract").select_option("words")
    keep_picture(page, "import", full_page=True)
    page.get_by_role("button", name="Add these documents").click()
    expect(page.locator("#added")).to_contain_text("2 new documents")
    page.goto(server.address + "/search?q=fresh")
    expect(page.locator("#hits li")).to_have_count(1)


def test_a_file_that_cannot_be_read_is_refused_in_words(server: Running, open_page: OpenPage, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.csv"
    wrong.write_bytes(b"")
    page = open_page(server, "/data")
    page.locator("#file").set_input_files(wrong)
    page.get_by_role("button", name="Look at it first").click()
    expect(page.locator("#fault")).to_contain_text("wrong.csv")
    expect(page.locator("#preview")).to_be_hidden()


def test_settings_are_before_the_readers_eyes(server: Running, open_page: OpenPage, keep_picture: KeepPicture) -> None:
    page = open_page(server, "/settings")
    page.locator("#criteria").fill("Include whales.\nExclude <i>bread</i>.")
    page.locator("#highlight").fill("part\nstud*")
    page.locator("#target").fill("90")
    expect(page.locator("#goal")).to_contain_text("at least 90% of all relevant documents")
    keep_picture(page, "settings", full_page=True)
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#saved")).to_have_text("Saved")
    page.keyboard.press("b")
    title_of(page)
    expect(page.locator(".criteria")).to_have_text("Include whales.\nExclude <i>bread</i>.")
    expect(page.locator("#title mark.own")).to_have_text("part")
    page.goto(server.address + "/settings")
    page.locator("#target").fill("400")
    expect(page.locator("#goal")).to_have_text("Both must lie between 0 and 100 per cent.")


def test_a_folder_is_searched_and_how_often_it_is_scored_is_set_on_the_page(
    tmp_path: Path, open_page: OpenPage, keep_picture: KeepPicture
) -> None:
    folder = made_collection(labelled_documents(120, n_relevant=9), tmp_path / "snow", n_items=30).folder
    server = Running(folder, "--ignore-labels", "--file", str(tmp_path / "snow.riffler"))
    try:
        page = open_page(server, "/settings")
        expect(page.locator("#rescore_every")).to_have_value("1")
        page.locator("#rescore_every").fill("10")
        page.locator("#candidates").fill("500")
        page.get_by_role("button", name="Save").click()
        expect(page.locator("#saved")).to_have_text("Saved")
        page.reload()
        expect(page.locator("#rescore_every")).to_have_value("10")
        expect(page.locator("#candidates")).to_have_value("500")
        page.goto(server.address + "/search?q=report")
        expect(page.locator("#told")).to_contain_text("documents of the collection may have these words")
        keep_picture(page, "search-of-a-folder")
        page.locator("#words").fill("zeppelin")
        expect(page.locator("#told")).to_have_text("Nothing has all these words.")
        page.goto(server.address + "/progress")
        expect(page.locator("[data-chart=recall] .chart-none")).to_have_text("There is nothing to draw yet.")
        expect(page.locator("[data-chart=map]")).to_have_count(0)
    finally:
        server.stop()


def test_a_review_of_a_folder_shows_fields_once_and_fills_its_pages(
    tmp_path: Path, open_page: OpenPage, keep_picture: KeepPicture
) -> None:
    frame = labelled_documents(60, n_relevant=9).drop("included")
    frame = frame.with_columns(title=pl.lit("On ") + pl.col("id"))
    frame[:30].write_csv(tmp_path / "a.csv")
    frame[30:].rename({"title": "Article Title"}).write_csv(tmp_path / "b.csv")
    sources = [tmp_path / "a.csv", tmp_path / "b.csv"]
    index_collection(sources, tmp_path / "snow", IndexOptions(n_items=30, n_clusters=0))
    server = Running(tmp_path / "snow")
    try:
        page = open_page(server)
        title_of(page)
        press(page, "r")
        press(page, "i")
        saved(page)
        expect(page.locator("#fields-list dt").filter(has_text=re.compile("^id$"))).to_have_count(1)
        page.goto(server.address + "/progress")
        expect(page.locator("[data-chart=recall] svg")).to_be_visible()
        boxes = [one.bounding_box() for one in page.locator("#charts figure").all()]
        assert len({box["y"] for box in boxes if box}) == 1  # side by side, and no row half empty
        expect(page.locator("#panel")).to_contain_text("median on the screen")
        keep_picture(page, "progress-of-folder", full_page=True)
        page.goto(server.address + "/data")
        expect(page.locator("#which option").first).to_have_text("all that have come up")
        expect(page.locator("#import")).to_have_count(0)
    finally:
        server.stop()


def test_a_key_for_programs_is_shown_once(server: Running, open_page: OpenPage) -> None:
    page = open_page(server, "/settings")
    page.locator("#token-name").fill("my script")
    page.get_by_role("button", name="Make a key").click()
    secret = page.locator("#token-secret")
    expect(secret).not_to_be_empty()
    token = secret.inner_text()
    program = page.context.browser.new_context() if page.context.browser else None
    assert program is not None
    path = f"{server.address}/api/v1/review"
    assert program.request.get(path, headers={"Authorization": f"Bearer {token}"}).ok
    page.reload()
    expect(page.locator("#tokens")).to_contain_text("my script")
    assert token not in page.content()
    page.get_by_role("button", name="Revoke my script").click()
    expect(page.locator("#tokens")).to_contain_text("revoked")
    assert program.request.get(path, headers={"Authorization": f"Bearer {token}"}).status == 401
    program.close()


def test_keys_lead_to_every_page(server: Running, open_page: OpenPage) -> None:
    page = open_page(server)
    title_of(page)
    for key, path in (("h", "/history"), ("p", "/progress"), ("d", "/data"), (",", "/settings"), ("b", "/")):
        page.keyboard.press(key)
        page.wait_for_url(f"{server.address}{path}")
        expect(page.locator("nav [aria-current]")).to_have_attribute("href", path)
    page.keyboard.press("?")
    expect(page.locator("#help")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#help")).to_be_hidden()
