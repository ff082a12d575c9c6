"""What may go wrong in a team: somebody is away, removed, logged out or too late, or may not do what they want."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page, expect

from riffler.review.settings import ReviewSettings
from riffler.review.store import Review
from tests.browser.conftest import KeepPicture, OpenPage, Visit
from tests.browser.reviewing import Line, n_read, press, saved, title_of
from tests.browser.team import PASSWORD, ROLES, Office, Serving, accept, log_in, sure, write_csv

FEW = 12


def test_a_document_of_somebody_who_is_away_goes_to_another(
    come: Visit, office: Office, tmp_path: Path, keep_picture: KeepPicture
) -> None:
    review = office.add_review(write_csv(tmp_path / "few.csv", FEW), ROLES, ReviewSettings(description="whales"))
    base = f"/reviews/{review.identity}"
    anna = come("anna", base)
    line = Line(anna)
    first = title_of(anna)
    line.cut()
    office.age_holds(review, "anna")
    bert = come("bert", base)
    assert title_of(bert) == first
    line.mend()
    expect(anna.locator("#given")).to_contain_text(f"“{first}” was given to somebody else")
    keep_picture(anna, "team-given-to-somebody-else")
    expect(anna.locator("#title")).not_to_have_text(first)
    second = title_of(anna)
    line.cut()
    office.age_holds(review, "anna")
    for _ in range(FEW):
        if title_of(bert) == second:
            break
        press(bert, "i")
    press(bert, "i")
    saved(bert)
    press(anna, "r")
    expect(anna.locator("#unsent")).to_contain_text("kept in this browser")
    line.mend()
    late = anna.locator("#conflict")
    expect(late).to_contain_text("Meanwhile bert said")
    expect(late).to_contain_text(f"about “{second}”; here you said")
    expect(late.get_by_role("button")).to_have_text(["Close"])  # only bert or an owner corrects it
    keep_picture(anna, "team-too-late")
    saved(anna)


def test_an_undone_document_is_on_the_screen_again(come: Visit, base: str) -> None:
    anna = come("anna", base)
    before, title = n_read(anna), title_of(anna)
    press(anna, "i")
    saved(anna)
    anna.keyboard.press("u")
    expect(anna.locator("#title")).to_have_text(title)
    expect(anna.locator("#saved")).to_have_text("Undone")
    assert n_read(anna) == before
    press(anna, "i")
    assert n_read(anna) == before + 1


def test_who_is_logged_out_in_the_middle_loses_nothing(come: Visit, base: str) -> None:
    anna = come("anna", base)
    before = n_read(anna)
    title_of(anna)
    anna.context.clear_cookies()
    anna.keyboard.press("i")
    anna.wait_for_url(f"**/login?to=*{base.rpartition('/')[2]}")
    log_in(anna, "anna")
    anna.wait_for_url(f"**{base}")
    title_of(anna)
    saved(anna)
    expect(anna.locator("#n-read")).to_have_text(str(before + 1))


def test_who_is_removed_in_the_middle_is_told_and_sees_what_was_not_saved(
    come: Visit, office: Office, review: Review, base: str, keep_picture: KeepPicture
) -> None:
    bert, olga = come("bert", base), come("olga", f"{base}/team")
    title = title_of(bert)
    bert.keyboard.press("n")
    bert.keyboard.type("a note of mine")
    olga.get_by_role("button", name="Remove bert").click()
    sure(olga, "Remove")
    expect(olga.locator("#members")).not_to_contain_text("bert")
    bert.keyboard.press("Escape")
    shut_out = bert.locator("#shut-out")
    expect(shut_out).to_contain_text("You are not a member of this review any more.")
    expect(shut_out).to_contain_text(f"Note: a note of mine about “{title}”")
    keep_picture(bert, "team-removed")
    bert.keyboard.press("r")
    expect(bert.locator("#title")).to_have_text(title)  # nothing is taken any more
    bert.goto(bert.url.partition("/reviews")[0])
    expect(bert.locator(".banner")).to_contain_text("a note of mine")
    bert.get_by_role("button", name="Forget it").click()
    expect(bert.locator(".banner")).to_have_count(0)
    office.people.add_member(review.id, office.number_of("bert"), "reviewer", office.number_of("olga"))


def test_a_frozen_review_is_looked_at_and_goes_on_when_it_thaws(
    come: Visit, base: str, keep_picture: KeepPicture
) -> None:
    anna, olga = come("anna", base), come("olga", f"{base}/team")
    before = n_read(anna)
    title_of(anna)
    olga.get_by_role("button", name="Freeze it").click()
    sure(olga, "Freeze it")
    expect(olga.locator("#thaw")).to_be_visible()
    anna.keyboard.press("i")
    expect(anna.locator("#unsent")).to_contain_text("frozen")
    anna.reload()
    expect(anna.locator("#frozen-since")).to_contain_text("This review is frozen since")
    expect(anna.locator("#frozen")).to_be_visible()
    expect(anna.locator(".verdict")).to_have_count(0)
    keep_picture(anna, "team-frozen")
    olga.goto(olga.url.replace("/team", "/settings"))
    expect(olga.locator("#criteria")).to_be_disabled()
    with olga.expect_navigation():
        olga.keyboard.press("g")
    olga.get_by_role("button", name="Thaw it").click()
    sure(olga, "Thaw it")
    expect(olga.locator("#freeze")).to_be_visible()
    title_of(anna)  # the page finds out by itself
    saved(anna)
    expect(anna.locator("#n-read")).to_have_text(str(before + 1))


def test_a_reader_looks_and_says_nothing(come: Visit, team_server: Serving, base: str) -> None:
    rita = come("rita", base)
    rita.wait_for_url(f"**{base}/progress")
    expect(rita.locator("nav")).not_to_contain_text("Settings")
    rita.goto(f"{team_server.address}{base}/search?q=whales")
    expect(rita.locator("#hits li").first).to_be_visible()
    expect(rita.locator("#hits button")).to_have_count(0)
    rita.locator(".hit-title").first.click()
    assert "Whales" in title_of(rita)
    expect(rita.locator("#abstract")).to_contain_text("krill")
    expect(rita.locator(".verdict")).to_have_count(0)
    expect(rita.locator("#tag-form")).to_be_hidden()
    rita.wait_for_timeout(700)  # by then a page that reads would have asked for the next
    expect(rita.locator("#banners > *")).to_have_count(0)
    rita.goto(f"{team_server.address}{base}/data")
    expect(rita.locator("#import")).to_have_count(0)
    for path in ("/conflicts", "/settings"):
        reply = rita.goto(team_server.address + base + path)
        assert reply is not None
        assert reply.status == 403
    reply = rita.goto(f"{team_server.address}/people")
    assert reply is not None
    assert reply.status == 403


def test_two_owners_change_the_settings_at_once(come: Visit, base: str, keep_picture: KeepPicture) -> None:
    one, other = come("olga", f"{base}/settings"), come("olga", f"{base}/settings")
    one.locator("#criteria").fill("Whales count.")
    one.get_by_role("button", name="Save").click()
    expect(one.locator("#saved")).to_have_text("Saved")
    other.locator("#criteria").fill("Krill counts.")
    other.get_by_role("button", name="Save").click()
    expect(other.locator("#fault")).to_contain_text("Somebody else has changed the settings")
    keep_picture(other, "team-settings-conflict")
    one.locator("#highlight").fill("krill")  # the first may go on
    one.get_by_role("button", name="Save").click()
    expect(one.locator("#saved")).to_have_text("Saved")
    other.get_by_role("button", name="Show what holds now").click()
    expect(other.locator("#criteria")).to_have_value("Whales count.")


def test_wrong_passwords_are_refused_and_slowed(
    team_server: Serving, open_page: OpenPage, keep_picture: KeepPicture
) -> None:
    page = open_page(team_server, "/account")
    assert page.url.endswith("/login?to=/account")
    for _ in range(5):
        log_in(page, "nobody", "a wrong password")
        expect(page.locator("#refusal")).to_contain_text("password")
        expect(page.get_by_role("button", name="Log in")).to_be_enabled()
    log_in(page, "nobody", "a wrong password")
    expect(page.locator("#refusal")).to_contain_text("Too many tries were wrong. You can try again in")
    expect(page.get_by_role("button", name="Log in")).to_be_disabled()
    keep_picture(page, "team-too-many-tries")
    page.reload()
    log_in(page, "rita")
    page.wait_for_url("**/account")


def test_a_password_is_changed_and_set_anew(
    office: Office, team_server: Serving, open_page: OpenPage, come: Visit
) -> None:
    office.people.make_account("carl", PASSWORD)
    carl = open_page(team_server, "/login?to=/account")
    log_in(carl, "carl")
    carl.wait_for_url("**/account")
    change_password(carl, "not the old one", "krill at dawn")
    expect(carl.locator("#refusal")).to_contain_text("The old password is wrong")
    change_password(carl, PASSWORD, "krill at dawn")
    expect(carl.locator("#saved")).to_have_text("Changed")
    olga = come("olga", "/people")
    olga.get_by_role("button", name="New password for carl").click()
    expect(olga.locator("#address-words")).to_contain_text("carl")
    carl.get_by_role("button", name="Log out").last.click()
    carl.wait_for_url("**/login")
    carl.goto(olga.locator("#address").input_value())
    expect(carl.locator("#invitation-words")).to_have_text("Set a new password for carl.")
    accept(carl)
    carl.wait_for_url(f"{team_server.address}/")
    olga.get_by_role("button", name="Close the account of carl").click()
    sure(olga, "Close it")
    expect(olga.get_by_role("button", name="Open again carl")).to_be_visible()
    carl.reload()
    expect(carl.locator("#login")).to_be_visible()


def change_password(page: Page, old: str, new: str) -> None:
    for name, value in (("old", old), ("password", new), ("again", new)):
        page.locator(f"#{name}").fill(value)
    page.get_by_role("button", name="Change it").click()
