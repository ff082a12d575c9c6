"""People that the tests share: cheap passwords, reviews without documents, and time that passes."""

from __future__ import annotations

from uuid import uuid4

import pytest
from argon2 import PasswordHasher
from sqlalchemy import Engine, update

from riffler.review.database import now, writing
from riffler.review.schema import ReviewRow
from riffler.review.schema_team import InvitationRow, TryRow, VisitRow
from riffler.team import passwords
from riffler.team.people import Account, People
from tests.review.reviews import SETTINGS

PASSWORD = "whales sing at night"
OTHER = "fin whales sing deeper"
ADDRESS = "192.0.2.1"
MINUTE, DAY = 60.0, 86_400.0


def cheapen(monkeypatch: pytest.MonkeyPatch) -> PasswordHasher:
    """Make hashes that take no time; tests are about who may come in, not about how long it takes."""
    hasher = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    monkeypatch.setattr(passwords, "HASHER", hasher)
    monkeypatch.setattr(passwords, "NOBODYS", hasher.hash("nobody's"))
    return hasher


def account(people: People, name: str, *, is_admin: bool = False) -> Account:
    return people.make_account(name, PASSWORD, is_admin=is_admin)


def empty_review(engine: Engine, name: str = "whales") -> int:
    """Make a review without documents and without members."""
    with writing(engine) as session:
        row = ReviewRow(name=name, settings=SETTINGS.as_json(), made_at=now(), made_with="test", identity=str(uuid4()))
        session.add(row)
        session.flush()
        return row.id


def identity_of(engine: Engine, review_id: int) -> str:
    with writing(engine) as session:
        return session.get_one(ReviewRow, review_id).identity


def let_pass(engine: Engine, seconds: float) -> None:
    """Let time pass for visits, tries and invitations: all that was, was so much earlier."""
    with writing(engine) as session:
        session.execute(update(VisitRow).values(seen_at=VisitRow.seen_at - seconds, ends_at=VisitRow.ends_at - seconds))
        session.execute(update(TryRow).values(at=TryRow.at - seconds))
        session.execute(update(InvitationRow).values(ends_at=InvitationRow.ends_at - seconds))
