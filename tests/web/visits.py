"""A server on a small review, and a browser or a program that visits it over a real connection."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
from fastapi import FastAPI

from riffler.review.queue import Proposal
from riffler.review.store import Review
from riffler.web.app import make_app
from riffler.web.serving import Server, free_socket
from riffler.web.settings import ServerSettings
from tests.review.reviews import new_review

API = "/api/v1"
START_SECONDS = 60


@dataclass(frozen=True)
class Visit:
    """A browser that was let in."""

    app: FastAPI
    client: httpx.Client
    csrf: str

    @property
    def review(self) -> Review:
        review: Review = self.app.state.review
        return review

    @property
    def guards(self) -> dict[str, str]:
        """What the pages send with every change."""
        return {"x-csrf-token": self.csrf, "origin": own_origin(self.client)}

    def get(self, path: str, **query: Any) -> httpx.Response:  # noqa: ANN401
        return self.client.get(API + path, params=query)

    def send(self, method: str, path: str, body: object = None, **headers: str) -> httpx.Response:
        content = None if body is None else json.dumps(body)  # ASCII: half a character can be sent as an escape
        kind = {"content-type": "application/json"}
        return self.client.request(method, API + path, content=content, headers={**self.guards, **kind, **headers})

    def post(self, path: str, body: object = None) -> httpx.Response:
        return self.send("POST", path, body)

    def answer(self, document: str, verdict: str, **more: Any) -> httpx.Response:  # noqa: ANN401
        answer = {"document": document, "verdict": verdict, "key": str(uuid4()), **more}
        return self.post("/answers", {"answers": [answer]})


@contextmanager
def serving(file: Path, settings: ServerSettings | None = None) -> Iterator[tuple[FastAPI, httpx.Client]]:
    """Run a server in a thread; the client was not let in."""
    listening = free_socket("127.0.0.1", 0)
    port = listening.getsockname()[1]
    app = make_app(replace(settings or ServerSettings(file), port=port))
    ready = threading.Event()
    server = Server(app, ready.set)
    thread = threading.Thread(target=server.serve_on, args=[listening])
    thread.start()
    try:
        assert ready.wait(START_SECONDS)
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=60) as client:
            yield app, client
    finally:
        server.should_exit = True
        thread.join()
        listening.close()


@contextmanager
def visiting(file: Path, settings: ServerSettings | None = None) -> Iterator[Visit]:
    """Run a server and let a browser in."""
    with serving(file, settings) as (app, client):
        yield let_in(app, client)


def let_in(app: FastAPI, client: httpx.Client) -> Visit:
    """Open the printed address with a client."""
    reply = client.get("/", params={"token": app.state.sessions.invite()})
    assert reply.status_code == 303
    session = app.state.sessions.find(client.cookies[app.state.settings.cookie])
    return Visit(app, client, session.csrf)


def own_origin(client: httpx.Client) -> str:
    """Return the origin of the pages of the server that a client visits."""
    return str(client.base_url).rstrip("/")


def made_review(folder: Path) -> Path:
    """Make a review with a queue, as its learner would leave it."""
    with new_review(folder) as review:
        review.fill_queue(
            [Proposal(f"d{row}", "policy", 0, score=1.0 - row / 10, why="looks worth reading") for row in range(6)]
        )
        return review.path


def error_of(reply: httpx.Response) -> tuple[int, str, str]:
    """Return status, code and message of an error."""
    told = reply.json()["error"]
    return reply.status_code, told["code"], told["message"]
