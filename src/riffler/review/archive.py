"""A whole review as one file that another machine opens: the review, its history for eyes, and what they must be.

An archive may come from anybody: names, sizes and sums are checked before anything of it is opened.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import sqlite3
import stat
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sqlalchemy import func, select

from riffler.errors import DiskFull, InputError, ReviewFileError
from riffler.review.database import connect, in_words, now
from riffler.review.drafts import remove_beside
from riffler.review.export import write_history, writing_to
from riffler.review.schema import NEWEST, ReviewRow
from riffler.review.store import FileReview, Review, open_review
from riffler.review.upgrade import foreign_parts

KIND, VERSION = "riffler review", 1
MANIFEST, REVIEW, HISTORY = "manifest.json", "review.riffler", "history.csv"
MOST_BYTES = 20_000_000_000
MOST_OF_A_MANIFEST = 1_000_000
CHUNK = 1 << 20
LEFT_BEHIND = ("tokens", "leases", "visits", "invitations", "tries", "holds", "upload_parts", "uploads")
"""Tables of this machine alone: who may use the review here, who reads just now, and which process learns."""

NO_ACCOUNTS = "UPDATE reviewers SET password = NULL, is_admin = 0"
"""People stay by their names; who could log in here cannot do so elsewhere."""

DAMAGE = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, RuntimeError, ValueError, LookupError, TypeError)
"""What a damaged, encrypted or made-up archive makes Python raise."""


def write_archive(review: Review, path: str | os.PathLike[str]) -> None:
    """Write the review of this moment as a zip, which is whole or not there; keys for programs do not travel."""
    target = Path(path)
    with writing_to(target) as draft, tempfile.TemporaryDirectory(dir=target.parent, prefix=".archive-") as folder:
        copy, history = Path(folder) / REVIEW, Path(folder) / HISTORY
        review.backup(copy)
        _forget_this_machine(copy)
        with open_review(copy) as frozen:
            _check_alone(frozen)
            write_history(frozen, history)
            counts = frozen.counts()
        manifest = {
            "kind": KIND,
            "version": VERSION,
            "riffler": version("riffler"),
            "tables": NEWEST,
            "name": review.name,
            "made_at": now(),
            "counts": counts,
            "files": {file.name: _described(file) for file in (copy, history)},
        }
        with zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(MANIFEST, json.dumps(manifest, indent=2, ensure_ascii=False))
            archive.write(copy, REVIEW)
            archive.write(history, HISTORY)


def open_archive(path: str | os.PathLike[str], target: str | os.PathLike[str], *, most_bytes: int = MOST_BYTES) -> None:
    """Make the review of an archive a file of its own, which is whole or not there; nothing else is unpacked."""
    source, wanted = Path(path), Path(target)
    if not source.is_file():
        raise ReviewFileError(f"{source}: there is no such file.")
    if not wanted.parent.is_dir():
        raise InputError(f"{wanted}: there is no folder {wanted.parent}. Make it first.")
    if wanted.exists():
        raise InputError(f"{wanted}: there is a file already. Choose another name.")
    with tempfile.TemporaryDirectory(dir=wanted.parent, prefix=".archive-") as folder:
        draft = Path(folder) / REVIEW
        with _in_words(source), zipfile.ZipFile(source) as archive:
            described = _checked(archive, most_bytes)
            _unpack(archive, described, draft)
        _check_database(source, draft)
        _check_parts(source, draft)
        _forget_this_machine(draft)
        open_review(draft).close()  # brings one of an older version up to date, and refuses a newer one
        with writing_to(wanted) as final:
            draft.replace(final)
            remove_beside(wanted)  # SQLite would take what a removed review left behind for a part of this one


def _check_alone(review: FileReview) -> None:
    with review.moment() as session:
        n = session.scalar(select(func.count(ReviewRow.id))) or 0
    if n > 1:
        raise InputError(
            f"The file holds {n} reviews, an archive one. Take one out: riffler migrate --copy FILE NEW --review NAME"
        )


def _described(file: Path) -> dict[str, Any]:
    with file.open("rb") as stream:
        return {"bytes": file.stat().st_size, "sha256": hashlib.file_digest(stream, "sha256").hexdigest()}


def _forget_this_machine(copy: Path) -> None:
    with in_words(), closing(sqlite3.connect(copy)) as connection:
        connection.execute("PRAGMA secure_delete=ON")  # the bytes go as well, not only the rows
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        for table in LEFT_BEHIND:
            if table in tables:
                connection.execute(f"DELETE FROM {table}")
        if "members" in tables:  # older ones know no accounts
            connection.execute(NO_ACCOUNTS)
        connection.commit()


def _checked(archive: zipfile.ZipFile, most_bytes: int) -> dict[str, Any]:
    """Check names and sizes of an archive, and return what it says about its review."""
    parts = archive.infolist()
    names = sorted(part.filename for part in parts)
    if names != sorted((MANIFEST, REVIEW, HISTORY)):
        raise ReviewFileError(f"it holds {', '.join(map(repr, names[:5])) or 'nothing'}, not a review")
    if any(stat.S_ISLNK(part.external_attr >> 16) or part.is_dir() for part in parts):
        raise ReviewFileError("it holds links or folders in place of files")
    if archive.getinfo(MANIFEST).file_size > MOST_OF_A_MANIFEST:
        raise ReviewFileError("its manifest is too long")
    manifest = json.loads(archive.read(MANIFEST))
    if manifest["kind"] != KIND:
        raise ReviewFileError("it is of another program")
    if manifest["version"] > VERSION:
        raise ReviewFileError("it was written by a newer Riffler; update this one to open it")
    for part in (archive.getinfo(REVIEW), archive.getinfo(HISTORY)):
        if part.file_size != manifest["files"][part.filename]["bytes"] or part.file_size > most_bytes:
            raise ReviewFileError(f"{part.filename} has {part.file_size:,} bytes, which is not what it should have")
    described: dict[str, Any] = manifest["files"][REVIEW]
    return described


def _unpack(archive: zipfile.ZipFile, described: dict[str, Any], draft: Path) -> None:
    """Write the review to a file; never more bytes than were declared."""
    digest, n_left = hashlib.sha256(), int(described["bytes"])
    with archive.open(REVIEW) as packed, draft.open("wb") as plain:
        while piece := packed.read(CHUNK):
            n_left -= len(piece)
            if n_left < 0:
                raise ReviewFileError("it unpacks to more than it says")
            digest.update(piece)
            plain.write(piece)
    if digest.hexdigest() != described["sha256"]:
        raise ReviewFileError("its sum is not the one that was written down; it was changed or damaged on the way")


def _check_database(source: Path, draft: Path) -> None:
    try:
        with closing(sqlite3.connect(draft)) as connection:
            connection.execute("PRAGMA trusted_schema=OFF")
            found = connection.execute("PRAGMA quick_check").fetchone()
    except sqlite3.DatabaseError as error:
        raise ReviewFileError(f"{source}: the review in it is damaged ({error}). Use another copy.") from error
    if found != ("ok",):
        raise ReviewFileError(f"{source}: the review in it is damaged ({found[0]}). Use another copy.")


def _check_parts(source: Path, draft: Path) -> None:
    engine = connect(draft)
    try:
        foreign = foreign_parts(engine, source)
    finally:
        engine.dispose()
    if foreign:
        raise ReviewFileError(
            f"{source}: the review in it has tables or triggers that Riffler did not make "
            f"({', '.join(map(repr, foreign[:5]))}), so it cannot be trusted. Use an archive that Riffler wrote."
        )


@contextmanager
def _in_words(source: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise DiskFull(f"{source}: there is no room to unpack it. Free some space, then try again.") from error
        raise ReviewFileError(f"{source}: cannot be read ({error.strerror}). Copy it again.") from error
    except (ReviewFileError, *DAMAGE) as error:
        why = str(error) or type(error).__name__
        raise ReviewFileError(
            f"{source}: not an archive of a review: {why}. Use the file as it was written."
        ) from error
