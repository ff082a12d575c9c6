"""Logging in: the right password opens, too many wrong ones make wait, and a visit ends when it should."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from argon2 import PasswordHasher
from sqlalchemy import Engine, QueuePool, event, select

from riffler.errors import InputError, LogInRefused, TooManyTries
from riffler.review.database import reading
from riffler.review.schema import Reviewer
from riffler.review.schema_team import TryRow, VisitRow
from riffler.team import passwords
from riffler.team.people import People
from tests.team.people import ADDRESS, DAY, MINUTE, OTHER, PASSWORD, account, empty_review, identity_of, let_pass

ELSEWHERE = "198.51.100.7"


def fail(people: People, name: str = "Anna", address: str = ADDRESS) -> None:
    with pytest.raises(LogInRefused):
        people.log_in(name, "a wrong password", address)


def seconds_to_wait(people: People, name: str = "Anna", address: str = ADDRESS) -> int:
    with pytest.raises(TooManyTries) as refused:
        people.log_in(name, PASSWORD, address)
    return refused.value.seconds


def test_the_right_password_opens(engine: Engine, people: People) -> None:
    anna = account(people, "Anna")
    cookie, visit = people.log_in(" ANNA", PASSWORD, ADDRESS)
    assert visit.account == anna
    assert people.visitor(cookie) == visit
    assert [people.visitor(wrong) for wrong in ("", cookie[:-1], visit.csrf, "\udcff", "\0")] == [None] * 5
    with reading(engine) as session:
        assert cookie not in session.scalars(select(VisitRow.hash)).all()
    other, second = people.log_in("Anna", PASSWORD, ADDRESS)
    assert (other, second.csrf) != (cookie, visit.csrf)
    people.log_out(cookie)
    people.log_out(cookie)
    assert people.visitor(cookie) is None
    assert people.visitor(other) == second
    assert [act.act for act in people.acts(None, 3)] == ["logged out", "logged in", "logged in"]


def test_nothing_tells_why_a_log_in_is_refused(people: People) -> None:
    admin, anna = account(people, "admin", is_admin=True), account(people, "Anna")
    closed = account(people, "Bo")
    people.close_account(closed.id, admin.id)
    said = set()
    for name, password in (("Anna", OTHER), ("Bo", PASSWORD), ("nobody", PASSWORD), ("\0", "\udcff"), ("", "")):
        with pytest.raises(LogInRefused) as refused:
            people.log_in(name, password, ADDRESS)
        said.add(str(refused.value))
    assert len(said) == 1
    failed = [act for act in people.acts(None) if act.act == "log-in failed"]
    assert [act.who for act in failed] == ["", "", "", "Bo", anna.name]
    assert all(act.details == {"address": ADDRESS} for act in failed)


def test_who_is_wrong_too_often_waits(engine: Engine, people: People) -> None:
    account(people, "Anna")
    for _ in range(5):
        fail(people)
    assert 0 < 15 * MINUTE - seconds_to_wait(people) + 1 < MINUTE
    let_pass(engine, 10 * MINUTE)
    for _ in range(10):
        assert 4 * MINUTE < seconds_to_wait(people) <= 5 * MINUTE  # trying again does not make it longer
    people.log_in("Anna", PASSWORD, ELSEWHERE)
    let_pass(engine, 5 * MINUTE)
    people.log_in("Anna", PASSWORD, ADDRESS)


def test_who_waits_is_not_even_looked_at(people: People, monkeypatch: pytest.MonkeyPatch) -> None:
    account(people, "Anna")
    for _ in range(5):
        fail(people)
    monkeypatch.setattr(passwords, "HASHER", None)
    seconds_to_wait(people)


def test_a_right_password_forgets_the_wrong_ones_of_that_name_from_there(people: People) -> None:
    account(people, "Anna")
    for _ in range(3):
        for _ in range(4):
            fail(people)
        people.log_in("Anna", PASSWORD, ADDRESS)


def test_an_address_that_tries_many_names_waits(people: People) -> None:
    account(people, "Anna")
    for number in range(30):
        fail(people, f"name {number}")
    assert seconds_to_wait(people) > 14 * MINUTE
    people.log_in("Anna", PASSWORD, ELSEWHERE)


def test_addresses_of_one_network_are_one(people: People) -> None:
    for number in range(5):
        fail(people, address=f"2001:db8::{number}")
    seconds_to_wait(people, address="2001:db8::99:1")
    fail(people, address="2001:db8:1::1")


def test_a_name_that_is_tried_from_many_addresses_waits(people: People) -> None:
    account(people, "Anna")
    for number in range(50):
        fail(people, address=f"198.51.100.{number}")
    assert seconds_to_wait(people) > 14 * MINUTE


def test_tries_that_come_at_once_are_counted_all_the_same(people: People) -> None:
    account(people, "Anna")
    all_there = Barrier(12)

    def try_once(number: int) -> type[Exception] | None:
        all_there.wait()
        try:
            people.log_in("Anna", f"a wrong password {number}", ADDRESS)
        except (LogInRefused, TooManyTries) as refused:
            return type(refused)
        return None

    with ThreadPoolExecutor(12) as pool:
        met = list(pool.map(try_once, range(12)))
    assert (met.count(LogInRefused), met.count(TooManyTries)) == (5, 7)


def test_old_tries_are_swept(engine: Engine, people: People) -> None:
    for number in range(4):
        fail(people, f"name {number}")
    let_pass(engine, 16 * MINUTE)
    fail(people)
    with reading(engine) as session:
        assert len(session.scalars(select(TryRow)).all()) == 3


def test_a_clock_that_is_set_back_locks_nobody_out(engine: Engine, people: People) -> None:
    account(people, "Anna")
    for _ in range(5):
        fail(people)
    cookie, visit = people.log_in("Anna", PASSWORD, ELSEWHERE)
    let_pass(engine, -DAY)
    people.log_in("Anna", PASSWORD, ADDRESS)
    assert people.visitor(cookie) == visit


def test_wrong_keys_make_an_address_wait_and_keep_nobody_from_logging_in(engine: Engine, people: People) -> None:
    account(people, "Anna")
    assert [people.note_wrong_secret(ADDRESS) for _ in range(30)] == [0] * 30
    assert people.note_wrong_secret(ADDRESS) > 14 * MINUTE
    assert people.note_wrong_secret(ELSEWHERE) == 0
    people.log_in("Anna", PASSWORD, ADDRESS)
    let_pass(engine, 15 * MINUTE)
    assert people.note_wrong_secret(ADDRESS) == 0


def test_a_visit_ends_after_thirty_days_or_seven_without_a_word(engine: Engine, people: People) -> None:
    account(people, "Anna")
    (busy, _), (idle, _) = people.log_in("Anna", PASSWORD, ADDRESS), people.log_in("Anna", PASSWORD, ADDRESS)
    for day in range(1, 30):
        let_pass(engine, DAY)
        assert people.visitor(busy) is not None
        assert day < 7 or people.visitor(idle) is None
    let_pass(engine, DAY)
    assert people.visitor(busy) is None
    people.log_in("Anna", PASSWORD, ADDRESS)
    with reading(engine) as session:
        assert len(session.scalars(select(VisitRow)).all()) == 1


def test_a_visitor_is_found_by_one_query_and_noted_once_in_five_minutes(engine: Engine, people: People) -> None:
    anna, review, other = account(people, "Anna"), empty_review(engine), empty_review(engine)
    people.add_member(review, anna.id, "reviewer", None)
    cookie, visit = people.log_in("Anna", PASSWORD, ADDRESS)
    mine, others = identity_of(engine, review), identity_of(engine, other)
    said: list[str] = []
    event.listen(engine, "before_cursor_execute", lambda _c, _r, statement, *_: said.append(statement))
    assert people.visitor_in(cookie, mine) == (visit, review, "reviewer")
    assert (
        sum(statement.startswith("SELECT") for statement in said) == len([one for one in said if one != "BEGIN"]) == 1
    )
    assert people.visitor_in(cookie, others) == (visit, other, None)
    assert people.visitor_in(cookie, "no review") == (visit, None, None)
    assert people.visitor_in("no cookie", mine) is None
    let_pass(engine, 6 * MINUTE)
    for n_written in (1, 0):
        said.clear()
        assert people.visitor_in(cookie, mine) is not None
        assert sum(statement.startswith("UPDATE") for statement in said) == n_written
    people.remove_member(review, anna.id, None)
    assert people.visitor_in(cookie, mine) == (visit, review, None)


def test_a_new_password_ends_all_other_visits(people: People) -> None:
    anna = account(people, "Anna")
    (here, _), (there, _) = people.log_in("Anna", PASSWORD, ADDRESS), people.log_in("Anna", PASSWORD, ADDRESS)
    people.change_password(anna.id, PASSWORD, OTHER, keep=here)
    assert people.visitor(here) is not None
    assert people.visitor(there) is None
    fail(people)
    people.log_in("Anna", OTHER, ADDRESS)
    people.change_password(anna.id, OTHER, PASSWORD)
    assert people.visitor(here) is None


def test_a_wrong_old_password_changes_nothing_and_counts(people: People) -> None:
    anna = account(people, "Anna")
    with pytest.raises(InputError, match="at least 10"):
        people.change_password(anna.id, PASSWORD, "short")
    people.change_password(anna.id, PASSWORD, PASSWORD)  # a right one forgets the tries before
    for _ in range(5):
        with pytest.raises(LogInRefused, match="old password is wrong"):
            people.change_password(anna.id, "a wrong password", OTHER)
    with pytest.raises(TooManyTries, match="Wait 9"):
        people.change_password(anna.id, PASSWORD, OTHER)
    people.log_in("Anna", PASSWORD, ADDRESS)
    assert [act.act for act in people.acts(None, 2)] == ["logged in", "password change failed"]


def test_a_password_is_hashed_anew_when_more_effort_is_usual(
    engine: Engine, people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    account(people, "Anna")
    monkeypatch.setattr(passwords, "HASHER", PasswordHasher(time_cost=2, memory_cost=8, parallelism=1))
    people.log_in("Anna", PASSWORD, ADDRESS)
    with reading(engine) as session:
        hashed = session.scalars(select(Reviewer.password)).one()
    assert hashed is not None
    assert "t=2" in hashed
    people.log_in("Anna", PASSWORD, ADDRESS)


def test_hashing_is_outside_of_transactions(engine: Engine, people: People, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for the database while somebody else's password is looked at."""
    cheap, n_hashed = passwords.HASHER, 0

    class Watched:
        def __getattr__(self, name: str) -> object:
            nonlocal n_hashed
            n_hashed += 1
            assert isinstance(engine.pool, QueuePool)
            assert engine.pool.checkedout() == 0
            return getattr(cheap, name)

    monkeypatch.setattr(passwords, "HASHER", Watched())
    anna = account(people, "Anna")
    people.log_in("Anna", PASSWORD, ADDRESS)
    people.change_password(anna.id, PASSWORD, OTHER)
    _, secret = people.invite(by=None, name="Anna")
    people.accept(secret, password=PASSWORD)
    assert n_hashed == 6


def test_who_was_closed_while_the_password_was_looked_at_stays_out(
    people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    account(people, "admin", is_admin=True)
    anna, looked = account(people, "Anna"), passwords.check_password

    def close_meanwhile(hashed: str | None, password: str) -> bool:
        people.close_account(anna.id, None)
        return looked(hashed, password)

    monkeypatch.setattr("riffler.team.entrance.check_password", close_meanwhile)
    with pytest.raises(LogInRefused):
        people.log_in("Anna", PASSWORD, ADDRESS)
