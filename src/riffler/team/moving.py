"""A review moves: from a file to a server, back, or between two of either; all of it is there, or nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Engine, func, inspect, select, update
from sqlalchemy.orm import Session

from riffler.errors import InputError, ReviewFileError, StorageError, UnknownName
from riffler.review.copying import Tell, copy_review
from riffler.review.database import (
    Address,
    connect,
    file_of,
    in_words,
    is_postgres,
    lock_review,
    now,
    reading,
    shown_address,
    writing,
)
from riffler.review.new_file import leave_one_file, writing_new_file
from riffler.review.schema import Document, EventRow, LedgerRow, ReviewRow
from riffler.review.schema_team import MemberRow
from riffler.review.upgrade import bring_up_to_date, prepare_server
from riffler.team.accounts import find_account
from riffler.team.members import OWNER, raise_role

__all__ = ["MOVED", "Moved", "copy_review", "find_review", "move_review"]

MOVED = "moved"
"""Event of a review that was moved elsewhere, and is frozen where it was."""


@dataclass(frozen=True, slots=True)
class Moved:
    """What is in the target now, where the review has the number ``id``."""

    id: int
    name: str
    n_documents: int
    n_answers: int
    n_people: int  # who said something, or are members
    has_owner: bool


def move_review(
    source: Address, which: str | None, target: Address, *, keep: bool, tell: Tell, owner: str | None = None
) -> Moved:
    """Move a review, which is then frozen where it was; or copy it, where the source is to ``keep`` it as it is.

    which : its identity or its name; needed where the source has several
    target : a file that is not there is made; in a database the review is added to those that it has
    owner : name of an account of the target that owns the review there; one that one person read has no members

    The target has it first. Whoever is killed between that and the freezing leaves two: to move it again is refused.
    """
    _check_addresses(source, target)
    with _opened(source) as engine:
        with reading(engine) as session:
            review_id = find_review(session, which, shown_address(source))
        with _prepared(target) as writing_there:
            if not keep:
                return _moved(engine, review_id, writing_there, source, target, tell, owner)
            with reading(engine) as session, writing_there() as new:
                return _copied(session, review_id, new, tell, owner)


def find_review(session: Session, which: str | None, where: str) -> int:
    """Return the number of the review with an identity or a name; of the only one where none is named."""
    rows = session.execute(select(ReviewRow.id, ReviewRow.identity, ReviewRow.name).order_by(ReviewRow.id))
    there = {number: (identity, name) for number, identity, name in rows}
    names = ", ".join(sorted(repr(name) for _, name in there.values()))
    if not there:
        raise ReviewFileError(f"{where}: there is no review in it. Name a file or a database that has one.")
    if which is None and len(there) > 1:
        raise InputError(f"{where}: there are {len(there)} reviews. Say which: {names}.")
    by_identity = [number for number, (identity, _) in there.items() if which in (None, identity)]
    found = by_identity or [number for number, (_, name) in there.items() if name == which]
    if not found:
        raise UnknownName(f"{where}: there is no review called {which!r}. Known: {names}.")
    if len(found) > 1:
        identities = ", ".join(there[number][0] for number in found)
        raise InputError(
            f"{where}: {len(found)} reviews are called {which!r}. Say which by its identity: {identities}."
        )
    return found[0]


def _moved(
    engine: Engine,
    review_id: int,
    writing_there: Callable[[], AbstractContextManager[Session]],
    source: Address,
    target: Address,
    tell: Tell,
    owner: str | None,
) -> Moved:
    arrived = False
    try:
        with writing(engine) as session:
            _lock(session, review_id)
            _check_not_moved(session, review_id, shown_address(source))
            with writing_there() as new:
                moved = _copied(session, review_id, new, tell, owner)
                _freeze(session, review_id, shown_address(target))  # now, so that a fault of it stops the copy as well
            arrived = True
    except StorageError as error:
        if not arrived:
            raise
        raise StorageError(
            f"The review is whole in {shown_address(target)}, but it could not be frozen in {shown_address(source)}: "
            f"{error} Go on in {shown_address(target)} only."
        ) from error
    return moved


def _copied(session: Session, review_id: int, new: Session, tell: Tell, owner: str | None) -> Moved:
    account = None if owner is None else find_account(new, owner)
    if owner is not None and (account is None or account.password is None):
        raise UnknownName(f"The target has no account {owner!r} that can log in. Make one first, by riffler invite.")
    number = copy_review(session, review_id, new, tell)
    if account is not None:
        raise_role(new, number, account.id, OWNER, None)
    said = select(LedgerRow.reviewer_id).where(LedgerRow.review_id == number)
    people = said.union(select(MemberRow.reviewer_id).where(MemberRow.review_id == number)).subquery()
    answers = (LedgerRow.review_id == number, LedgerRow.kind == "answer")
    owners = (MemberRow.review_id == number, MemberRow.role == OWNER, MemberRow.left_at.is_(None))
    return Moved(
        number,
        new.execute(select(ReviewRow.name).where(ReviewRow.id == number)).scalar_one(),
        new.scalar(select(func.count(Document.id)).where(Document.review_id == number)) or 0,
        new.scalar(select(func.count(LedgerRow.id)).where(*answers)) or 0,
        new.scalar(select(func.count()).select_from(people)) or 0,
        new.scalar(select(MemberRow.role).where(*owners).limit(1)) is not None,
    )


def _lock(session: Session, review_id: int) -> None:
    """Wait until nobody changes the review, and let nobody add to it until the transaction ends."""
    for lock in (-review_id, review_id):  # of imports and of all else, in the order in which an import takes them
        lock_review(session, lock)
    # what is only added, such as what somebody did, needs no lock but refers to this row
    session.execute(select(ReviewRow.id).where(ReviewRow.id == review_id).with_for_update())


def _check_not_moved(session: Session, review_id: int, where: str) -> None:
    """Refuse a review that was moved away and not set free since: two that go on apart could not be joined again."""
    frozen_by_move = select(EventRow).where(
        EventRow.review_id == review_id,
        EventRow.name == MOVED,
        EventRow.at == select(ReviewRow.frozen_at).where(ReviewRow.id == review_id).scalar_subquery(),
    )
    event = session.scalars(frozen_by_move).first()
    if event is not None:
        raise InputError(
            f"{where}: the review was moved to {event.details['to']} on {event.at[:10]}. Move it from there, or copy "
            "what is left here with --copy."
        )


def _freeze(session: Session, review_id: int, to: str) -> None:
    moment = now()
    session.execute(update(ReviewRow).where(ReviewRow.id == review_id).values(frozen_at=moment))
    session.add(EventRow(review_id=review_id, at=moment, name=MOVED, details={"to": to}))
    session.flush()


def _check_addresses(source: Address, target: Address) -> None:
    for address in (source, target):
        if not is_postgres(address) and "://" in str(address).removeprefix("sqlite:///"):
            raise InputError(
                "An address is that of no known database. Name a file, or write postgresql+psycopg://user@host:port/name."
            )
    if not is_postgres(target) and file_of(target).is_dir():
        raise InputError(f"{target} is a folder. Name a file in it.")
    if is_postgres(source) and is_postgres(target):
        is_same = shown_address(source) == shown_address(target)
    else:
        is_same = is_postgres(source) == is_postgres(target) and _is_same_file(file_of(source), file_of(target))
    if is_same:
        raise InputError(f"{shown_address(target)}: source and target are the same. Name another target.")


def _is_same_file(one: Path, other: Path) -> bool:
    return one.samefile(other) if one.exists() and other.exists() else one.resolve() == other.resolve()


@contextmanager
def _prepared(target: Address) -> Iterator[Callable[[], AbstractContextManager[Session]]]:
    """Make a target ready, and give the door through which a review is written to it in one transaction."""
    if not is_postgres(target) and not file_of(target).exists():
        yield lambda: writing_new_file(file_of(target))
        return
    engine = connect(target)
    try:
        if is_postgres(target):
            prepare_server(engine, shown_address(target))
            yield lambda: writing(engine)
        else:
            bring_up_to_date(engine, file_of(target))
            yield lambda: writing(engine)
            leave_one_file(engine)
    finally:
        engine.dispose()


@contextmanager
def _opened(source: Address) -> Iterator[Engine]:
    """Open a database that has reviews; an older one is brought up to date."""
    if not is_postgres(source) and not file_of(source).is_file():
        raise ReviewFileError(f"{source}: there is no such file. Name the file of a review, or a database.")
    engine = connect(source)
    try:
        if is_postgres(source):
            with in_words(), engine.connect() as connection:
                is_ours = inspect(connection).has_table("alembic_version")
            if not is_ours:
                raise ReviewFileError(
                    f"{shown_address(source)}: there is no review in it. Name a database that has one."
                )
            prepare_server(engine, shown_address(source))
            yield engine
        else:
            bring_up_to_date(engine, file_of(source))
            yield engine
            leave_one_file(engine)
    finally:
        engine.dispose()
