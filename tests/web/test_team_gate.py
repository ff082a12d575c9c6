"""The door of a team's server: who comes in, how, and for how long."""

from __future__ import annotations

import httpx

from riffler.team.tries import OF_ADDRESS, OF_NAME_AND_ADDRESS
from tests.team.teams import PASSWORD
from tests.web.teams import TeamServer
from tests.web.visits import API, error_of, own_origin


def try_log_in(client: httpx.Client, name: str, password: str, **headers: str) -> httpx.Response:
    given = {"name": name, "password": password}
    return client.post(f"{API}/login", json=given, headers={"origin": own_origin(client), **headers})


def test_somebody_logs_in_reads_and_logs_out(server: TeamServer) -> None:
    anna = server.log_in("anna")
    assert anna.at(API).get("/me").json() == {"name": "anna", "is_admin": False}
    (review,) = anna.at(API).get("/reviews").json()
    assert (review["name"], review["role"], review["identity"]) == ("whales", "reviewer", server.team.review.identity)
    told = anna.get("/review").json()
    assert (told["role"], told["identity"], told["frozen_at"]) == ("reviewer", review["identity"], None)
    assert (told["open"], told["learner"]["alive"]) == ({"waiting": 0, "conflicts": 0, "held": 0}, False)
    cookie = dict(anna.client.cookies)
    assert anna.at(API).post("/logout").status_code == 204
    assert not anna.client.cookies
    anna.client.cookies.update(cookie)  # one that was kept opens nothing any more
    assert error_of(anna.get("/review"))[:2] == (401, "not_let_in")


def test_a_wrong_name_or_password_is_refused_in_the_same_words(server: TeamServer) -> None:
    client = server.client()
    told = {try_log_in(client, *given).text for given in (("anna", "wrong"), ("nobody", PASSWORD))}
    assert len(told) == 1
    assert error_of(try_log_in(client, "anna", "wrong"))[:2] == (401, "refused")
    assert not client.cookies


def test_who_guesses_passwords_has_to_wait_and_others_do_not(server: TeamServer) -> None:
    client = server.client()
    for _ in range(OF_NAME_AND_ADDRESS):
        assert try_log_in(client, "anna", "wrong").status_code == 401
    reply = try_log_in(client, "anna", PASSWORD)
    assert error_of(reply)[:2] == (429, "too_many_tries")
    assert int(reply.headers["retry-after"]) > 0
    assert server.log_in("bert").get("/review").status_code == 200


def test_wrong_keys_and_invitations_are_counted_and_a_right_key_is_let_in(server: TeamServer) -> None:
    client, right = server.client(), server.program("anna")[0]
    for number in range(OF_ADDRESS):
        if number % 2:
            reply = client.get(f"{server.base}/review", headers={"authorization": "Bearer wrong"})
            assert error_of(reply)[:2] == (401, "not_let_in")
        else:
            reply = client.post(
                f"{API}/invitations/look", json={"secret": "wrong"}, headers={"origin": own_origin(client)}
            )
            assert error_of(reply)[:2] == (404, "not_found")
    reply = client.get(f"{server.base}/review", headers={"authorization": "Bearer wrong"})
    assert error_of(reply)[:2] == (429, "too_many_tries")
    assert int(reply.headers["retry-after"]) > 0
    reply = client.post(f"{API}/invitations/look", json={"secret": "wrong"}, headers={"origin": own_origin(client)})
    assert reply.status_code == 429
    assert right.get(f"{server.base}/review").status_code == 200


def test_the_cookie_is_kept_from_scripts_and_is_of_https_alone_where_there_is_https(server: TeamServer) -> None:
    client = server.client()
    parts = try_log_in(client, "anna", PASSWORD).headers["set-cookie"].split("; ")
    assert parts[0].startswith(f"riffler-team-{client.base_url.port}=")
    assert {"HttpOnly", "Path=/", "SameSite=lax"} < set(parts)
    assert "Secure" not in parts
    secured = server.client(**{"x-forwarded-proto": "https"})  # as a proxy on this machine says
    parts = try_log_in(secured, "anna", PASSWORD).headers["set-cookie"].split("; ")
    assert parts[0].startswith("__Host-riffler=")
    assert {"HttpOnly", "Path=/", "SameSite=lax", "Secure"} < set(parts)
    assert not any(part.lower().startswith("domain") for part in parts)
    secret = parts[0].partition("=")[2]
    plain = {"cookie": f"riffler-team-{client.base_url.port}={secret}"}
    assert server.client(**{"x-forwarded-proto": "https"}, **plain).get(f"{API}/me").status_code == 401
    own = {"cookie": f"__Host-riffler={secret}"}
    assert server.client(**{"x-forwarded-proto": "https"}, **own).get(f"{API}/me").status_code == 200


def test_a_log_in_ends_the_visit_of_the_cookie_that_the_browser_had(server: TeamServer) -> None:
    anna = server.log_in("anna")
    (before,) = anna.client.cookies.values()
    again = server.log_in("bert", anna.client)
    (after,) = again.client.cookies.values()
    assert after != before
    assert server.people.visitor(before) is None
    assert again.at(API).get("/me").json()["name"] == "bert"


def test_a_cookie_that_somebody_planted_is_not_taken_over(server: TeamServer) -> None:
    client = server.client()
    client.cookies.set(f"riffler-team-{client.base_url.port}", "planted")
    reply = try_log_in(client, "anna", PASSWORD)
    assert "planted" not in reply.headers["set-cookie"]
    assert server.people.visitor("planted") is None


def test_a_change_needs_the_pages_csrf_token_and_origin(server: TeamServer) -> None:
    olga, anna = server.log_in("olga"), server.log_in("anna")
    body = {"criteria": "x"}
    for headers in (
        {"origin": own_origin(olga.client)},
        {"origin": own_origin(olga.client), "x-csrf-token": anna.csrf},
        {"origin": "http://evil.example", "x-csrf-token": olga.csrf},
        {"x-csrf-token": olga.csrf},
        {**olga.guards, "sec-fetch-site": "cross-site"},
    ):
        reply = olga.client.patch(f"{server.base}/settings", json=body, headers=headers)
        assert error_of(reply)[:2] == (403, "forbidden")
    assert olga.send("PATCH", "/settings", body).status_code == 200


def test_the_entrance_takes_json_of_its_own_pages_only(server: TeamServer) -> None:
    client = server.client()
    for path in ("/login", "/invitations/look", "/invitations/accept"):
        for headers in ({}, {"origin": "http://evil.example"}, {"origin": "null"}):
            reply = client.post(API + path, json={"name": "anna", "password": PASSWORD}, headers=headers)
            assert error_of(reply)[:2] == (403, "forbidden"), path
        form = {"origin": own_origin(client), "content-type": "application/x-www-form-urlencoded"}
        assert client.post(API + path, content="name=anna", headers=form).status_code == 415, path


def test_a_page_leads_to_the_log_in_and_back(server: TeamServer) -> None:
    client = server.client()
    reply = client.get(f"{server.page}/history", params={"words": "a b"})
    assert reply.status_code == 303
    assert reply.headers["location"] == f"/login?to={server.page}/history%3Fwords%3Da%2Bb"
    assert client.get("/").headers["location"] == "/login"
    anna = server.log_in("anna")
    back = anna.client.get(reply.headers["location"])
    assert (back.status_code, back.headers["location"]) == (303, f"{server.page}/history?words=a+b")
    assert anna.client.get(back.headers["location"]).status_code == 200


def test_the_log_in_leads_nowhere_else(server: TeamServer) -> None:
    stranger, known = server.client(), server.log_in("anna").client
    for to in (
        "https://evil.example", "//evil.example", "/\\evil.example", "\\\\evil.example", "javascript:alert(1)",
        "/\t/evil.example", "evil.example", "///evil.example", "/login?to=/login",
    ):  # fmt: skip
        page = stranger.get("/login", params={"to": to})
        assert page.status_code == 200
        assert "evil" not in page.text
        reply = known.get("/login", params={"to": to})
        assert (reply.status_code, reply.headers["location"]) == (303, "/"), to


def test_a_link_in_another_page_leads_to_a_page_and_to_nothing_else(server: TeamServer) -> None:
    anna = server.log_in("anna")
    linked = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert anna.client.get(f"{server.page}/progress", headers=linked).status_code == 200
    assert server.client().get("/invitation", headers=linked).status_code == 200
    assert anna.client.get(f"{server.base}/review", headers=linked).status_code == 403
    embedded = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"}
    assert anna.client.get(f"{server.page}/progress", headers=embedded).status_code == 403


def test_a_revoked_key_opens_nothing(server: TeamServer) -> None:
    program, number = server.program("anna")
    assert program.get(f"{server.base}/next").status_code == 200
    assert server.log_in("anna").send("DELETE", f"/tokens/{number}").status_code == 204
    assert error_of(program.get(f"{server.base}/next"))[:2] == (401, "not_let_in")


def test_people_see_and_revoke_their_own_keys_and_owners_those_of_all(server: TeamServer) -> None:
    of_anna, of_bert = server.program("anna")[1], server.program("bert")[1]
    anna, olga = server.log_in("anna"), server.log_in("olga")
    assert [(one["id"], one["reviewer"]) for one in anna.get("/tokens").json()] == [(of_anna, "anna")]
    assert anna.send("DELETE", f"/tokens/{of_bert}").status_code == 404
    assert {one["reviewer"] for one in olga.get("/tokens").json()} == {"anna", "bert"}
    assert olga.send("DELETE", f"/tokens/{of_bert}").status_code == 204


def test_a_key_opens_its_review_and_nothing_else(server: TeamServer) -> None:
    gulls = server.office.create("more gulls", by=server.account("olga").id)
    program, _ = server.program("olga")
    assert program.get(f"{server.base}/review").status_code == 200
    reply = program.get(f"{API}/reviews/{gulls.identity}/review")
    assert error_of(reply) == (404, "not_found", "There is no such review.")
    assert error_of(program.get(f"{API}/reviews"))[:2] == (403, "not_allowed")
    assert program.get("/").status_code == 303  # pages are for browsers


def test_who_is_removed_in_the_middle_of_a_document_gets_nothing_more_and_others_get_it(server: TeamServer) -> None:
    anna, bert, olga = (server.log_in(name) for name in ("anna", "bert", "olga"))
    queued = anna.show_next()
    document = queued["document"]["id"]
    assert document not in [one["document"]["id"] for one in bert.next_documents(10)]
    assert olga.send("DELETE", f"/members/{server.account('anna').id}").status_code == 204
    reply = anna.answer(document, "relevant", suggestion=queued["suggestion"])
    assert error_of(reply) == (404, "not_found", "There is no such review.")
    assert anna.get("/next").status_code == 404
    assert anna.at(API).get("/reviews").json() == []
    assert document in [one["document"]["id"] for one in bert.next_documents(10)]
    (line,) = [one for one in olga.get("/audit").json() if one["what"] == "member left"]
    assert (line["who"], line["details"]["account"]) == ("olga", "anna")


def test_a_member_of_no_review_cannot_tell_whether_there_is_one(server: TeamServer) -> None:
    sven, admin = server.log_in("sven"), server.log_in("ada")
    nowhere = f"{API}/reviews/00000000-0000-0000-0000-000000000000"
    for browser in (sven, admin):
        told = {
            browser.client.get(base + path).text
            for base in (server.base, nowhere)
            for path in ("", "/review", "/nothing", "/members/x/y")
        }
        assert len(told) == 1
        assert "There is no such review." in told.pop()
        pages = {browser.client.get(page).status_code for page in (server.page, f"{server.page}/nothing")}
        assert pages == {404}


def test_a_closed_account_is_out_at_once(server: TeamServer) -> None:
    anna, ada = server.log_in("anna"), server.log_in("ada").at(API)
    program, _ = server.program("anna")
    assert ada.post(f"/accounts/{server.account('anna').id}/close").status_code == 204
    assert anna.get("/next").status_code == 401
    assert program.get(f"{server.base}/next").status_code == 401
    assert try_log_in(server.client(), "anna", PASSWORD).status_code == 401


def test_a_new_password_ends_other_visits_and_the_old_one_must_be_right(server: TeamServer) -> None:
    here, there = server.log_in("anna").at(API), server.log_in("anna").at(API)
    wrong = {"old": "wrong", "new": "gulls cry at dawn"}
    assert error_of(here.post("/me/password", wrong))[:2] == (401, "refused")
    assert error_of(here.post("/me/password", {"old": PASSWORD, "new": "short"}))[:2] == (400, "bad_input")
    assert here.post("/me/password", {"old": PASSWORD, "new": "gulls cry at dawn"}).status_code == 204
    assert (here.get("/me").status_code, there.get("/me").status_code) == (200, 401)
    assert try_log_in(server.client(), "anna", "gulls cry at dawn").status_code == 200


def test_an_invitation_makes_an_account_and_leads_to_the_review_once(server: TeamServer) -> None:
    olga = server.log_in("olga")
    told = olga.post("/members/invite", {"name": None, "role": "reviewer"}).json()
    assert told["joined"] is False
    where, _, secret = told["address"].partition("/invitation#")
    assert where == server.address
    client = server.client()
    own = {"origin": own_origin(client)}
    assert client.get("/invitation").status_code == 200
    offer = client.post(f"{API}/invitations/look", json={"secret": secret}, headers=own).json()
    assert offer == {
        "name": None, "review": "whales", "role": "reviewer", "is_admin": False, "is_reset": False, "by": "olga",
    }  # fmt: skip
    given = {"secret": secret, "name": "nina", "password": PASSWORD}
    reply = client.post(f"{API}/invitations/accept", json=given, headers=own)
    assert reply.json() == {"name": "nina", "base": server.page}
    assert client.get(f"{server.base}/review").json()["role"] == "reviewer"
    assert client.get(server.page).status_code == 200
    again = server.client()
    reply = again.post(f"{API}/invitations/accept", json=given, headers={"origin": own_origin(again)})
    assert error_of(reply)[:2] == (404, "not_found")
    assert not again.cookies


def test_who_has_an_account_joins_with_it(server: TeamServer) -> None:
    olga, sven = server.log_in("olga"), server.log_in("sven").at(API)
    address = olga.post("/members/invite", {"name": None, "role": "reader"}).json()["address"]
    secret = address.partition("#")[2]
    assert sven.client.post(f"{API}/invitations/join", json={"secret": secret}).status_code == 403  # without its guards
    assert sven.post("/invitations/join", {"secret": secret}).json() == {"base": server.page}
    assert sven.client.get(f"{server.base}/review").json()["role"] == "reader"
    told = olga.post("/members/invite", {"name": "ADA", "role": "reader"}).json()
    assert told == {"address": server.address + server.page, "joined": True}


def test_a_server_is_well_as_long_as_its_database_is(server: TeamServer) -> None:
    assert server.client().get(f"{API}/health").json() == {"status": "ok"}
