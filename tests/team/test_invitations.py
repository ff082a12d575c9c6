"""Invitations: one works once, for as long as it should, and gives no more than its maker has."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from sqlalchemy import Engine, select

from riffler.errors import InputError, LogInRefused, UnknownName
from riffler.review.database import reading, writing
from riffler.review.schema import Reviewer
from riffler.review.schema_team import InvitationRow
from riffler.team.people import People
from tests.team.people import ADDRESS, DAY, OTHER, PASSWORD, account, empty_review, let_pass


def test_who_is_invited_makes_an_account_and_joins(engine: Engine, people: People) -> None:
    anna, review = account(people, "Anna"), empty_review(engine)
    people.add_member(review, anna.id, "owner", None)
    made, secret = people.invite(by=anna.id, review_id=review, role="reviewer")
    assert people.invitation(secret) == made
    assert (made.made_by, made.review_name, made.role, made.name, made.is_reset) == (
        "Anna",
        "whales",
        "reviewer",
        None,
        False,
    )
    with reading(engine) as session:
        assert secret not in session.scalars(select(InvitationRow.hash)).all()
    bo = people.accept(secret, name=" Bo ", password=PASSWORD)
    assert (bo.name, bo.is_admin) == ("Bo", False)
    assert people.role_of(review, bo.id) == "reviewer"
    assert people.log_in("bo", PASSWORD, ADDRESS)[1].account == bo
    assert people.invitation(secret) is None
    (used,) = people.invitations(review)
    assert used.used_at is not None
    said = [(act.act, act.who) for act in people.acts(review)]
    assert said[:3] == [("member joined", "Anna"), ("invitation used", "Bo"), ("invited", "Anna")]


def test_an_invitation_works_once(people: People) -> None:
    _, secret = people.invite(by=None)
    people.accept(secret, name="Anna", password=PASSWORD)
    with pytest.raises(InputError, match="does not work"):
        people.accept(secret, name="Bo", password=PASSWORD)
    assert [one.name for one in people.accounts()] == ["Anna"]


def test_of_many_who_use_an_invitation_at_once_one_comes_in(people: People) -> None:
    _, secret = people.invite(by=None)
    all_there = Barrier(6)

    def use(number: int) -> bool:
        all_there.wait()
        try:
            people.accept(secret, name=f"name {number}", password=PASSWORD)
        except InputError:
            return False
        return True

    with ThreadPoolExecutor(6) as pool:
        assert sum(pool.map(use, range(6))) == 1
    assert len(people.accounts()) == 1


def test_an_invitation_ends(engine: Engine, people: People) -> None:
    (_, week), (_, hour) = people.invite(by=None), people.invite(by=None, days=1 / 24)
    let_pass(engine, 0.1 * DAY)
    assert people.invitation(hour) is None
    assert people.invitation(week) is not None
    let_pass(engine, 6.95 * DAY)
    with pytest.raises(InputError, match="too old"):
        people.accept(week, name="Anna", password=PASSWORD)
    assert [people.invitation(wrong) for wrong in ("", "\0", "\udcff", week[:-1])] == [None] * 4


def test_what_fails_does_not_use_an_invitation_up(people: People) -> None:
    account(people, "Anna")
    _, secret = people.invite(by=None)
    for name, password in (("Anna", PASSWORD), ("Bo", "short"), ("", PASSWORD), (None, PASSWORD)):
        with pytest.raises(InputError):
            people.accept(secret, name=name, password=password)
    people.accept(secret, name="Bo", password=PASSWORD)


def test_a_revoked_invitation_does_not_work(engine: Engine, people: People) -> None:
    review, other = empty_review(engine), empty_review(engine)
    made, secret = people.invite(by=None, review_id=review, role="reader")
    for number, of in ((made.id, other), (77, None)):
        with pytest.raises(UnknownName, match="no invitation with the number"):
            people.revoke_invitation(number, None, of)
    people.revoke_invitation(made.id, None, review)
    people.revoke_invitation(made.id, None, None)
    assert people.invitation(secret) is None
    assert people.invitations(other) == []
    assert [one.revoked_at is None for one in people.invitations(None)] == [False]
    assert [act.act for act in people.acts(review)] == ["invitation revoked", "invited"]


def test_an_invitation_with_the_name_of_an_account_sets_its_password(people: People) -> None:
    admin, anna = account(people, "admin", is_admin=True), account(people, "Anna")
    cookie, _ = people.log_in("Anna", PASSWORD, ADDRESS)
    made, secret = people.invite(by=admin.id, name="anna")
    assert made.is_reset
    with pytest.raises(InputError, match="for a new account or password"):
        people.join(secret, anna.id)
    with pytest.raises(InputError, match="is for anna, got the name 'Bo'"):
        people.accept(secret, name="Bo", password=OTHER)
    assert people.accept(secret, password=OTHER) == anna
    assert people.visitor(cookie) is None
    with pytest.raises(LogInRefused):
        people.log_in("Anna", PASSWORD, ADDRESS)
    people.log_in("Anna", OTHER, ADDRESS)
    assert [act.act for act in people.acts(None) if act.who == "Anna"][2:4] == ["invitation used", "password set"]


def test_who_answered_before_there_were_accounts_gets_a_password(engine: Engine, people: People) -> None:
    with writing(engine) as session:
        session.add(Reviewer(name="reviewer", joined_at="2024"))
    _, secret = people.invite(by=None, name="reviewer", is_admin=True)
    assert people.accept(secret, name="Reviewer", password=PASSWORD).is_admin
    assert people.accounts()[0].can_log_in
    cookie, visit = people.enter(people.accounts()[0].id, ADDRESS)
    assert people.visitor(cookie) == visit


def test_a_closed_account_gets_no_password(people: People) -> None:
    account(people, "admin", is_admin=True)
    anna = account(people, "Anna")
    people.close_account(anna.id, None)
    _, secret = people.invite(by=None, name="Anna")
    with pytest.raises(InputError, match="account of Anna is closed"):
        people.accept(secret, password=OTHER)
    with pytest.raises(LogInRefused):
        people.enter(anna.id, ADDRESS)
    assert people.invitation(secret) is not None


def test_who_is_logged_in_takes_an_invitation(engine: Engine, people: People) -> None:
    anna, bo, review = account(people, "Anna"), account(people, "Bo"), empty_review(engine)
    _, secret = people.invite(by=None, name="Anna", review_id=review, role="reviewer")
    with pytest.raises(InputError, match="is for Anna, not for Bo"):
        people.join(secret, bo.id)
    assert people.join(secret, anna.id) == anna
    assert people.role_of(review, anna.id) == "reviewer"
    for role, then in (("reader", "reviewer"), ("owner", "owner")):
        _, secret = people.invite(by=None, review_id=review, role=role)
        people.join(secret, anna.id)
        assert people.role_of(review, anna.id) == then  # an invitation takes nothing away
    with pytest.raises(InputError, match="does not work"):
        people.join(secret, bo.id)
    _, secret = people.invite(by=None, is_admin=True)
    assert people.join(secret, bo.id).is_admin


def test_an_owner_invites_to_the_review_and_to_nothing_else(engine: Engine, people: People) -> None:
    admin, anna = account(people, "admin", is_admin=True), account(people, "Anna")
    review, other = empty_review(engine), empty_review(engine)
    people.add_member(review, anna.id, "owner", admin.id)
    people.add_member(other, anna.id, "reviewer", admin.id)
    for review_id, is_admin in ((None, False), (review, True), (other, False)):
        with pytest.raises(InputError, match="Only an owner"):
            people.invite(
                by=anna.id, review_id=review_id, role=None if review_id is None else "reader", is_admin=is_admin
            )
    with pytest.raises(InputError, match="Add it to the review as a member"):
        people.invite(by=anna.id, name="ADMIN", review_id=review, role="reader")
    assert people.invitations(None) == []


def test_an_owner_does_not_get_at_an_account_that_was_made_later(engine: Engine, people: People) -> None:
    anna, review = account(people, "Anna"), empty_review(engine)
    people.add_member(review, anna.id, "owner", None)
    _, secret = people.invite(by=anna.id, name="Zoe", review_id=review, role="reader")
    zoe = account(people, "Zoe")
    with pytest.raises(InputError, match="an account called 'Zoe' now"):
        people.accept(secret, name="Zoe", password=OTHER)
    people.log_in("Zoe", PASSWORD, ADDRESS)
    people.join(secret, zoe.id)
    assert people.role_of(review, zoe.id) == "reader"


def test_invitations_of_who_lost_the_right_to_them_work_no_more(engine: Engine, people: People) -> None:
    boss, admin, anna = (
        account(people, "boss", is_admin=True),
        account(people, "admin", is_admin=True),
        account(people, "Anna"),
    )
    review = empty_review(engine)
    for one in (boss, anna):
        people.add_member(review, one.id, "owner", boss.id)
    (_, demoted), (_, dismissed) = people.invite(by=anna.id, review_id=review, role="owner"), people.invite(by=admin.id)
    _, others = people.invite(by=boss.id, review_id=review, role="owner")
    people.set_role(review, anna.id, "reader", boss.id)
    people.set_admin(admin.id, False, boss.id)
    assert [people.invitation(secret) is None for secret in (demoted, dismissed, others)] == [True, True, False]


@pytest.mark.parametrize(
    ("offer", "words"),
    [
        ({"role": "reader"}, "which review and which role"),
        ({"review_id": 1}, "which review and which role"),
        ({"review_id": 77, "role": "reader"}, "no review with the number 77"),
        ({"review_id": 1, "role": "king"}, "No role called 'king'. Known: owner, reader, reviewer"),
        ({"name": "an\0na"}, "cannot be seen"),
        ({"days": 0.0}, "up to 365 days, got 0"),
        ({"days": float("nan")}, "up to 365 days, got nan"),
    ],
)
def test_what_is_no_invitation_is_refused_in_words(
    engine: Engine, people: People, offer: dict[str, int | str | float], words: str
) -> None:
    assert empty_review(engine) == 1
    with pytest.raises(InputError, match=words):
        people.invite(by=None, **offer)  # type: ignore[arg-type]


def test_other_reset_links_end_with_a_new_password(people: People) -> None:
    admin, bert = account(people, "olga", is_admin=True), account(people, "bert")
    secrets = [people.invite(by=admin.id, name="Bert")[1] for _ in range(3)]
    people.accept(secrets[0], password=OTHER)
    assert people.invitation(secrets[1]) is None
    later = people.invite(by=admin.id, name="bert")[1]
    people.change_password(bert.id, OTHER, PASSWORD)
    assert people.invitation(later) is None
