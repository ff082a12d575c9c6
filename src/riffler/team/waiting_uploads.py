"""Files that wait for a second request, in the database: whichever server gets that request finds them."""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

from sqlalchemy import ColumnElement, Engine, delete, insert, select, update
from sqlalchemy.orm import Session

from riffler.errors import StorageError, UnknownName
from riffler.review.database import POSTGRES, clock, in_words, writing
from riffler.review.schema_team import UploadPart, UploadRow
from riffler.review.storable import storable

MAX_WAITING = 8  # a review
WAITING_SECONDS = 3600.0
PART_BYTES = 1 << 20
SECRET_BYTES = 32
HELD = "held:"  # before the hash of one that is being added, which no token has

FilePath = str | os.PathLike[str]


class UploadRoom:
    """Files that wait to be added to reviews, by a token; only the latest few of a review may, and not for long."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def add(self, review_id: int, reviewer_id: int | None, name: str, path: FilePath) -> str:
        """Let a copy of a file wait, and return its token; the oldest of the review have to go for it."""
        token = secrets.token_urlsafe(SECRET_BYTES)
        with writing(self._engine) as session:
            _sweep(session)
            row = UploadRow(
                hash=_hash(token),
                review_id=review_id,
                reviewer_id=reviewer_id,
                name=storable(session, name),
                ends_at=clock(session) + WAITING_SECONDS,
            )
            session.add(row)
            session.flush()
            _write_parts(session, row.id, Path(path))
            _remove(session, _unlocked(session, UploadRow.review_id == review_id)[MAX_WAITING:])
        return token

    def held(self, review_id: int, token: str, path: FilePath) -> AbstractContextManager[str]:
        """Write a file that waits to a path and give its name, to nobody else meanwhile.

        It waits on where the block fails, and is gone otherwise.
        """
        on_postgres = self._engine.dialect.name == POSTGRES
        return (self._held_by_lock if on_postgres else self._held_by_mark)(review_id, token, Path(path))

    def drop(self, review_id: int, token: str) -> None:
        """Throw a file away that waits."""
        with writing(self._engine) as session:
            _remove(session, [_waiting(session, review_id, token).id])

    def sweep(self) -> None:
        """Throw away what has waited for too long, in all reviews."""
        with writing(self._engine) as session:
            _sweep(session)

    @contextmanager
    def _held_by_lock(self, review_id: int, token: str, path: Path) -> Iterator[str]:
        """Hold the lock of its row: it ends with the connection, so that a server that is killed holds nothing."""
        with Session(self._engine) as session:
            with in_words():
                row = _waiting(session, review_id, token)
                _read_parts(session, row.id, path)
            yield row.name
            with suppress(StorageError), in_words():  # what the block did is done; the file ends by itself
                _remove(session, [row.id])
                session.commit()

    @contextmanager
    def _held_by_mark(self, review_id: int, token: str, path: Path) -> Iterator[str]:
        """Mark its row: in SQLite a lock would keep the block, and everybody else, from writing."""
        with writing(self._engine) as session:
            row = _waiting(session, review_id, token)
            _read_parts(session, row.id, path)
            row.hash = HELD + row.hash
        try:
            yield row.name
        except BaseException:
            with writing(self._engine) as session:
                session.execute(update(UploadRow).where(UploadRow.id == row.id).values(hash=_hash(token)))
            raise
        with suppress(StorageError), writing(self._engine) as session:
            _remove(session, [row.id])


def _waiting(session: Session, review_id: int, token: str) -> UploadRow:
    """Return what waits, locked until the session ends; what somebody else has locked does not wait."""
    row = session.scalars(
        select(UploadRow)
        .where(
            UploadRow.hash == _hash(token), UploadRow.review_id == review_id, UploadRow.ends_at > clock(session)
        )
        .with_for_update(skip_locked=True)
    ).first()  # fmt: skip
    if row is None:
        raise UnknownName("This import is not waiting any more: it was done or dropped. Choose the file again.")
    return row


def _unlocked(session: Session, where: ColumnElement[bool]) -> list[int]:
    """Return the numbers of files, the latest first, without those that somebody else has locked."""
    rows = select(UploadRow.id).where(where).order_by(UploadRow.id.desc())
    return list(session.scalars(rows.with_for_update(skip_locked=True)))


def _sweep(session: Session) -> None:
    _remove(session, _unlocked(session, UploadRow.ends_at <= clock(session)))


def _remove(session: Session, numbers: list[int]) -> None:
    session.execute(delete(UploadPart).where(UploadPart.upload_id.in_(numbers)))
    session.execute(delete(UploadRow).where(UploadRow.id.in_(numbers)))


def _write_parts(session: Session, number: int, path: Path) -> None:
    with path.open("rb") as file:
        parts = iter(lambda: file.read(PART_BYTES), b"")
        for at, payload in enumerate(parts):
            session.execute(insert(UploadPart), {"upload_id": number, "number": at, "payload": payload})


def _read_parts(session: Session, number: int, path: Path) -> None:
    """Write the bytes of a file to a path, one part in memory at a time."""
    parts = (
        select(UploadPart.payload)
        .where(UploadPart.upload_id == number)
        .order_by(UploadPart.number)
        .execution_options(yield_per=1)
    )
    with path.open("wb") as file:
        for payload in session.scalars(parts):
            file.write(payload)


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
