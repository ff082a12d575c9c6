"""Drafts of reviews: a file that is being made is locked while it is; one that a kill left behind is swept."""

from __future__ import annotations

import re
import sqlite3
import time
from contextlib import closing, suppress
from pathlib import Path

from sqlalchemy import Engine, event
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.pool import ConnectionPoolEntry

BESIDE = ("-wal", "-shm", "-journal")
YOUNG_SECONDS = 60.0  # an empty draft that is younger may belong to somebody who is about to lock it


def keep_to_itself(engine: Engine) -> None:
    """Let an engine lock its file from the first change until it is disposed of."""
    event.listen(engine, "connect", _lock, insert=True)  # before anything is written to the file


def sweep_drafts(target: Path) -> None:
    """Remove the drafts of a file that nobody works on."""
    named = re.compile(rf"\.{re.escape(target.stem)}-[a-z0-9_]{{8}}{re.escape(''.join(target.suffixes))}")
    for draft in target.parent.glob(".*"):
        with suppress(FileNotFoundError):  # it has just become the file
            if named.fullmatch(draft.name) and not _is_in_use(draft):
                remove_beside(draft)
                draft.unlink()


def beside(path: Path) -> list[Path]:
    """Return the files that SQLite keeps beside one while it is open, and that a kill leaves there."""
    return [path.with_name(path.name + ending) for ending in BESIDE]


def remove_beside(path: Path) -> None:
    """Remove what SQLite keeps beside a file."""
    for file in beside(path):
        file.unlink(missing_ok=True)


def _is_in_use(draft: Path) -> bool:
    about = draft.stat()
    if about.st_size == 0 and not any(file.exists() for file in beside(draft)):  # nobody has ever locked it
        return time.time() - about.st_mtime < YOUNG_SECONDS
    try:
        with closing(sqlite3.connect(f"{draft.resolve().as_uri()}?mode=rw", uri=True, timeout=0)) as connection:
            connection.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError:  # it is locked
        return True
    except sqlite3.DatabaseError:  # it is no database, so nobody makes a review of it
        return False
    return False


def _lock(connection: DBAPIConnection, record: ConnectionPoolEntry) -> None:
    cursor = connection.cursor()
    cursor.execute("PRAGMA locking_mode=EXCLUSIVE")
    cursor.close()
