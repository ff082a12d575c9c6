"""A small team at a review, which the tests share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count

from sqlalchemy import Engine, select

from riffler.review.creating import add_review
from riffler.review.database import writing
from riffler.review.documents import add_stratum
from riffler.review.fulltext import index_stratum
from riffler.review.queue import Proposal
from riffler.review.remarks import Answer, Receipt
from riffler.review.schema_team import HoldRow
from riffler.review.settings import ReviewSettings
from riffler.review.store import Review
from riffler.team.desk import TeamDesk
from riffler.team.people import People
from tests.review.reviews import library

PASSWORD = "correct horse battery"
SINGLE = ReviewSettings(policy="greedy", description="whale", target=0.8, seed=1)


@dataclass
class Team:
    """A review of some documents with a queue, and desks of its members."""

    engine: Engine
    review: Review
    desks: dict[str, TeamDesk]
    _keys: count[int] = field(default_factory=count)

    def __getitem__(self, name: str) -> TeamDesk:
        return self.desks[name]

    def next_of(self, name: str, n: int = 1) -> list[str]:
        """What somebody is given to read."""
        return [one.document for one in self[name].upcoming(n)]

    def show(self, name: str) -> str:
        """Give somebody the next document, and put it on their screen."""
        queued = self[name].upcoming(1)[0]
        self[name].show(queued.id)
        return queued.document

    def say(self, name: str, document: str, verdict: str, suggestion: int | None = None, **more: object) -> Receipt:
        key = f"{name}/{next(self._keys)}"
        return self[name].answer([Answer(document, key, suggestion, verdict=verdict, **more)])[0]  # type: ignore[arg-type]

    def read(self, name: str, verdict: str) -> str:
        """Let somebody read the next document, and answer about it."""
        queued = self[name].upcoming(1)[0]
        self[name].show(queued.id)
        self.say(name, queued.document, verdict, queued.id)
        return queued.document

    def fill(self, names: Sequence[str], origin: str = "policy") -> None:
        self.review.fill_queue([Proposal(name, origin, 0, why="looks worth reading") for name in names])

    def age_holds(self, seconds: float) -> None:
        """Let all holds be older, as if nothing had been heard of their holders."""
        with writing(self.engine) as session:
            for hold in session.scalars(select(HoldRow)):
                hold.renewed_at -= seconds


def team_at(
    engine: Engine,
    settings: ReviewSettings = SINGLE,
    *,
    owner: str = "olga",
    reviewers: Sequence[str] = ("anna", "bert"),
    n: int = 40,
    n_queued: int = 12,
) -> Team:
    """Make a review with its people: an owner, reviewers, and a reader called rita."""
    people = People(engine)
    roles = {owner: "owner", **dict.fromkeys(reviewers, "reviewer"), "rita": "reader"}
    with writing(engine) as session:
        review_id = add_review(session, "whales", settings)
        index_stratum(session, add_stratum(session, review_id, library(n), None, {}))
    review, desks = Review(engine, review_id), {}
    for name, role in roles.items():
        account = people.make_account(name, PASSWORD)
        people.add_member(review_id, account.id, role, by=None)
        desks[name] = TeamDesk(review, account.id, name, role)
    team = Team(engine, review, desks)
    team.fill([f"d{row}" for row in range(n_queued)])
    return team
