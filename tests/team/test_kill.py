"""Kill -9 of servers, learners and PostgreSQL while eight members answer: nothing is lost, nothing is doubled."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from sqlalchemy import func, select

from riffler.review.database import connect, reading
from riffler.review.hold_questions import HOLD_SECONDS
from riffler.review.live import LiveSearch
from riffler.review.schema import LedgerRow
from riffler.review.schema_team import HoldRow, ScreeningRow
from riffler.review.screening import OPINION_STANDS
from riffler.review.standing import STANDS
from riffler.review.upgrade import prepare_server
from riffler.team.people import People
from tests.postgres import DURABLE, PostgresServer
from tests.team.hammering import Reader, TeamServer
from tests.team.people import cheapen
from tests.team.teams import SINGLE, Team, team_at

N = 1500
NAMES = tuple(f"member {number}" for number in range(8))
LONGEST = 1.5  # seconds between two kills
PATIENCE = 120.0


@pytest.mark.parametrize("n_rounds", [8, pytest.param(200, marks=pytest.mark.soak)])
def test_nothing_acknowledged_is_lost_and_nobody_reads_what_another_does(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch, n_rounds: int
) -> None:
    cheapen(monkeypatch)
    rng = np.random.default_rng(n_rounds)
    with PostgresServer(postgres.programs, DURABLE) as database:
        address = database.new_database()
        engine = connect(address)
        prepare_server(engine, "test")
        settings = replace(SINGLE, screening="share", screening_share=0.3)
        team = team_at(engine, settings, reviewers=NAMES, n=N, n_queued=0)
        people = People(engine)
        servers = [TeamServer(address), TeamServer(address)]
        for server in servers:
            server.start()
        for server in servers:
            server.wait()
        path = f"/reviews/{team.review.identity}"
        keys = [people.make_token(team.review.id, team[name].person, "test")[1] for name in NAMES]
        readers = [
            Reader(name, key, path, servers, seed=at) for at, (name, key) in enumerate(zip(NAMES, keys, strict=True))
        ]
        threads = [reader.start() for reader in readers]
        try:
            for _ in range(n_rounds):
                wait_for_more(readers, servers)
                time.sleep(float(rng.uniform(0.1, LONGEST)))
                strike(str(rng.choice(["server", "learner", "database"])), servers[int(rng.integers(2))], database)
                check(team, readers)
            wait_for_more(readers, servers)
            for server in servers:
                server.wait()
        finally:
            for reader in readers:
                reader.stop()
            for thread in threads:
                thread.join()
        for server in servers:
            server.end()
        check(team, readers)
        assert all(reader.acknowledged for reader in readers)
        first = LiveSearch(team.review).refresh(5)
        assert LiveSearch(team.review).refresh(5) == first
        engine.dispose()


def wait_for_more(readers: list[Reader], servers: list[TeamServer]) -> None:
    """Wait until the work goes on: one more answer was acknowledged."""

    def n_said() -> int:
        return sum(len(reader.acknowledged) for reader in readers)

    before, end = n_said(), time.monotonic() + PATIENCE
    while n_said() == before:
        assert time.monotonic() < end, "the work did not go on"
        for server in servers:
            server.revive()
        time.sleep(0.05)


def strike(what: str, server: TeamServer, database: PostgresServer) -> None:
    """Kill something, and start it again at once."""
    if what == "server":
        server.kill()
        server.start()
    elif what == "learner":
        server.kill_a_learner()
    else:
        database.kill()
        database.start()


def check(team: Team, readers: list[Reader]) -> None:
    """Compare the database with what was acknowledged, and the holds with who may have them."""
    said = {key: receipt for reader in readers for key, receipt in list(reader.acknowledged.items())}
    refused = {key for reader in readers for key in list(reader.refused)}
    assert [fault for reader in readers for fault in reader.faults] == []
    with reading(team.engine) as session:
        rows = {row.request_key: row for row in session.scalars(select(LedgerRow))}
        holds = Counter(session.scalars(select(HoldRow.document_id)))
        needed = dict(session.execute(select(ScreeningRow.document_id, ScreeningRow.needed)).all())
        opinions = dict(
            session.execute(
                select(LedgerRow.document_id, func.count()).where(OPINION_STANDS).group_by(LedgerRow.document_id)
            ).all()
        )
        answers = Counter(
            session.scalars(select(LedgerRow.document_id).where(STANDS, LedgerRow.origin != "correction"))
        )
    for key, receipt in said.items():
        row = rows[key]
        assert (row.id, row.kind, row.verdict) == (receipt["id"], receipt["kind"], receipt["verdict"])
    assert not refused & set(rows)
    for document, n_held in holds.items():
        assert n_held + opinions.get(document, 0) <= needed.get(document, 1)
    assert all(n == 1 for n in answers.values())
    assert HOLD_SECONDS > 60  # none ran out while this went on
