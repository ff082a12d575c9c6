"""One test for each lock on the door."""

from __future__ import annotations

import hmac
import logging
from pathlib import Path

import httpx
import pytest
from starlette.datastructures import URL
from starlette.requests import Request

from riffler.review.settings import ReviewSettings
from riffler.review.store import Review
from riffler.web import sessions
from riffler.web.security import CONTENT_POLICY
from riffler.web.serving import free_socket
from riffler.web.settings import ServerSettings
from tests.review.reviews import new_review
from tests.waiting import wait_until
from tests.web.visits import API, Visit, error_of, let_in, own_origin, serving, visiting

PAGES = ("/", "/search", "/history", "/progress", "/data", "/settings")


def test_the_server_listens_on_this_machine_alone_unless_told_otherwise(tmp_path: Path) -> None:
    settings = ServerSettings(tmp_path / "r.riffler")
    assert (settings.host, settings.is_local) == ("127.0.0.1", True)
    with free_socket(settings.host, 0) as listening:
        assert listening.getsockname()[0] == "127.0.0.1"


def test_the_printed_address_works_once(file: Path) -> None:
    with serving(file) as (app, client):
        token = app.state.sessions.invite()
        first = client.get("/", params={"token": token})
        assert (first.status_code, first.headers["location"]) == (303, "/")
        assert client.get("/").status_code == 200
        stranger = httpx.Client(base_url=client.base_url, trust_env=False)
        again = stranger.get("/", params={"token": token})
        assert again.status_code == 401
        assert "Press Enter" in again.text
        assert not stranger.cookies
        assert client.get("/", params={"token": token}).status_code == 303  # who is in stays in
        stranger.close()


def test_an_address_is_spent_by_a_browser_that_is_in_already(visit: Visit) -> None:
    token = visit.app.state.sessions.invite()
    reply = visit.client.get("/", params={"token": token})
    assert (reply.status_code, "set-cookie" in reply.headers) == (303, False)
    stranger = httpx.get(f"{own_origin(visit.client)}/", params={"token": token}, trust_env=False)
    assert (stranger.status_code, "set-cookie" in stranger.headers) == (401, False)


def test_an_address_works_for_some_minutes() -> None:
    now = 0.0
    kept = sessions.Sessions(lambda: now)
    in_time, late = kept.invite(), kept.invite()
    now = 60.0 * sessions.INVITATION_MINUTES - 1
    assert kept.spend(in_time)
    now += 1
    assert not kept.spend(late)


def test_looking_at_the_address_without_opening_it_does_not_spend_it(file: Path) -> None:
    with serving(file) as (app, client):
        token = app.state.sessions.invite()
        assert client.head("/", params={"token": token}).status_code == 401
        assert client.get("/", params={"token": token}).status_code == 303


def test_a_link_in_another_page_lets_in_by_a_page_of_our_own(file: Path) -> None:
    # a redirect that another site began would come without the strict cookie
    with serving(file) as (app, client):
        token = app.state.sessions.invite()
        reply = client.get("/", params={"token": token}, headers={"sec-fetch-site": "cross-site"})
        assert reply.status_code == 200
        assert "url=/" in reply.text
        assert client.get("/").status_code == 200


def test_the_cookie_is_kept_from_scripts_and_other_sites(file: Path) -> None:
    with serving(file) as (app, client):
        reply = client.get("/", params={"token": app.state.sessions.invite()})
        parts = reply.headers["set-cookie"].split("; ")
        assert parts[0].startswith(f"riffler-{client.base_url.port}=")
        assert {part.lower() for part in parts[1:]} == {"httponly", "path=/", "samesite=strict"}


def test_everything_but_the_style_is_locked(file: Path) -> None:
    with serving(file) as (app, client):
        assert client.get("/static/style.css").status_code == 200
        for page in PAGES:
            reply = client.get(page)
            assert reply.status_code == 401
            assert "locked" in reply.text
        paths = [(method, path) for path, ways in app.openapi()["paths"].items() for method in ways]
        assert len(paths) > 25
        for method, path in paths:
            assert client.request(method.upper(), path.replace("{", "1").replace("}", "")).status_code == 401
        assert client.get(f"{API}/openapi.json").status_code == 401
        assert client.get(f"{API}/nothing").status_code == 401


def test_sessions_end_with_the_server(file: Path) -> None:
    with visiting(file) as visit:
        (value,) = visit.client.cookies.values()
    with serving(file) as (app, client):
        client.cookies.set(app.state.settings.cookie, value)
        assert client.get(f"{API}/review").status_code == 401


@pytest.mark.parametrize("guess", ["", "wrong", None])
def test_a_change_without_the_pages_csrf_token_is_refused(visit: Visit, guess: str | None) -> None:
    headers = {"origin": own_origin(visit.client)} | ({} if guess is None else {"x-csrf-token": guess})
    reply = visit.client.post(f"{API}/undo", json={"key": "k"}, headers=headers)
    assert error_of(reply)[:2] == (403, "forbidden")
    assert visit.client.delete(f"{API}/tokens/1", headers=headers).status_code == 403
    assert visit.client.patch(f"{API}/settings", json={"criteria": "x"}, headers=headers).status_code == 403
    assert visit.review.settings.criteria == ""


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1", "", None])
def test_a_change_from_another_origin_is_refused(visit: Visit, origin: str | None) -> None:
    headers = {"x-csrf-token": visit.csrf} | ({} if origin is None else {"origin": origin})
    reply = visit.client.post(f"{API}/tags", json={"document": "d1", "tag": "t", "key": "k"}, headers=headers)
    assert reply.status_code == 403
    assert visit.review.tags() == []


def test_the_browser_is_believed_when_it_says_another_site_asks(visit: Visit) -> None:
    for site in ("cross-site", "same-site"):
        assert visit.client.get(f"{API}/review", headers={"sec-fetch-site": site}).status_code == 403
        reply = visit.client.post(f"{API}/undo", json={"key": "k"}, headers={**visit.guards, "sec-fetch-site": site})
        assert reply.status_code == 403
    assert visit.client.get(f"{API}/review", headers={"sec-fetch-site": "none"}).status_code == 200


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
def test_what_a_form_of_another_page_could_send_is_refused(visit: Visit, kind: str) -> None:
    body = '{"document": "d1", "tag": "t", "key": "k"}'
    reply = visit.client.post(f"{API}/tags", content=body, headers={**visit.guards, "content-type": kind})
    assert error_of(reply)[:2] == (415, "wrong_type")
    assert visit.review.tags() == []


def test_a_json_body_cannot_be_an_upload(visit: Visit) -> None:
    assert error_of(visit.post("/imports", {"file": "x"}))[:2] == (415, "wrong_type")


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil_name.example:8765", "127.0.0.1.evil.example", "192.168.1.5", "a b", "localhost@evil", ""],
)
def test_another_name_for_this_machine_is_refused(visit: Visit, host: str) -> None:
    # a page elsewhere can make its own name point here, and would then be of the same origin
    for path in ("/", f"{API}/review", "/static/style.css"):
        reply = visit.client.get(path, headers={"host": host})
        assert reply.status_code == 403
        assert "whales" not in reply.text


@pytest.mark.parametrize("host", ["127.0.0.1:1/static/x?", "localhost:1@evil", "127.0.0.1:x", "[::1]x", "localhost#"])
def test_a_host_that_is_more_than_a_name_and_a_port_is_refused(file: Path, host: str) -> None:
    # put before the path it would make one of its own, which is not locked
    with serving(file) as (_, client):
        for path in (f"{API}/review", "/static/style.css"):
            reply = client.get(path, headers={"host": host})
            assert reply.status_code == 403
            assert "whales" not in reply.text


def test_what_is_locked_is_decided_by_the_path_and_not_by_an_address_with_the_host(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Request, "url", URL("http://127.0.0.1:1/static/x"))
    with serving(file) as (_, client):
        assert client.get(f"{API}/review").status_code == 401


def test_names_of_this_machine_are_accepted(visit: Visit) -> None:
    port = visit.client.base_url.port
    for host in (f"localhost:{port}", f"127.0.0.1:{port}", f"[::1]:{port}", "LOCALHOST"):
        assert visit.client.get(f"{API}/review", headers={"host": host}).status_code == 200


def test_over_the_network_numbers_and_the_names_that_were_given_are_accepted(file: Path) -> None:
    settings = ServerSettings(file, host="0.0.0.0", allowed_hosts=("lab.example",))
    with visiting(file, settings) as visit:
        for host, status in (("lab.example", 200), ("192.168.1.5:8765", 200), ("evil.example", 403)):
            assert visit.client.get(f"{API}/review", headers={"host": host}).status_code == status


def test_every_answer_forbids_the_browser_what_no_page_needs(visit: Visit) -> None:
    answers = [visit.client.get(path) for path in (*PAGES, "/static/style.css", "/nowhere", f"{API}/review")]
    answers += [visit.post("/undo", {"key": "k"}), visit.client.post(f"{API}/undo"), visit.get("/export")]
    answers.append(httpx.get(f"{own_origin(visit.client)}/", trust_env=False))
    for reply in answers:
        assert reply.headers["content-security-policy"] == CONTENT_POLICY
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert reply.headers["referrer-policy"] == "no-referrer"
        assert reply.headers["x-frame-options"] == "DENY"
        assert "server" not in reply.headers
        if "/static/" not in str(reply.url):
            assert reply.headers["cache-control"] == "no-store"
    assert "unsafe" not in CONTENT_POLICY
    assert "default-src 'none'" in CONTENT_POLICY
    assert "frame-ancestors 'none'" in CONTENT_POLICY


def test_files_of_the_page_are_kept_by_the_browser_only_with_their_version(visit: Visit) -> None:
    assert visit.client.get("/static/style.css").headers["cache-control"] == "no-cache"
    assert "immutable" in visit.client.get("/static/style.css", params={"v": "1"}).headers["cache-control"]


@pytest.mark.parametrize("path", ["/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2f..%2fpy.typed"])
def test_only_files_of_the_page_are_sent(visit: Visit, path: str) -> None:
    reply = visit.client.get(path)
    assert reply.status_code == 404
    assert "import" not in reply.text


def test_no_html_of_a_document_or_a_setting_is_part_of_a_page(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script><img src=x onerror=alert(2)>"
    with new_review(tmp_path, ReviewSettings(criteria=evil, description=evil, highlight=(evil,))) as review:
        review.name = evil
    with visiting(review.path) as visit:
        visit.review.name = evil
        visit.answer("d0", "relevant", note=evil)
        visit.post("/tags", {"document": "d0", "tag": evil, "key": "t"})
        visit.post("/tokens", {"name": evil})
        for page in (*PAGES, f"/search?q={evil}", f"/history?words={evil}", f"/{evil}"):
            reply = visit.client.get(page)
            assert "<script>alert" not in reply.text
            assert "<img src=x" not in reply.text
        for path in ("/review", "/document?id=d0", "/history", "/tokens"):
            reply = visit.client.get(f"{API}{path}")
            assert reply.headers["content-type"] == "application/json"
            assert reply.headers["x-content-type-options"] == "nosniff"
        assert "<" not in visit.get("/export").headers["content-disposition"]


def test_a_large_body_is_refused_before_it_is_read(visit: Visit) -> None:
    body = {"document": "d1", "text": "x" * 2_000_000, "key": "k"}
    assert error_of(visit.post("/notes", body))[:2] == (413, "too_large")

    def pieces() -> list[bytes]:
        return [b" " * 100_000] * 20

    headers = {**visit.guards, "content-type": "application/json"}
    reply = visit.client.post(f"{API}/notes", content=iter(pieces()), headers=headers)
    assert error_of(reply)[:2] == (413, "too_large")


def test_a_fault_says_nothing_of_our_source_or_of_what_was_written(
    visit: Visit, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(self: Review) -> dict[str, int]:
        raise ZeroDivisionError("the patient's name")

    monkeypatch.setattr(Review, "counts", broken)
    with caplog.at_level(logging.INFO):
        reply = visit.get("/review")
    assert error_of(reply)[:2] == (500, "fault")
    for secret in ("Traceback", "ZeroDivision", "patient", ".py"):
        assert secret not in reply.text
    assert "ZeroDivisionError in broken" in caplog.text
    assert "patient" not in caplog.text
    page = visit.client.get("/progress")
    assert page.status_code == 500
    assert "Traceback" not in page.text
    assert reply.headers["content-security-policy"] == CONTENT_POLICY


def test_many_wrong_tokens_are_slowed_and_shut_nobody_out_who_has_a_right_one(file: Path) -> None:
    with serving(file) as (app, client):
        secret = app.state.review.make_token("script")[1]
        linked = {"sec-fetch-site": "cross-site", "sec-fetch-dest": "image"}  # any site can make a browser ask for this
        for _ in range(sessions.BAD_TRIES):
            assert client.get("/", params={"token": "wrong"}, headers=linked).status_code == 401
        reply = client.get(f"{API}/review", headers={"authorization": "Bearer wrong"})
        assert error_of(reply)[:2] == (429, "too_many_tries")
        assert 1 <= int(reply.headers["retry-after"]) <= 61
        assert client.get("/", params={"token": "wrong"}).status_code == 429
        assert client.get(f"{API}/review", headers={"authorization": f"Bearer {secret}"}).status_code == 200
        assert client.get("/", params={"token": app.state.sessions.invite()}).status_code == 303


def test_a_browser_that_is_in_does_not_notice_wrong_tokens(visit: Visit) -> None:
    for _ in range(sessions.BAD_TRIES + 1):
        httpx.get(f"{own_origin(visit.client)}/?token=wrong", trust_env=False)
    assert visit.get("/review").status_code == 200


def test_the_count_of_wrong_tokens_is_forgotten_after_a_while() -> None:
    now = 0.0
    tries = sessions.BadTries(lambda: now)
    for _ in range(sessions.BAD_TRIES):
        assert tries.wait_seconds("here") == 0
        tries.note("here")
    assert tries.wait_seconds("here") > 0
    assert tries.wait_seconds("elsewhere") == 0
    now = sessions.WINDOW_SECONDS
    assert tries.wait_seconds("here") == 0


def test_secrets_are_compared_in_constant_time_and_kept_as_digests(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[tuple[object, object]] = []

    def watch(one: str | bytes, other: str | bytes) -> bool:
        compared.append((one, other))
        return one == other

    monkeypatch.setattr(hmac, "compare_digest", watch)
    kept = sessions.Sessions()
    invitation = kept.invite()
    assert not kept.spend("wrong")
    assert invitation not in repr(vars(kept))
    assert kept.spend(invitation)
    assert len(compared) == 2
    cookie = kept.begin()
    sessions.same_secret("a", "b")
    assert compared[-1] == (b"a", b"b")
    assert cookie not in repr(vars(kept))


def test_a_program_comes_in_with_a_token_and_without_cookies(file: Path) -> None:
    with serving(file) as (app, client):
        visit = let_in(app, httpx.Client(base_url=client.base_url, trust_env=False))
        made = visit.post("/tokens", {"name": "script"}).json()
        bearer = {"authorization": f"Bearer {made['token']}"}
        body = {"answers": [{"document": "d1", "verdict": "relevant", "key": "k"}]}
        assert client.post(f"{API}/answers", json=body, headers=bearer).status_code == 200
        assert not client.cookies
        assert client.get("/", headers=bearer).status_code == 401  # pages are for browsers
        wait_until(lambda: visit.get("/tokens").json()[0]["last_used_at"])  # written down after the reply
        (listed,) = visit.get("/tokens").json()
        assert "token" not in listed
        assert made["token"] not in visit.get("/tokens").text
        assert visit.send("DELETE", f"/tokens/{made['id']}").status_code == 204
        reply = client.get(f"{API}/review", headers=bearer)
        assert error_of(reply)[:2] == (401, "not_let_in")
        assert reply.headers["www-authenticate"] == "Bearer"
        assert visit.send("DELETE", "/tokens/99").status_code == 404
        visit.client.close()


@pytest.mark.parametrize("header", ["Basic abc", "Bearer", "x", "Bearer a b"])
def test_other_ways_to_say_who_one_is_are_refused(file: Path, header: str) -> None:
    with serving(file) as (_, client):
        assert client.get(f"{API}/review", headers={"authorization": header}).status_code == 401
