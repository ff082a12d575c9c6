"""Who may do what, tried out: every address of a team's server by everybody, with cookies and with keys."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from starlette.routing import Mount

from riffler.review.database import connect
from riffler.review.upgrade import make_tables, prepare_server
from riffler.web.access import Access, of_one_review, of_team
from riffler.web.app import make_app
from riffler.web.settings import ServerSettings, TeamSettings
from riffler.web.team_app import make_team_app
from tests.postgres import PostgresServer
from tests.team.people import cheapen
from tests.web.teams import TeamServer, team_server
from tests.web.visits import own_origin

# Lines are those who come; a column is a group of addresses below. "key" is a program with a token of that person.
WHO_MAY = """
                anyone  account  admin  reader  reviewer  keys  owner  people
    nobody      yes     -        -      -       -         -     -      -
    rita        yes     yes      -      yes     -         -     -      -
    anna        yes     yes      -      yes     yes       yes   -      -
    olga        yes     yes      -      yes     yes       yes   yes    yes
    sven        yes     yes      -      -       -         -     -      -
    ada         yes     yes      yes    -       -         -     -      -
    rita key    yes     -        -      yes     -         -     -      -
    anna key    yes     -        -      yes     yes       -     -      -
    olga key    yes     -        -      yes     yes       -     yes    -
    sven key    yes     -        -      -       -         -     -      -
"""
# rita looks, anna reads, olga owns, sven owns another review, ada looks after the server and takes part in nothing.

SERVER = {
    "anyone": """
        GET /login                        GET /invitation                      GET /api/v1/health
        GET /api/v1/openapi.json          POST /api/v1/login                   POST /api/v1/invitations/look
        POST /api/v1/invitations/accept
    """,
    "account": """
        GET /                             GET /account                         GET /api/v1/me
        GET /api/v1/reviews               POST /api/v1/me/password             POST /api/v1/invitations/join
        POST /api/v1/logout
    """,
    "admin": """
        GET /people                       POST /api/v1/reviews                 GET /api/v1/accounts
        POST /api/v1/accounts/invite      POST /api/v1/accounts/{id}/reset     POST /api/v1/accounts/{id}/close
        POST /api/v1/accounts/{id}/reopen PUT /api/v1/accounts/{id}/admin      GET /api/v1/acts
        GET /api/v1/invitations           DELETE /api/v1/invitations/{id}
    """,
}
REVIEW_PAGES = {
    "reader": "GET /search GET /history GET /progress GET /progress/panel GET /data GET /team GET /",
    "reviewer": "GET /conflicts GET /settings",
}
REVIEW_API = {
    "reader": """
        GET /review       GET /document     GET /tags         GET /search       GET /history      GET /progress
        GET /terms        GET /charts/{n}   GET /export       GET /prisma       GET /members      GET /agreement
        GET /history/export
    """,
    "reviewer": """
        GET /next         POST /answers     POST /undo        POST /notes       POST /tags        POST /untag
        GET /conflicts    POST /conflicts   POST /leave       GET /tokens       DELETE /tokens/{id}
        POST /suggestions/{id}/shown
    """,
    "keys": "POST /tokens",
    "owner": """
        PATCH /settings   POST /imports     POST /imports/{t} DELETE /imports/{t}                 GET /backup
        GET /archive      GET /audit        GET /audit/export GET /invitations  DELETE /invitations/{id}
        DELETE /members/{id}                POST /freeze      POST /thaw
    """,
    "people": "PATCH /members/{id} POST /members/invite",
}
NOBODYS = "999999"  # the number of nothing: what is allowed finds nothing to do


def addresses(identity: str) -> dict[str, str]:
    """Return every address of a server with one review, such as "GET /login", and its group."""
    found = {}
    for tables, before in (
        (SERVER, ""),
        (REVIEW_PAGES, f"/reviews/{identity}"),
        (REVIEW_API, f"/api/v1/reviews/{identity}"),
    ):
        for group, text in tables.items():
            words = text.split()
            for method, path in zip(words[::2], words[1::2], strict=True):
                below = (before + path).removesuffix("/") or "/"
                found[f"{method} {below}"] = group
    return found


def who_may() -> dict[str, dict[str, bool]]:
    """Return the groups that each of those who come may use."""
    header, *lines = WHO_MAY.strip().splitlines()
    groups = header.split()
    table = {}
    for line in lines:
        words = line.split()
        table[" ".join(words[: -len(groups)])] = dict(
            zip(groups, (word == "yes" for word in words[-len(groups) :]), strict=True)
        )
    return table


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def whole_server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TeamServer]:
    """Run one server for all visitors, on each kind of database."""
    if request.param == "postgres":
        postgres: PostgresServer = request.getfixturevalue("postgres")
        database = postgres.new_database()
        engine = connect(database)
        prepare_server(engine, "access")
    else:
        file: Path = tmp_path_factory.mktemp("access") / "office.riffler"
        file.touch()
        database, engine = str(file), connect(file)
        make_tables(engine)
    with pytest.MonkeyPatch.context() as patch:
        cheapen(patch)
        with team_server(engine, database) as server:
            yield server
    engine.dispose()


@pytest.mark.parametrize("who", who_may())
def test_everybody_may_do_what_the_table_says_and_nothing_else(whole_server: TeamServer, who: str) -> None:
    server = whole_server
    client, guards = comer(server, who)
    found, expected = {}, {}
    # logging out comes last: it is allowed to those who have something to lose by it
    for address, group in sorted(addresses(server.team.review.identity).items(), key=lambda one: "logout" in one[0]):
        method, path = address.split()
        path = path.replace("{id}", NOBODYS).replace("{t}", "nothing").replace("{n}", "recall")
        body = None if method == "GET" else "{}"  # what needs more says so, after it has let somebody in
        reply = client.request(method, path, content=body, headers=guards)
        is_page_for_program = who.endswith("key") and "/api/" not in address  # keys are of no use at pages
        expected[address] = who_may()[who][group if not is_page_for_program or group == "anyone" else "account"]
        found[address] = is_let_in(reply)
        assert reply.status_code < 500, (address, reply.text)
    assert found == expected


def comer(server: TeamServer, who: str) -> tuple[httpx.Client, dict[str, str]]:
    """Return a client of who comes, and the headers that its pages send."""
    kind = {"content-type": "application/json"}
    name, _, is_program = who.partition(" ")
    if who == "nobody":
        client = server.client()
        return client, {"origin": own_origin(client), **kind}
    if is_program:
        return key_of(server, name), kind
    browser = server.log_in(name)
    return browser.client, {**browser.guards, **kind}


def key_of(server: TeamServer, name: str) -> httpx.Client:
    account = server.account(name).id
    (review_id, *_) = [one.review_id for one in server.people.reviews_of(account)]
    secret = server.people.make_token(review_id, account, "script")[1]
    return server.client(authorization=f"Bearer {secret}")


def is_let_in(reply: httpx.Response) -> bool:
    """Whether the gate let a request pass, whatever was made of it then."""
    is_sent_to_log_in = reply.status_code == 303 and reply.headers["location"].startswith("/login")
    is_unknown = reply.status_code == 404 and "There is no such review." in reply.text
    is_too_little = reply.status_code == 403 and ("needs the role" in reply.text or "Only an admin" in reply.text)
    is_other_key = reply.status_code == 403 and ("A key opens the review" in reply.text or "A key makes" in reply.text)
    is_not_logged_in = reply.status_code == 401 and "not logged in" in reply.text
    return not (is_sent_to_log_in or is_unknown or is_too_little or is_other_key or is_not_logged_in)


def routes_of(app: FastAPI) -> set[tuple[str, str]]:
    """Return method and template of all routes, as the app itself knows them."""
    from fastapi import routing

    walk = getattr(routing, "iter_route_contexts", iter)  # newer versions keep included routers apart
    routes: list[Any] = [route for route in walk(app.routes) if not isinstance(getattr(route, "route", route), Mount)]
    return {(method, route.path) for route in routes for method in route.methods if method != "HEAD"}


@pytest.mark.parametrize(
    ("app", "access"),
    [
        (make_app(ServerSettings(Path("none.riffler"))), of_one_review()),
        (make_team_app(TeamSettings("none.riffler")), of_team()),
    ],
    ids=["solo", "team"],
)
def test_every_route_has_a_rule_and_every_rule_a_route(app: FastAPI, access: Access) -> None:
    routes = {(method, path) for method, path in routes_of(app) if not path.startswith("/static/")}
    assert len(routes) > 30
    assert routes == {(rule.method, rule.template) for rule in access.rules}


@pytest.mark.parametrize("access", [of_one_review(), of_team()], ids=["solo", "team"])
def test_no_address_has_two_rules(access: Access) -> None:
    for rule in access.rules:
        path = rule.template.replace("{", "").replace("}", "")
        assert (
            len([1 for pattern, other in access._patterns if pattern.fullmatch(path) and other.method == rule.method])
            == 1
        )


def test_a_route_without_a_rule_is_reached_by_nobody(whole_server: TeamServer) -> None:
    server = whole_server
    server.app.add_api_route("/api/v1/forgotten", lambda: "secret", methods=["GET", "POST"])
    server.app.add_api_route("/api/v1/reviews/{review}/forgotten", lambda: "secret")
    for name in ("ada", "olga"):
        browser = server.log_in(name)
        for path in ("/api/v1/forgotten", f"{server.base}/forgotten"):
            assert browser.client.get(path).status_code == 404
        assert browser.client.post("/api/v1/forgotten", headers=browser.guards).status_code == 404


def test_another_method_than_the_rules_have_is_told_which_there_are(whole_server: TeamServer) -> None:
    reply = whole_server.log_in("olga").send("PUT", "/settings", {})
    assert (reply.status_code, reply.headers["allow"]) == (405, "PATCH")


def test_the_table_of_the_test_has_every_address(whole_server: TeamServer) -> None:
    identity = whole_server.team.review.identity
    told = {address.replace(identity, "{review}") for address in addresses(identity)}
    ours = {f"{rule.method} {rule.template}" for rule in of_team().rules}
    assert {shape(one) for one in told} == {shape(one) for one in ours}


def shape(address: str) -> str:
    """Return an address without the names of its parameters."""
    return re.sub(r"\{\w+\}", "{}", address)
