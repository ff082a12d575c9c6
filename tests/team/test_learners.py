"""Every review that has something to learn gets one learner, on whichever server; the next takes over when it dies."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import Engine, text, update

from riffler.review.database import reading, writing
from riffler.review.schema import LeaseRow
from riffler.review.supervisor import LearnerKeeper
from riffler.team.learners import Learners, reviews_to_learn
from riffler.team.people import People
from tests.databases import is_free
from tests.team.teams import Team, team_at
from tests.waiting import wait_until


@pytest.fixture(autouse=True)
def _cheap(people: People) -> None:
    """Passwords cost little."""


def address_of(engine: Engine) -> str:
    if engine.dialect.name == "sqlite":
        return str(engine.url.database).removeprefix("file://")
    return engine.url.render_as_string(hide_password=False)


@contextmanager
def learning(engine: Engine, idle_seconds: float = 900.0) -> Iterator[Learners]:
    learners = Learners(address_of(engine), idle_seconds=idle_seconds)
    learners.start()
    try:
        yield learners
    finally:
        learners.stop()


def pause(pid: int, team: Team) -> None:
    """Stop a learner between two of its transactions: a dead host holds no lock, a stopped process may."""
    while True:
        os.kill(pid, signal.SIGSTOP)
        time.sleep(0.2)  # what it has just asked for is begun by then
        if holds_nothing(team):
            return
        os.kill(pid, signal.SIGCONT)
        time.sleep(0.05)


def holds_nothing(team: Team) -> bool:
    """Whether nobody else is in the middle of a transaction: a lease is renewed without the lock of the review."""
    if team.engine.dialect.name == "sqlite":
        return is_free(address_of(team.engine))
    in_one = "datname = current_database() AND xact_start IS NOT NULL AND pid <> pg_backend_pid()"
    with reading(team.engine) as session:
        return not session.scalar(text(f"SELECT count(*) FROM pg_stat_activity WHERE {in_one}"))


def needed(team: Team) -> list[int]:
    with reading(team.engine) as session:
        return reviews_to_learn(session)


def test_learners_are_told_where_to_work_by_their_command_line(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[tuple[str, ...]] = []

    class Noted(LearnerKeeper):
        def start(self) -> None:
            started.append(tuple(self._command))

    monkeypatch.setattr("riffler.team.learners.LearnerKeeper", Noted)
    told = ("--engine", "dask://cluster:8786", "--tls-ca", "ca.pem", "--tls-cert", "me.pem", "--tls-key", "me.key")
    Learners("team.riffler", told=told)._start([7])
    (command,) = started
    at = command.index("--engine")
    assert command[at : at + len(told)] == told


def test_a_review_is_learned_once_and_the_learner_ends_when_nobody_reads(engine: Engine) -> None:
    team = team_at(engine, n_queued=0)
    assert needed(team) == [team.review.id]
    with learning(engine, idle_seconds=1.0) as one, learning(engine, idle_seconds=1.0) as other:
        wait_until(lambda: team.review.progress() is not None)
        assert len(one.pids) + len(other.pids) >= 1
        assert team.review.queue_now().n_waiting > 0
        wait_until(lambda: not team.review.has_learner())
        assert needed(team) == []
        assert team.read("anna", "relevant")
        wait_until(lambda: len(list(team.review.ledger())) == 1)


def test_another_server_takes_over_when_the_host_of_the_learner_dies(engine: Engine) -> None:
    team = team_at(engine, n_queued=0)
    with learning(engine) as one:
        wait_until(lambda: team.review.progress() is not None)
        first = one.pids[0]
        pause(first, team)  # its host is gone as far as anybody can see
        try:
            with writing(engine) as session:  # and time passes
                session.execute(update(LeaseRow).values(renewed_at=LeaseRow.renewed_at - 60.0))
            team.read("anna", "relevant")
            with learning(engine):
                wait_until(lambda: len(list(team.review.ledger())) == 1)
                os.kill(first, signal.SIGCONT)  # it comes back, and must not write any more
                wait_until(lambda: first not in one.pids)
                team.read("anna", "irrelevant")
                wait_until(lambda: len(list(team.review.ledger())) == 2)
        finally:
            os.kill(first, signal.SIGCONT) if first in one.pids else None
    entries = [entry.item for entry in team.review.ledger()]
    assert len(entries) == len(set(entries)) == 2


def test_a_review_without_documents_needs_no_learner(people: People) -> None:
    from riffler.team.office import Office

    admin = people.make_account("olga", "correct horse battery", is_admin=True)
    office = Office(people._engine, "here")
    review = office.create("empty", by=admin.id)
    with reading(people._engine) as session:
        assert reviews_to_learn(session) == []
    assert [one.name for one in office.reviews()] == ["empty"]
    assert office.review(review.identity) is review
    assert people.role_of(review.id, admin.id) == "owner"
