"""The audit trail: who did what, the latest first, and nobody changes it."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine, text
from sqlalchemy.exc import DatabaseError

from riffler.review.database import writing
from riffler.team.acts import record_act
from riffler.team.people import People
from tests.team.people import account, empty_review


def test_acts_are_read_latest_first_in_pages(engine: Engine, people: People) -> None:
    anna, review = account(people, "Anna"), empty_review(engine)
    for number in range(5):
        people.record("exported", review_id=review, by=anna.id, number=number, format="RIS")
    people.record("looked", review_id=empty_review(engine))
    people.record("rested")
    first = people.acts(review, 3)
    assert [act.details for act in first] == [{"number": n, "format": "RIS"} for n in (4, 3, 2)]
    assert {(act.who, act.act) for act in first} == {("Anna", "exported")}
    assert [act.details["number"] for act in people.acts(review, 3, first[-1].id)] == [1, 0]
    of_server = people.acts(None)  # and of no review: an admin is not a member of all
    assert [act.act for act in of_server] == ["rested", "account made"]
    assert (of_server[0].who, of_server[0].details) == ("", {})


def test_what_was_not_done_is_not_written_down(engine: Engine, people: People) -> None:
    with writing(engine) as session:
        record_act(session, "exported")
        session.flush()
        session.rollback()
    assert people.acts(None) == []


@pytest.mark.parametrize("statement", ["UPDATE acts SET act = 'nothing'", "DELETE FROM acts"])
def test_nobody_changes_what_was_done(engine: Engine, people: People, statement: str) -> None:
    people.record("exported")
    with pytest.raises(DatabaseError, match="append-only"), writing(engine) as session:
        session.execute(text(statement))
    assert [act.act for act in people.acts(None)] == ["exported"]
