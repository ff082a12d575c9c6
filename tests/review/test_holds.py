"""Nobody gets a document that somebody reads; what is left unread comes back."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import Engine, func, select
from sqlalchemy.orm import Session

from riffler.errors import AnswerConflict
from riffler.review import holds
from riffler.review.database import clock, insert_new, reading, writing, writing_review
from riffler.review.hold_questions import HOLD_SECONDS
from riffler.review.holds import take_documents
from riffler.review.schema import LedgerRow, Suggestion
from riffler.review.schema_team import HoldRow
from tests.team.people import cheapen
from tests.team.teams import team_at


@pytest.fixture(autouse=True)
def _cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Passwords cost little."""
    cheapen(monkeypatch)


def test_nobody_gets_what_another_holds_and_a_reload_shows_the_same(engine: Engine) -> None:
    team = team_at(engine)
    assert team.next_of("anna", 3) == ["d0", "d1", "d2"]
    assert team.next_of("bert", 3) == ["d3", "d4", "d5"]
    assert team.show("anna") == "d0"
    assert team.next_of("anna", 3) == ["d0", "d1", "d2"]
    assert team.next_of("olga", 2) == ["d6", "d7"]


def test_what_was_not_seen_is_exchanged_for_something_better(engine: Engine) -> None:
    team = team_at(engine)
    assert team.show("anna") == "d0"
    assert team.next_of("anna", 2) == ["d0", "d1"]
    team.fill(["d20", "d21", "d2"])
    assert team.next_of("anna", 3) == ["d0", "d20", "d21"]
    assert team.next_of("bert", 2) == ["d2"]  # d1 was exchanged, and the search does not propose it any more


def test_what_somebody_holds_stays_in_the_database_when_the_queue_is_replaced(engine: Engine) -> None:
    team = team_at(engine)
    held = team["anna"].upcoming(1)[0]
    team.fill(["d9"])
    team["anna"].show(held.id)
    assert team.say("anna", "d0", "relevant", held.id).origin == "policy"


def test_an_answer_ends_the_hold(engine: Engine) -> None:
    team = team_at(engine)
    assert [team.read("anna", "relevant"), team.read("anna", "irrelevant"), team.read("bert", "relevant")] == [
        "d0",
        "d1",
        "d2",
    ]
    with reading(engine) as session:
        assert session.scalar(select(func.count()).select_from(HoldRow)) == 0


def test_who_leaves_returns_what_was_shown(engine: Engine) -> None:
    team = team_at(engine)
    assert team.show("anna") == "d0"
    assert [team[name].n_held_by_others() for name in ("anna", "bert")] == [0, 1]
    team["anna"].leave()
    assert team.next_of("bert") == ["d0"]


def test_who_leaves_returns_what_is_taken_at_this_moment(engine: Engine) -> None:
    team, is_taken = team_at(engine), threading.Event()

    def look_away() -> bool:
        is_taken.set()
        time.sleep(0.3)  # a leave that does not wait for this would be over before
        return True

    with ThreadPoolExecutor(1) as other:
        taking = other.submit(team["anna"].upcoming, 3, look_away)
        assert is_taken.wait(60)
        team["anna"].leave()
        assert len(taking.result()) == 3
    assert team.next_of("bert", 3) == ["d0", "d1", "d2"]


@pytest.mark.parametrize("is_there", [True, False])
def test_what_was_undone_is_held_for_a_page_that_is_still_there(engine: Engine, is_there: bool) -> None:
    team = team_at(engine)
    assert team.read("anna", "relevant") == "d0"
    team["anna"].undo(None, "undone", lambda: is_there)
    with reading(engine) as session:
        assert session.scalar(select(func.count()).select_from(HoldRow)) == is_there
    assert team.next_of("bert") == (["d1"] if is_there else ["d0"])
    team["anna"].leave()
    assert team.next_of("bert") == ["d0"]


def test_what_an_owner_takes_back_waits_again(engine: Engine) -> None:
    team = team_at(engine)
    said = team.say("anna", team.show("anna"), "relevant", expect=0)
    assert team.next_of("bert") == ["d1"]
    team["olga"].undo(said.id, "undone")
    assert team.next_of("bert") == ["d0"]


def test_a_hold_ends_when_nothing_is_heard_of_its_holder(engine: Engine) -> None:
    team = team_at(engine)
    assert team.show("anna") == "d0"
    team.age_holds(HOLD_SECONDS - 60)
    assert team.next_of("bert") == ["d1"]
    team.age_holds(120)
    assert team.next_of("bert", 2) == ["d0", "d1"]
    late = team["anna"].upcoming(1)[0]
    assert late.document == "d2"


def test_a_late_answer_counts_and_the_next_reader_is_told(engine: Engine) -> None:
    team = team_at(engine)
    held = team["anna"].upcoming(1)[0]
    team["anna"].show(held.id)
    team.age_holds(2 * HOLD_SECONDS)
    assert team.show("bert") == "d0"
    assert team.say("anna", "d0", "relevant", held.id, expect=0).kind == "answer"
    with pytest.raises(AnswerConflict, match="answered elsewhere meanwhile"):
        team.say("bert", "d0", "irrelevant", held.id, expect=0)
    assert team.next_of("bert") == ["d1"]


@pytest.mark.parametrize("jump", [10 * HOLD_SECONDS, -10 * HOLD_SECONDS])
def test_a_clock_that_jumps_ends_holds_and_blocks_nothing(engine: Engine, jump: float) -> None:
    team = team_at(engine)
    assert team.show("anna") == "d0"
    with writing_review(engine, team.review.id) as session:
        taken = take_documents(session, team.review.id, team["bert"].person, 1, clock(session) + jump)
    assert [one.document for one in taken] == ["d0"]
    assert team.next_of("anna") == ["d0"]  # and so does bert's, by the clock of before: it is of another time


def test_a_document_that_comes_back_is_still_a_control_document(engine: Engine) -> None:
    team = team_at(engine)
    team.fill(["d5"], origin="control")
    assert team.show("anna") == "d5"
    team["anna"].leave()
    team.fill(["d1"])
    assert team.say("bert", "d5", "relevant").origin == "control"


def test_what_came_back_and_is_not_proposed_any_more_is_not_given_out(engine: Engine) -> None:
    team = team_at(engine)
    assert team.show("anna") == "d0"
    team["anna"].leave()
    team.fill(["d7"])
    assert team.next_of("bert", 3) == ["d7"]


def test_somebody_elses_document_cannot_be_put_on_the_screen(engine: Engine) -> None:
    team = team_at(engine)
    held = team["anna"].upcoming(1)[0]
    with pytest.raises(AnswerConflict, match="given to somebody else"):
        team["bert"].show(held.id)


def test_the_table_itself_refuses_a_second_holder(engine: Engine) -> None:
    team = team_at(engine)
    held = team["anna"].upcoming(1)[0]
    with reading(engine) as session:
        number = session.get_one(Suggestion, held.id).document_id
    again = HoldRow(
        document_id=number, slot=0, review_id=team.review.id, reviewer_id=team["bert"].person, suggestion_id=held.id,
        taken_at=0.0, renewed_at=0.0,
    )  # fmt: skip
    with pytest.raises(Exception, match=r"(?i)unique"), writing(engine) as session:
        session.add(again)


def test_many_who_come_at_once_get_different_documents(engine: Engine) -> None:
    names = [f"reader {number}" for number in range(8)]
    team = team_at(engine, reviewers=names, n=200, n_queued=100)

    def work(name: str) -> list[str]:
        return [team.read(name, "irrelevant") for _ in range(8)]

    with ThreadPoolExecutor(8) as pool:
        found = [document for documents in pool.map(work, names) for document in documents]
    assert len(set(found)) == len(found) == 64
    with reading(engine) as session:
        numbers = session.scalars(select(LedgerRow.id).order_by(LedgerRow.id)).all()
    assert len(numbers) == 64


def test_the_queue_tells_what_is_in_hand(engine: Engine) -> None:
    team = team_at(engine)
    team.next_of("anna", 3)
    queue = team.review.queue_now()
    assert (queue.n_waiting, queue.n_ahead, queue.n_in_hand, queue.is_read_from) == (9, 3, 0, True)
    team.show("anna")
    queue = team.review.queue_now()
    assert (queue.n_waiting, queue.n_ahead, queue.n_in_hand) == (11, 0, 1)
    assert team.review.names_in_hand() == {"d0"}
    team.age_holds(2 * HOLD_SECONDS)
    assert not team.review.queue_now().is_read_from


def test_who_loses_one_document_to_another_looks_again_once(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    team, looks = team_at(engine), list[int]()

    def late(session: Session, table: type[HoldRow], rows: Sequence[Mapping[str, Any]]) -> set[int]:
        looks.append(len(rows))
        if len(looks) == 1:  # somebody else takes the second one at this moment
            session.add(HoldRow(**{**rows[1], "reviewer_id": team["bert"].person}))
            session.flush()
        return insert_new(session, table, rows)

    monkeypatch.setattr(holds, "insert_new", late)
    assert [one.document for one in team["anna"].upcoming(3)] == ["d0", "d2", "d3"]
    assert looks == [3, 1]
