"""A database that a team shares: its reviews and its people, in PostgreSQL or, for a small office, in a SQLite file."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from types import TracebackType
from typing import Self

from sqlalchemy import Engine, select, text

from riffler.errors import InputError, UnknownName
from riffler.review.creating import add_review
from riffler.review.database import Address, connect, file_of, is_postgres, reading, shown_address, writing
from riffler.review.new_file import leave_one_file, writing_new_file
from riffler.review.schema import ReviewRow
from riffler.review.settings import ReviewSettings
from riffler.review.store import Review
from riffler.review.upgrade import bring_up_to_date, prepare_server
from riffler.team.acts import record_act
from riffler.team.members import add_member
from riffler.team.people import People

MAX_NAME = 200
PRIVATE = 0o600  # accounts will be in it; what SQLite writes beside it gets the same rights


@dataclass(frozen=True, slots=True)
class ReviewName:
    """A review of an office."""

    id: int
    identity: str
    name: str


def open_office(address: Address) -> Office:
    """Open the database of a team; an empty one gets its tables, an older one is upgraded, a missing file is made."""
    if is_postgres(address):
        engine = connect(address)
        try:
            prepare_server(engine, shown_address(address))
        except BaseException:
            engine.dispose()
            raise
        return Office(engine, address)
    path = file_of(address)
    if not path.exists():
        if not path.parent.is_dir():  # most likely a slip: an empty office would open there
            raise InputError(f"{path}: there is no folder {path.parent}. Make it first.")
        with writing_new_file(path):
            pass  # with empty tables
        path.chmod(PRIVATE)
    engine = connect(path)
    try:
        bring_up_to_date(engine, path)
    except BaseException:
        engine.dispose()
        raise
    return Office(engine, address)


class Office:
    """An open database of a team; any number of servers may have the same one open.

    address : of the database
    people : accounts, and who takes part in which review
    """

    def __init__(self, engine: Engine, address: Address) -> None:
        self.address, self.people = address, People(engine)
        self._engine = engine
        self._lock = Lock()
        self._open: dict[str, Review] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections; a SQLite file is left whole."""
        try:
            if not is_postgres(self.address):
                leave_one_file(self._engine)
        finally:
            self._engine.dispose()

    def check(self) -> None:
        """Raise an error in words where the database does not answer."""
        with reading(self._engine) as session:
            session.execute(text("SELECT 1"))

    def reviews(self) -> list[ReviewName]:
        """All reviews, by name."""
        with reading(self._engine) as session:
            rows = session.execute(select(ReviewRow.id, ReviewRow.identity, ReviewRow.name).order_by(ReviewRow.name))
            return [ReviewName(*row) for row in rows]

    def is_open(self, identity: str) -> bool:
        """Tell whether :meth:`review` gives a review without asking the database."""
        with self._lock:
            return identity in self._open

    def review(self, identity: str) -> Review:
        """Return the review with this identity."""
        with self._lock:
            there = self._open.get(identity)
        if there is not None:
            return there
        with reading(self._engine) as session:
            found = session.scalar(select(ReviewRow.id).where(ReviewRow.identity == identity))
        if found is None:
            raise UnknownName("There is no such review. Choose one from the list of reviews.")
        with self._lock:
            return self._open.setdefault(identity, Review(self._engine, found))

    def create(self, name: str, settings: ReviewSettings = ReviewSettings(), *, by: int) -> Review:  # noqa: B008
        """Make a review without documents, whose owner is an account."""
        name = name.strip()
        if not 0 < len(name) <= MAX_NAME:
            raise InputError(f"A review needs a name of 1 to {MAX_NAME} characters, got {len(name)}.")
        with writing(self._engine) as session:
            review_id = add_review(session, name, settings)
            add_member(session, review_id, by, "owner", by=by)
            record_act(session, "made the review", review_id=review_id, reviewer_id=by, name=name)
            identity = session.get_one(ReviewRow, review_id).identity
        return self.review(identity)
