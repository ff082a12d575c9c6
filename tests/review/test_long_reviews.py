"""What the page asks all the time costs no more in a long review than in a short one."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from riffler.review.database import writing
from riffler.review.queue import Proposal
from riffler.review.remarks import Answer
from riffler.review.schema import Suggestion
from riffler.review.store import Review
from tests.review.reviews import new_review, verdict_on

SHORT, LONG = 150, 1500
STEP = 20  # instructions of SQLite's machine between two counts


def read(review: Review, first: int, last: int) -> None:
    """Show documents and answer about them; the next fifty wait, one answer was undone and one corrected."""
    review.fill_queue([Proposal(f"d{row}", "policy", 0) for row in range(first, last)])
    queued = {one.document: one.id for one in review.upcoming(last - first)}
    with writing(review._engine) as session:
        for number in queued.values():
            row = session.get_one(Suggestion, number)
            row.shown_at, row.shown_to = f"2026-01-01T00:00:00.{number:06}", 1
    names = [f"d{row}" for row in range(first, last)]
    receipts = review.answer([Answer(name, f"k {name}", queued[name], 1.0, verdict=verdict_on(name)) for name in names])
    review.undo(receipts[0].id, f"undo {first}")
    review.answer([Answer(names[1], f"again {first}", verdict="maybe")])
    review.fill_queue([Proposal(f"d{row}", "policy", 0) for row in range(last, last + 50)])


def cost(review: Review, ask: Callable[[Review], object]) -> int:
    """Count the instructions that SQLite's machine needs for an answer."""
    n = 0

    def count() -> int:
        nonlocal n
        n += STEP
        return 0

    connection = review._engine.raw_connection()
    connection.driver_connection.set_progress_handler(count, STEP)  # type: ignore[union-attr]
    connection.close()  # goes back to the pool, which hands it out next
    ask(review)
    return n


QUESTIONS: dict[str, Callable[[Review], object]] = {
    "upcoming": lambda review: review.upcoming(5),
    "history": lambda review: review.history(),
    "revision": lambda review: review.revision(),
    "last remark": lambda review: review.last_remark(),
    "standings": lambda review: review.standings_of(["d7"]),
    "documents": lambda review: review.whole_documents(["d7"]),
}


@pytest.fixture(scope="module")
def costs(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, int]]:
    """Cost of each question after some answers, and after ten times as many."""
    found = []
    with new_review(tmp_path_factory.mktemp("long"), n=LONG + 100) as review:
        for first, last in ((0, SHORT), (SHORT, LONG)):
            read(review, first, last)
            found.append({name: cost(review, ask) for name, ask in QUESTIONS.items()})
    return found


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_question_costs_the_same_in_a_long_review(costs: list[dict[str, int]], name: str) -> None:
    short, long = (cost[name] for cost in costs)
    assert long <= 1.6 * short + 10 * STEP
