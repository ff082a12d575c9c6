"""Members: who takes part as what; a review keeps an owner, and who leaves takes nothing along."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier

import pytest
from sqlalchemy import Engine

from riffler.errors import InputError, UnknownName
from riffler.team.people import People
from tests.team.people import account, empty_review, identity_of
from tests.team.test_accounts import hold_a_document, n_held


def test_members_come_go_and_come_back(engine: Engine, people: People) -> None:
    anna, bo, review = account(people, "Anna"), account(people, "Bo"), empty_review(engine)
    assert people.members(review) == []
    assert people.role_of(review, anna.id) is None
    people.add_member(review, anna.id, "owner", None)
    people.add_member(review, bo.id, "reader", anna.id)
    people.set_role(review, bo.id, "reviewer", anna.id)
    people.set_role(review, bo.id, "reviewer", anna.id)
    assert [(one.id, one.name, one.role, one.left_at) for one in people.members(review)] == [
        (anna.id, "Anna", "owner", None),
        (bo.id, "Bo", "reviewer", None),
    ]
    people.remove_member(review, bo.id, anna.id)
    assert people.role_of(review, bo.id) is None
    assert people.members(review)[1].left_at is not None
    for change in (
        partial(people.remove_member, review, bo.id),
        partial(people.set_role, review, bo.id, "owner"),
    ):
        with pytest.raises(UnknownName, match="no member with the number"):
            change(by=anna.id)
    people.add_member(review, bo.id, "reader", anna.id)
    assert people.role_of(review, bo.id) == "reader"
    assert [(act.act, act.who, act.details) for act in people.acts(review, 4)] == [
        ("member joined", "Anna", {"account": "Bo", "role": "reader"}),
        ("member left", "Anna", {"account": "Bo", "role": "reviewer"}),
        ("role changed", "Anna", {"account": "Bo", "role": "reviewer", "before": "reader"}),
        ("member joined", "Anna", {"account": "Bo", "role": "reader"}),
    ]


def test_everybody_sees_the_reviews_they_take_part_in(engine: Engine, people: People) -> None:
    anna, bo = account(people, "Anna"), account(people, "Bo")
    whales, bonds = empty_review(engine, "whales"), empty_review(engine, "bonds")
    for review in (whales, bonds):
        people.add_member(review, anna.id, "owner", None)
        people.add_member(review, bo.id, "reader", None)
    people.remove_member(whales, bo.id, None)
    assert [(one.review_id, one.name, one.role) for one in people.reviews_of(anna.id)] == [
        (bonds, "bonds", "owner"),
        (whales, "whales", "owner"),
    ]
    (one,) = people.reviews_of(bo.id)
    assert (one.review_id, one.identity, one.role, one.frozen_at) == (bonds, identity_of(engine, bonds), "reader", None)


def test_who_leaves_takes_nothing_along(engine: Engine, people: People) -> None:
    owner, anna = account(people, "owner"), account(people, "Anna")
    review, other = empty_review(engine), empty_review(engine)
    for one in (review, other):
        people.add_member(one, owner.id, "owner", None)
        people.add_member(one, anna.id, "owner", owner.id)
    _, key = people.make_token(review, anna.id, "script")
    _, other_key = people.make_token(other, anna.id, "script")
    _, secret = people.invite(by=anna.id, review_id=review, role="owner")
    hold_a_document(engine, review, anna.id)
    hold_a_document(engine, other, anna.id)
    people.remove_member(review, anna.id, owner.id)
    assert people.token_visitor(key) is None
    assert people.token_visitor(other_key) is not None
    assert people.invitation(secret) is None
    assert n_held(engine) == 1
    people.add_member(review, anna.id, "reader", owner.id)
    assert people.token_visitor(key) is None


def test_a_review_keeps_an_owner(engine: Engine, people: People) -> None:
    anna, bo, review = account(people, "Anna"), account(people, "Bo"), empty_review(engine)
    account(people, "admin", is_admin=True)
    people.add_member(review, anna.id, "owner", None)
    people.add_member(review, bo.id, "reviewer", None)

    def refused() -> bool:
        for change in (
            partial(people.remove_member, review, anna.id),
            partial(people.set_role, review, anna.id, "reader"),
        ):
            with pytest.raises(InputError, match="Anna is the last owner"):
                change(by=anna.id)
        return people.role_of(review, anna.id) == "owner"

    assert refused()
    people.set_role(review, bo.id, "owner", anna.id)
    people.close_account(bo.id, None)
    assert refused()  # one whose account is closed is none
    people.reopen_account(bo.id, None)
    people.remove_member(review, anna.id, anna.id)
    assert [one.name for one in people.members(review) if one.left_at is None] == ["Bo"]


@pytest.mark.parametrize("way", ["demote", "remove"])
def test_two_owners_who_dismiss_each_other_at_once_leave_one(engine: Engine, people: People, way: str) -> None:
    anna, bo, both = account(people, "Anna"), account(people, "Bo"), Barrier(2)

    def dismiss(review: int, by: int, other: int) -> bool:
        both.wait()
        try:
            if way == "demote":
                people.set_role(review, other, "reader", by)
            else:
                people.remove_member(review, other, by)
        except InputError:
            return False
        return True

    with ThreadPoolExecutor(2) as pool:
        for review in [empty_review(engine) for _ in range(8)]:
            for one in (anna, bo):
                people.add_member(review, one.id, "owner", None)
            done = list(pool.map(dismiss, (review, review), (anna.id, bo.id), (bo.id, anna.id)))
            assert sorted(done) == [False, True]
            assert [people.role_of(review, one.id) for one in (anna, bo)].count("owner") == 1


def test_what_is_no_member_is_refused_in_words(engine: Engine, people: People) -> None:
    admin, anna, review = account(people, "admin", is_admin=True), account(people, "Anna"), empty_review(engine)
    people.add_member(review, admin.id, "owner", None)
    for review_id, number, role, words in (
        (review, 77, "reader", "no account with the number 77"),
        (77, anna.id, "reader", "no review with the number 77"),
        (review, anna.id, "king", "No role called 'king'"),
        (review, admin.id, "reader", "admin is a member already, as owner"),
    ):
        with pytest.raises(InputError, match=words):
            people.add_member(review_id, number, role, admin.id)
    people.close_account(anna.id, admin.id)
    with pytest.raises(InputError, match="account of Anna is closed"):
        people.add_member(review, anna.id, "reader", admin.id)
    with pytest.raises(UnknownName, match="No role called 'king'"):
        people.set_role(review, admin.id, "king", admin.id)


def test_a_key_opens_the_review_of_its_owner_as_their_role(engine: Engine, people: People) -> None:
    owner, anna, review = account(people, "owner"), account(people, "Anna"), empty_review(engine)
    with pytest.raises(InputError, match="Only a member"):
        people.make_token(review, anna.id, "script")
    people.add_member(review, owner.id, "owner", None)
    people.add_member(review, anna.id, "reader", None)
    made, key = people.make_token(review, anna.id, "script")
    assert made.reviewer_id == anna.id
    assert people.token_visitor(key) == (anna, review, identity_of(engine, review), "reader")
    assert [people.token_visitor(wrong) for wrong in ("", key[:-1], "\0", "\udcff")] == [None] * 4
    (used,) = people.tokens(review, anna.id)
    assert used.last_used_at is not None
    people.token_visitor(key)
    assert people.tokens(review, None) == [used]
    assert people.tokens(review, owner.id) == []
    people.set_role(review, anna.id, "reviewer", None)
    entry = people.token_visitor(key)
    assert entry is not None
    assert entry.role == "reviewer"
    with pytest.raises(UnknownName, match="no token with the number"):
        people.revoke_token(review, made.id, owner.id, owner.id)
    people.revoke_token(review, made.id, owner.id, None)
    assert people.token_visitor(key) is None
    assert [act.act for act in people.acts(review, 3)] == ["token revoked", "role changed", "token made"]
