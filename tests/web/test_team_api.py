"""Several people at one review over HTTP: who gets what, who agrees with whom, and what happens when things break."""

from __future__ import annotations

import csv
import io
import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from sqlalchemy import Engine

from riffler.review.database import connect
from riffler.review.queue import Queued
from riffler.review.store import open_review
from riffler.review.upgrade import prepare_server
from riffler.team.desk import TeamDesk
from tests.postgres import PostgresServer, server_programs
from tests.team.people import cheapen
from tests.web.teams import Browser, TeamServer, serving_team, team_server
from tests.web.visits import API, START_SECONDS, error_of

NEW = b"id,title,abstract,label\ne1,A new whale,About fins,1\ne2,A new bond,About prices,\n"
SEVERAL = {"screening": "all", "readers": 2, "resolution": "third"}


def read(browser: Browser, verdict: str, **more: object) -> str:
    """Read the next document, and answer about it."""
    queued = browser.show_next()
    document: str = queued["document"]["id"]
    reply = browser.answer(document, verdict, suggestion=queued["suggestion"], **more)
    assert reply.status_code == 200, reply.text
    return document


def test_two_reviewers_never_get_the_same_document(server: TeamServer) -> None:
    anna, bert = server.log_in("anna"), server.log_in("bert")

    def work(browser: Browser) -> list[str]:
        return [read(browser, "irrelevant") for _ in range(5)]

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(work, (anna, bert))
    assert len({*first, *second}) == 10
    lines = anna.get("/history").json()
    assert {line["reviewer"]: line["document"] in first for line in lines} == {"anna": True, "bert": False}
    assert server.log_in("rita").get("/review").json()["counts"]["irrelevant"] == 10


def test_what_somebody_leaves_goes_to_others(server: TeamServer) -> None:
    anna, bert = server.log_in("anna"), server.log_in("bert")
    held = [one["document"]["id"] for one in anna.next_documents(5)]
    assert not {one["document"]["id"] for one in bert.next_documents(5)} & set(held)
    assert bert.post("/leave").status_code == 204
    assert anna.post("/leave", {}).status_code == 204
    assert [one["document"]["id"] for one in bert.next_documents(5)] == held


def ids(found: list[dict[str, Any]]) -> list[str]:
    return [one["document"]["id"] for one in found]


def ask_and_be_gone(anna: Browser, server: TeamServer, meanwhile: Callable[[], object] = lambda: None) -> None:
    """Ask for documents, and close the connection before the server looks for some."""
    upcoming, asked, left, looked = TeamDesk.upcoming, threading.Event(), threading.Event(), threading.Event()

    def slow(desk: TeamDesk, n: int, is_wanted: Callable[[], bool]) -> list[Queued]:
        asked.set()
        assert left.wait(START_SECONDS)
        try:
            return upcoming(desk, n, is_wanted)
        finally:
            looked.set()

    page = server.client()
    page.cookies = anna.client.cookies
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TeamDesk, "upcoming", slow)
        with pytest.raises(httpx.ReadTimeout):  # which closes the connection
            page.get(f"{server.base}/next", params={"n": 3}, timeout=httpx.Timeout(60, read=0.2))
        assert asked.wait(START_SECONDS)
        meanwhile()
        left.set()
        assert looked.wait(START_SECONDS)


def test_what_a_page_asked_for_before_it_was_left_is_not_held(server: TeamServer) -> None:
    anna, bert = server.log_in("anna"), server.log_in("bert")
    held = ids(anna.next_documents(3))
    ask_and_be_gone(anna, server, meanwhile=lambda: anna.post("/leave", {}).raise_for_status())
    assert ids(bert.next_documents(3)) == held


def test_what_others_of_the_same_person_were_given_stays_theirs(server: TeamServer) -> None:
    anna, bert = server.log_in("anna"), server.log_in("bert")
    shown = anna.show_next()["document"]["id"]
    held = ids(anna.next_documents(3))
    ask_and_be_gone(anna, server)
    assert not set(ids(bert.next_documents(3))) & set(held)
    assert ids(anna.next_documents(3)) == held
    assert held[0] == shown


def test_an_undone_document_comes_back_with_its_suggestion(server: TeamServer) -> None:
    anna = server.log_in("anna")
    queued = anna.show_next()
    anna.answer(queued["document"]["id"], "relevant", suggestion=queued["suggestion"])
    told = anna.post("/undo", {"key": "u"}).json()
    assert told["suggestion"]["suggestion"] == queued["suggestion"]
    assert told["suggestion"]["why"] == queued["why"]
    assert anna.next_documents()[0]["document"]["id"] == queued["document"]["id"]


def test_nobody_undoes_what_others_said_but_an_owner(server: TeamServer) -> None:
    anna, bert, olga = (server.log_in(name) for name in ("anna", "bert", "olga"))
    read(anna, "relevant")
    (line,) = anna.get("/history").json()
    reply = bert.post("/undo", {"key": "b", "answer": line["id"]})
    assert error_of(reply)[:2] == (403, "not_allowed")
    assert olga.post("/undo", {"key": "o", "answer": line["id"]}).status_code == 200


def test_what_several_read_is_blind_until_all_have_and_a_conflict_is_settled_by_a_third(server: TeamServer) -> None:
    anna, bert, olga, rita = (server.log_in(name) for name in ("anna", "bert", "olga", "rita"))
    assert olga.send("PATCH", "/settings", SEVERAL).json()["screening"] == "all"
    document = read(anna, "relevant", note="clearly whales")
    assert bert.get("/document", id=document).json()["verdict"] is None
    assert anna.get("/document", id=document).json()["verdict"] == "relevant"
    for other in (bert, olga, rita):
        assert "clearly whales" not in other.get("/history").text + other.get("/history/export").text
    assert olga.get("/review").json()["open"] == {"waiting": 1, "conflicts": 0, "held": 0}
    assert read(bert, "irrelevant") == document  # what is half read comes first
    told = bert.get("/review").json()
    assert (told["open"], told["counts"]["unread"]) == ({"waiting": 0, "conflicts": 1, "held": 0}, 40)
    (conflict,) = anna.get("/conflicts").json()
    assert (conflict["document"]["id"], conflict["may_resolve"]) == (document, False)
    assert [(one["reviewer"], one["verdict"]) for one in conflict["opinions"]] == [
        ("anna", "relevant"),
        ("bert", "irrelevant"),
    ]
    decision = {"document": document, "verdict": "relevant", "key": "k", "note": "it has a whale"}
    assert error_of(bert.post("/conflicts", decision))[:2] == (403, "not_allowed")
    (seen,) = olga.get("/conflicts").json()
    assert seen["may_resolve"] is True
    receipt = olga.post("/conflicts", decision)
    assert (receipt.json()["kind"], receipt.json()["verdict"]) == ("answer", "relevant")
    assert olga.post("/conflicts", decision).json()["repeated"] is True
    assert error_of(olga.post("/conflicts", {**decision, "key": "other"}))[:2] == (409, "conflict")
    assert olga.get("/conflicts").json() == []
    (line,) = [one for one in rita.get("/history").json() if one["kind"] == "answer"]
    assert (line["decided"], line["reviewer"]) == ("third", "olga")
    counted = rita.get("/agreement").json()
    assert (counted["agreement"]["n_documents"], counted["agreement"]["n_disagreements"]) == (1, 1)
    assert [one["document"] for one in counted["disagreements"]] == [document]
    assert {one["reviewer"] for one in counted["paces"]} >= {"anna", "bert"}


def test_by_consensus_the_readers_settle_it(server: TeamServer) -> None:
    anna, bert, olga = (server.log_in(name) for name in ("anna", "bert", "olga"))
    olga.send("PATCH", "/settings", {**SEVERAL, "resolution": "consensus"})
    document = read(anna, "relevant")
    read(bert, "maybe")
    assert [one["may_resolve"] for browser in (anna, olga) for one in browser.get("/conflicts").json()] == [True, True]
    reply = anna.post("/conflicts", {"document": document, "verdict": "maybe", "key": "k", "note": "as we agreed"})
    assert reply.status_code == 200
    assert anna.get("/history", document=document, kind="answer").json()[0]["decided"] == "consensus"


def test_two_owners_change_the_settings_at_once_and_the_second_is_told(server: TeamServer) -> None:
    olga, anna = server.log_in("olga"), server.log_in("anna")
    assert olga.send("PATCH", f"/members/{server.account('anna').id}", {"role": "owner"}).status_code == 204
    version = olga.get("/review").json()["settings_version"]
    assert olga.send("PATCH", "/settings", {**SEVERAL, "expect": version}).status_code == 200
    reply = anna.send("PATCH", "/settings", {"screening": "single", "expect": version})
    assert error_of(reply)[:2] == (409, "conflict")
    told = anna.get("/review").json()
    assert (told["settings"]["screening"], told["settings_version"]) == ("all", version + 1)
    assert anna.send("PATCH", "/settings", {"screening": "single", "expect": version + 1}).status_code == 200


def test_a_frozen_review_is_looked_at_and_not_changed(server: TeamServer) -> None:
    anna, olga = server.log_in("anna"), server.log_in("olga")
    queued = anna.show_next()
    since = olga.post("/freeze").json()["frozen_at"]
    assert since is not None
    assert anna.get("/review").json()["frozen_at"] == since
    assert anna.next_documents() == []
    reply = anna.answer(queued["document"]["id"], "relevant", suggestion=queued["suggestion"])
    assert error_of(reply)[:2] == (409, "frozen")
    assert error_of(olga.send("PATCH", "/settings", {"criteria": "x"}))[:2] == (409, "frozen")
    assert anna.get("/export").status_code == 200
    for page in ("", "/search", "/history", "/progress", "/data", "/team", "/settings", "/conflicts"):
        assert anna.client.get(server.page + page).status_code == 200
    assert olga.post("/thaw").json() == {"frozen_at": None}
    assert anna.answer(queued["document"]["id"], "relevant", suggestion=queued["suggestion"]).status_code == 200


def test_everything_that_was_done_is_in_the_audit_trail_and_goes_out_with_it(server: TeamServer) -> None:
    anna, olga = server.log_in("anna"), server.log_in("olga")
    document = read(anna, "relevant", note='=cmd("x")')
    anna.get("/export", format="ris", which="relevant")
    olga.get("/backup")
    olga.post("/members/invite", {"name": "nina", "role": "reader"})
    olga.send("PATCH", "/settings", {"criteria": "any whale"})
    lines = olga.get("/audit", n=200).json()
    done = [(line["who"], line["what"]) for line in lines]
    for one in (("anna", "answered relevant"), ("anna", "exported"), ("olga", "exported"), ("olga", "invited")):
        assert one in done
    assert next(line["details"] for line in lines if line["who"] == "anna" and line["what"] == "exported") == {
        "format": "ris",
        "which": "relevant",
    }
    paged: list[dict[str, object]] = []
    before = None
    while found := olga.get("/audit", n=2, **({} if before is None else {"before": before})).json():
        paged, before = [*paged, *found], found[-1]["place"]
    assert [line["number"] for line in paged] == [line["number"] for line in lines]
    rows = list(csv.DictReader(io.StringIO(olga.get("/audit/export").text.removeprefix("\ufeff"))))
    assert document in [row["document"] for row in rows]
    assert not any(value.startswith("=") for row in rows for value in row.values())
    told = [json.loads(line) for line in olga.get("/audit/export", format="jsonl").text.splitlines()]
    assert told[-1]["details"] == {"format": "csv", "which": "audit"}
    assert "whales-audit.jsonl" in olga.get("/audit/export", format="jsonl").headers["content-disposition"]


def test_an_admin_makes_a_review_fills_it_and_takes_it_home(
    server: TeamServer, tmp_path_factory: pytest.TempPathFactory
) -> None:
    ada = server.log_in("ada").at(API)
    identity = ada.post("/reviews", {"name": "fresh"}).json()["identity"]
    assert [one["role"] for one in ada.get("/reviews").json()] == ["owner"]
    fresh = ada.at(f"{API}/reviews/{identity}")
    assert fresh.next_documents() == []
    for page in ("", "/search", "/history", "/progress", "/data", "/team", "/settings", "/conflicts"):
        assert ada.client.get(f"/reviews/{identity}{page}").status_code == 200
    files = {"file": ("more.csv", NEW)}
    told = ada.client.post(f"{fresh.base}/imports", files=files, headers=fresh.guards).json()
    assert (told["n_rows"], told["problem"], told["arrival"]["n_new"]) == (2, "", 2)
    other = server.log_in("olga")
    assert error_of(other.post(f"/imports/{told['token']}", {}))[:2] == (404, "not_found")  # a file is of its review
    assert fresh.post(f"/imports/{told['token']}", {}).json()["n_new"] == 2
    assert error_of(fresh.post(f"/imports/{told['token']}", {}))[:2] == (404, "not_found")
    assert fresh.get("/review").json()["counts"] == {"relevant": 1, "irrelevant": 0, "maybe": 0, "skip": 0, "unread": 1}
    assert fresh.get("/history").json()[0]["reviewer"] == "ada"
    dropped = ada.client.post(f"{fresh.base}/imports", files=files, headers=fresh.guards).json()["token"]
    assert fresh.send("DELETE", f"/imports/{dropped}").status_code == 204
    assert fresh.send("DELETE", f"/imports/{dropped}").status_code == 404
    left = [path.name for path in server.app.state.house.folder.path.iterdir() if path.name != "lock"]
    assert left == []
    file = tmp_path_factory.mktemp("home") / "fresh.riffler"
    file.write_bytes(fresh.get("/backup").content)
    with open_review(file) as copy:
        assert (copy.name, copy.counts()["relevant"]) == ("fresh", 1)
        assert [path for path in copy.events() if path[1] == "documents"]
    assert fresh.get("/archive").status_code == 200


def test_another_server_takes_the_second_request(server: TeamServer, database: str) -> None:
    olga = server.log_in("olga")
    told = olga.client.post(f"{olga.base}/imports", files={"file": ("more.csv", NEW)}, headers=olga.guards).json()
    anna = server.log_in("anna")
    with serving_team(database) as (_, address):
        there = server.client(cookie="; ".join(f"{name}={value}" for name, value in olga.client.cookies.items()))
        there.base_url = address
        port = olga.client.base_url.port
        headers = {"host": f"127.0.0.1:{port}", "x-csrf-token": olga.csrf, "origin": f"http://127.0.0.1:{port}"}
        reply = there.post(f"{olga.base}/imports/{told['token']}", json={}, headers=headers)
        assert reply.json()["n_new"] == 2
        given = {
            one["document"]["id"] for one in there.get(f"{olga.base}/next", params={"n": 5}, headers=headers).json()
        }
        assert given.isdisjoint(one["document"]["id"] for one in anna.next_documents(5))


def test_pages_show_what_a_role_may_use(server: TeamServer) -> None:
    rita, olga = server.log_in("rita"), server.log_in("olga")
    assert rita.client.get(server.page).headers["location"] == f"{server.page}/progress"
    assert rita.client.get(server.page, params={"document": "d1"}).status_code == 200
    progress = rita.client.get(f"{server.page}/progress").text
    assert f'href="{server.page}/team"' in progress
    assert f'href="{server.page}/settings"' not in progress
    assert f'href="{server.page}/settings"' in olga.client.get(f"{server.page}/progress").text
    for page in ("/", "/account", "/login", "/invitation"):
        assert rita.client.get(page, follow_redirects=True).status_code == 200
    assert server.log_in("ada").client.get("/people").status_code == 200


@pytest.fixture
def own_postgres() -> Iterator[PostgresServer]:
    """Start a PostgreSQL server that a test may kill."""
    programs = server_programs()
    if programs is None:
        pytest.skip("no PostgreSQL")
    with PostgresServer(programs) as one:
        yield one


def test_a_database_that_goes_away_is_said_in_words_and_work_goes_on_when_it_is_back(
    own_postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    cheapen(monkeypatch)
    database = own_postgres.new_database()
    engine: Engine = connect(database)
    prepare_server(engine, "away")
    with team_server(engine, database) as server:
        anna = server.log_in("anna")
        queued = anna.show_next()
        own_postgres.kill()
        answer = {"document": queued["document"]["id"], "verdict": "relevant", "key": "once"}
        for reply in (anna.post("/answers", {"answers": [answer]}), server.client().get(f"{API}/health")):
            status, code, words = error_of(reply)
            assert (status, code) == (503, "storage")
            assert "The database does not answer" in words
            assert "127.0.0.1" not in words
        page = anna.client.get(server.page)
        assert (page.status_code, "The database does not answer" in page.text) == (503, True)
        assert anna.client.get("/static/style.css").status_code == 200
        own_postgres.start()
        assert server.client().get(f"{API}/health").json() == {"status": "ok"}
        first = anna.post("/answers", {"answers": [answer]}).json()["receipts"][0]
        again = anna.post("/answers", {"answers": [answer]}).json()["receipts"][0]
        assert (first["repeated"], again["repeated"], again["id"]) == (False, True, first["id"])
    engine.dispose()
