"""A team's server with a small review, and the browsers and programs of its people."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any, Self
from uuid import uuid4

import httpx
from fastapi import FastAPI
from sqlalchemy import Engine

from riffler.review.database import Address
from riffler.review.settings import ReviewSettings
from riffler.team.office import Office
from riffler.team.people import Account, People
from riffler.web.serving import Server, free_socket
from riffler.web.settings import TeamSettings
from riffler.web.team_app import make_team_app
from tests.team.teams import PASSWORD, SINGLE, Team, team_at
from tests.web.visits import API, START_SECONDS, own_origin


@dataclass(frozen=True)
class Browser:
    """A browser that somebody is logged in with; ``base`` is where its requests begin."""

    client: httpx.Client
    csrf: str
    base: str

    @property
    def guards(self) -> dict[str, str]:
        """What the pages send with every change."""
        return {"x-csrf-token": self.csrf, "origin": own_origin(self.client)}

    def at(self, base: str) -> Self:
        """The same browser, elsewhere."""
        return replace(self, base=base)

    def get(self, path: str, **query: Any) -> httpx.Response:  # noqa: ANN401
        return self.client.get(self.base + path, params=query)

    def send(self, method: str, path: str, body: object = None, **headers: str) -> httpx.Response:
        content, kind = None if body is None else json.dumps(body), {"content-type": "application/json"}
        return self.client.request(
            method, self.base + path, content=content, headers={**self.guards, **kind, **headers}
        )

    def post(self, path: str, body: object = None) -> httpx.Response:
        return self.send("POST", path, body)

    def next_documents(self, n: int = 1) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.get("/next", n=n).json()
        return found

    def show_next(self) -> dict[str, Any]:
        """Ask for the next document, and put it on the screen."""
        (queued,) = self.next_documents()
        assert self.post(f"/suggestions/{queued['suggestion']}/shown").status_code == 204
        return queued

    def answer(self, document: str, verdict: str, **more: Any) -> httpx.Response:  # noqa: ANN401
        answer = {"document": document, "verdict": verdict, "key": str(uuid4()), **more}
        return self.post("/answers", {"answers": [answer]})


class TeamServer:
    """A server that runs, and what its tests need of it."""

    def __init__(self, app: FastAPI, address: str, team: Team, closing: ExitStack) -> None:
        self.app, self.address, self.team = app, address, team
        self._closing = closing

    @property
    def office(self) -> Office:
        office: Office = self.app.state.house.office
        return office

    @property
    def people(self) -> People:
        return self.office.people

    @property
    def base(self) -> str:
        """Where the API of the review begins."""
        return f"{API}/reviews/{self.team.review.identity}"

    @property
    def page(self) -> str:
        """Where the pages of the review begin."""
        return f"/reviews/{self.team.review.identity}"

    def account(self, name: str) -> Account:
        return next(one for one in self.people.accounts() if one.name == name)

    def client(self, **headers: str) -> httpx.Client:
        """A browser or a program that nobody knows."""
        return self._closing.enter_context(
            httpx.Client(base_url=self.address, trust_env=False, timeout=60, headers=headers)
        )

    def log_in(self, name: str, client: httpx.Client | None = None) -> Browser:
        """Log somebody in as a page would."""
        browser = self.client() if client is None else client
        given = {"name": name, "password": PASSWORD}
        reply = browser.post(f"{API}/login", json=given, headers={"origin": own_origin(browser)})
        assert reply.status_code == 200, reply.text
        return Browser(browser, self.csrf(browser), self.base)

    def csrf(self, client: httpx.Client) -> str:
        visit = self.people.visitor(client.cookies[f"riffler-team-{client.base_url.port}"])
        assert visit is not None
        return visit.csrf

    def program(self, name: str) -> tuple[httpx.Client, int]:
        """A program with a key of somebody, and the number of the key."""
        made, secret = self.people.make_token(self.team.review.id, self.account(name).id, "script")
        return self.client(authorization=f"Bearer {secret}"), made.id


@contextmanager
def serving_team(database: Address, **settings: Any) -> Iterator[tuple[FastAPI, str]]:  # noqa: ANN401
    """Run a server in a thread, and give its address."""
    listening = free_socket("127.0.0.1", 0)
    port = listening.getsockname()[1]
    app = make_team_app(TeamSettings(database, port=port, **settings))
    ready = threading.Event()
    server = Server(app, ready.set)
    thread = threading.Thread(target=server.serve_on, args=[listening])
    thread.start()
    try:
        assert ready.wait(START_SECONDS)
        yield app, f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join()
        listening.close()


@contextmanager
def team_server(engine: Engine, database: Address, settings: ReviewSettings = SINGLE) -> Iterator[TeamServer]:
    """Run a server with a review, an admin called ada, and sven, who owns another review."""
    team, people = team_at(engine, settings), People(engine)
    people.make_account("ada", PASSWORD, is_admin=True)
    people.make_account("sven", PASSWORD)
    with serving_team(database) as (app, address), ExitStack() as closing:
        server = TeamServer(app, address, team, closing)
        server.office.create("gulls", by=server.account("sven").id)
        yield server
