"""Accounts: a name is one person's, a server keeps an admin, and a closed account has nothing any more."""

from __future__ import annotations

import unicodedata
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier

import pytest
from sqlalchemy import Engine, select

from riffler.errors import InputError, LogInRefused, UnknownName
from riffler.review.database import reading, writing
from riffler.review.schema import Document, Reviewer, Stratum
from riffler.review.schema_team import HoldRow
from riffler.team.people import People
from tests.team.people import ADDRESS, PASSWORD, account, empty_review


def test_an_account_is_there_once_it_is_made(engine: Engine, people: People) -> None:
    assert people.accounts() == []
    assert not people.has_accounts()
    anna = people.make_account(" Anna ", PASSWORD, is_admin=True)
    bo = people.make_account("Bo", PASSWORD, by=anna.id)
    assert people.accounts() == [anna, bo]
    assert people.account(anna.id) == anna
    assert people.has_accounts()
    assert (anna.name, anna.is_admin, anna.can_log_in, anna.closed_at) == ("Anna", True, True, None)
    assert not bo.is_admin
    assert [(act.who, act.details["account"]) for act in people.acts(None)] == [("Anna", "Bo"), ("", "Anna")]
    with reading(engine) as session:
        hashed = session.scalars(select(Reviewer.password)).all()
    assert all(one is not None and one.startswith("$argon2id$") for one in hashed)
    with pytest.raises(UnknownName, match="no account with the number 77"):
        people.account(77)


def test_who_answers_without_a_password_cannot_log_in(engine: Engine, people: People) -> None:
    with writing(engine) as session:
        session.add(Reviewer(name="reviewer", joined_at="2024"))
    assert not people.has_accounts()
    assert [one.can_log_in for one in people.accounts()] == [False]
    with pytest.raises(LogInRefused):
        people.log_in("reviewer", PASSWORD, ADDRESS)


@pytest.mark.parametrize("same", ["ANNÁ", " anná\t", unicodedata.normalize("NFD", "Anná")])
def test_a_name_is_taken_however_it_is_written(people: People, same: str) -> None:
    account(people, "Anná")
    with pytest.raises(InputError, match="an account called 'Anná' already"):
        account(people, same)


@pytest.mark.parametrize(
    "name", ["", "  ", "a" * 101, "an\0na", "an\nna", "an\udcffna", "an\N{RIGHT-TO-LEFT OVERRIDE}na"]
)
def test_what_is_no_name_is_refused_in_words(people: People, name: str) -> None:
    with pytest.raises(InputError, match="A name has"):
        account(people, name)


def test_a_poor_password_makes_no_account(people: People) -> None:
    with pytest.raises(InputError, match="at least 10"):
        people.make_account("Anna", "short")
    assert people.accounts() == []


def test_a_closed_account_has_nothing_any_more(engine: Engine, people: People) -> None:
    admin, anna, review = account(people, "admin", is_admin=True), account(people, "Anna"), empty_review(engine)
    people.add_member(review, anna.id, "owner", admin.id)
    cookie, _ = people.log_in("Anna", PASSWORD, ADDRESS)
    _, key = people.make_token(review, anna.id, "script")
    _, secret = people.invite(by=anna.id, review_id=review, role="reader")
    hold_a_document(engine, review, anna.id)
    people.close_account(anna.id, admin.id)
    people.close_account(anna.id, admin.id)
    assert people.account(anna.id).closed_at is not None
    assert not people.account(anna.id).can_log_in
    assert people.visitor(cookie) is None
    assert people.token_visitor(key) is None
    assert people.invitation(secret) is None
    assert people.role_of(review, anna.id) is None
    assert n_held(engine) == 0
    with pytest.raises(LogInRefused):
        people.log_in("Anna", PASSWORD, ADDRESS)
    people.reopen_account(anna.id, admin.id)
    people.reopen_account(anna.id, admin.id)
    assert people.visitor(cookie) is None
    assert people.token_visitor(key) is None
    assert people.role_of(review, anna.id) == "owner"
    assert people.log_in("Anna", PASSWORD, ADDRESS)[1].account == people.account(anna.id)
    said = [(act.act, act.who) for act in people.acts(None) if act.details.get("account") == "Anna"]
    assert said[:2] == [("account reopened", "admin"), ("account closed", "admin")]


def test_a_server_keeps_an_admin(people: People) -> None:
    anna, bo = account(people, "Anna", is_admin=True), account(people, "Bo")
    for attempt in (partial(people.close_account, anna.id), partial(people.set_admin, anna.id, False)):
        with pytest.raises(InputError, match="Anna is the last admin"):
            attempt(by=anna.id)
    people.set_admin(bo.id, True, anna.id)
    people.close_account(anna.id, bo.id)
    with pytest.raises(InputError, match="Bo is the last admin"):
        people.set_admin(bo.id, False, bo.id)
    assert people.account(bo.id).is_admin


def test_two_admins_who_dismiss_each_other_at_once_leave_one(people: People) -> None:
    anna, bo = account(people, "Anna", is_admin=True), account(people, "Bo", is_admin=True)
    both = Barrier(2)

    def dismiss(by: int, other: int) -> bool:
        both.wait()
        try:
            people.set_admin(other, False, by)
        except InputError:
            return False
        return True

    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(dismiss, (anna.id, bo.id), (bo.id, anna.id)))
    assert sorted(done) == [False, True]
    assert sum(one.is_admin for one in people.accounts()) == 1


def test_of_many_who_take_a_name_at_once_one_gets_it(people: People) -> None:
    names, all_there = ["Anna", "ANNA", "anna", "aNNa"], Barrier(4)

    def take(name: str) -> bool:
        all_there.wait()
        try:
            account(people, name)
        except InputError:
            return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(take, names)) == 1
    assert len(people.accounts()) == 1


def hold_a_document(engine: Engine, review: int, reader: int) -> None:
    with writing(engine) as session:
        stratum = Stratum(review_id=review, source="", added_at="", shape=b"", same_as={}, n_asked=1)
        session.add(stratum)
        session.flush()
        document = Document(
            review_id=review, stratum_id=stratum.id, position=0, name="d", title="", abstract="", extra=""
        )
        session.add(document)
        session.flush()
        hold = HoldRow(document_id=document.id, slot=0, review_id=review, reviewer_id=reader, taken_at=0, renewed_at=0)
        session.add(hold)


def n_held(engine: Engine) -> int:
    with reading(engine) as session:
        return len(session.scalars(select(HoldRow)).all())
