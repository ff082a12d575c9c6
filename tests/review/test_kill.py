"""Kill -9 of the server and its learner while four clients answer: nothing acknowledged is lost, nothing is doubled."""

from __future__ import annotations

import sqlite3
import threading
import time
from contextlib import closing, suppress
from pathlib import Path

import httpx
import numpy as np
import pytest
from sqlalchemy import select

from riffler.review.live import LiveSearch
from riffler.review.schema import LedgerRow
from riffler.review.store import open_review
from tests.review.hammering import Client, Server
from tests.review.reviews import new_review

N, N_ADDED = 400, 150
LONGEST = 1.5  # seconds between two kills


@pytest.mark.parametrize("n_rounds", [8, pytest.param(200, marks=pytest.mark.soak)])
def test_nothing_acknowledged_is_lost_and_nothing_is_doubled(tmp_path: Path, n_rounds: int) -> None:
    with new_review(tmp_path, n=N) as review:
        path, (_, secret), names = review.path, review.make_token("clients"), review.collection().ids
    server, rng = Server(path, secret), np.random.default_rng(n_rounds)
    clients = [Client(f"client {number}", server, names, seed=number) for number in range(4)]
    server.start()
    threads = [client.start() for client in clients]
    try:
        for number in range(n_rounds):
            importing = import_more(server, number) if number % 5 == 0 else None
            of_learner = rng.random() < 0.4
            if of_learner:
                server.wait_for_learner()
            time.sleep(float(rng.uniform(0.1, LONGEST)))
            if of_learner:
                server.kill_learner()
            else:
                server.kill()
                check(path, clients)
                server.start()
            if importing is not None:
                importing.join()
        time.sleep(1.0)
    finally:
        for client in clients:
            client.stop()
        for thread in threads:
            thread.join()
    server.end()
    check(path, clients)
    assert sum(len(client.acknowledged) for client in clients) > 2 * n_rounds
    with open_review(path) as review:
        first = LiveSearch(review).refresh(5)
        assert LiveSearch(review).refresh(5) == first
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def check(path: Path, clients: list[Client]) -> None:
    """Compare the file with what was acknowledged."""
    said = {key: receipt for client in clients for key, receipt in list(client.acknowledged.items())}
    assert [fault for client in clients for fault in client.faults] == []
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    with open_review(path) as review:
        with review.moment() as session:
            rows = {row.request_key: row for row in session.scalars(select(LedgerRow))}
        for key, receipt in said.items():
            row = rows[key]
            assert (row.id, row.kind, row.verdict) == (receipt["id"], receipt["kind"], receipt["verdict"])
        assert not {key for client in clients for key in list(client.refused)} & set(rows)
        sizes = [one.n for one in review.imports()]
        assert sizes == [N] + [N_ADDED] * (len(sizes) - 1)
        assert [len(ids) for ids in review.strata().values()] == sizes
        assert len(review.find("added", n=10_000)) == N_ADDED * (len(sizes) - 1)
        assert sum(review.counts().values()) == sum(sizes)


def import_more(server: Server, number: int) -> threading.Thread:
    """Import some documents, in the background; whether that succeeds is left to the kills."""
    rng = np.random.default_rng(number)
    words = [" ".join(f"word{one}" for one in rng.integers(300, size=12)) for _ in range(N_ADDED)]
    lines = "\n".join(["id,title", *(f"{number}-{row},added {line}" for row, line in enumerate(words))])

    def run() -> None:
        with suppress(httpx.TransportError), server.client() as client:
            reply = client.post("/imports", files={"file": ("more.csv", lines.encode())}, timeout=60)
            if reply.status_code == 201:
                client.post(f"/imports/{reply.json()['token']}", json={}, timeout=60)

    thread = threading.Thread(target=run)
    thread.start()
    return thread
