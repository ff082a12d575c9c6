"""A new file for reviews: whole when it is done, or not there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from errno import ENOSPC
from pathlib import Path

from sqlalchemy import Engine
from sqlalchemy.orm import Session

from riffler.data.atomic import atomic_write
from riffler.errors import DiskFull, InputError, StorageError
from riffler.review.copying import copy_review
from riffler.review.database import connect, in_words, writing
from riffler.review.drafts import beside, keep_to_itself, remove_beside, sweep_drafts
from riffler.review.upgrade import make_tables


def copy_to_file(source: Session, review_id: int, path: Path) -> None:
    """Copy a review to a new file."""
    with writing_new_file(path) as new:
        copy_review(source, review_id, new)


@contextmanager
def writing_new_file(path: Path) -> Iterator[Session]:
    """Give a session whose changes are a new file when the block ends, or nothing."""
    _check_new(path)
    with _disk_in_words(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    sweep_drafts(path)
    with _disk_in_words(path), atomic_write(path) as draft:
        engine = connect(draft)
        keep_to_itself(engine)
        try:
            make_tables(engine)
            with writing(engine) as session:
                yield session
            leave_one_file(engine)
        finally:
            engine.dispose()
            remove_beside(draft)
        _check_new(path)  # somebody may have made it meanwhile


def _check_new(path: Path) -> None:
    there = next((file for file in (path, *beside(path)) if file.exists()), None)
    if there is not None:
        raise InputError(f"{there}: there is a file already. Choose another name, or remove it.")


@contextmanager
def _disk_in_words(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno == ENOSPC:
            raise DiskFull(f"{path}: the disk is full, nothing was written. Free some space and try again.") from error
        raise StorageError(f"{path}: cannot be written ({error.strerror or error}). Choose another place.") from error


def leave_one_file(engine: Engine) -> None:
    """Move what SQLite keeps beside its file into it."""
    with in_words(), closing(engine.raw_connection()) as connection:  # raw: outside of a transaction
        cursor = connection.cursor()
        cursor.execute("PRAGMA busy_timeout=1000")  # writers wait meanwhile: whoever is still reading does it later
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
