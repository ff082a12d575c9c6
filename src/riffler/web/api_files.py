"""Files that go out: exports, the backup, the archive, and the counts of a PRISMA diagram."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from fastapi import APIRouter, Query
from starlette.background import BackgroundTask
from starlette.responses import FileResponse

from riffler.errors import StorageError
from riffler.review.archive import write_archive
from riffler.review.desk import Desk
from riffler.review.export import FORMATS, write_export, write_history
from riffler.review.prisma import prisma_counts
from riffler.review.store import Review
from riffler.web.house import House
from riffler.web.models import CountRow, ExportName, Which
from riffler.web.state import TheDesk, TheHouse, TheReview
from riffler.web.uploads import PrivateFolder

router = APIRouter(tags=["files"])

CSV, SQLITE, ZIP = "text/csv; charset=utf-8", "application/vnd.sqlite3", "application/zip"


class OutFile(NamedTuple):
    """What a file that goes out is called after the name of the review, what it is, and what of the review is in it."""

    addition: str
    ending: str
    media_type: str
    which: str


def a_file(*types: str) -> dict[int | str, dict[str, Any]]:
    """Describe a reply that is a file."""
    return {200: {"description": "The file.", "content": {one.partition(";")[0]: {} for one in types}}}


@router.get("/export", response_class=FileResponse, responses=a_file(*(one.media_type for one in FORMATS.values())))
def export(
    house: TheHouse,
    desk: TheDesk,
    format: ExportName = "csv",
    which: Annotated[Which, Query(description="All documents, or those with one verdict.")] = "all",
) -> FileResponse:
    """Download the documents with all their columns, and labels, notes, tags, ranks and scores beside them."""
    chosen = FORMATS[format]
    file = OutFile("" if which == "all" else f"-{which}", chosen.ending, chosen.media_type, which)
    return sent(house, desk, file, lambda path: write_export(desk.review, path, format, which))


@router.get("/history/export", response_class=FileResponse, responses=a_file(CSV))
def export_history(house: TheHouse, desk: TheDesk) -> FileResponse:
    """Download everything that was ever said, as CSV: who, what, when, why it was shown, how long it took."""
    file = OutFile("-history", ".csv", CSV, "history")
    return sent(house, desk, file, lambda path: write_history(desk.review, path, desk.viewer))


@router.get("/backup", response_class=FileResponse, responses=a_file(SQLITE))
def backup(house: TheHouse, desk: TheDesk) -> FileResponse:
    """Download a copy of the review as it is at this moment; work may go on meanwhile."""
    file = OutFile(f"-{date.today():%Y-%m-%d}", ".riffler", SQLITE, "backup")
    return sent(house, desk, file, desk.review.backup)


@router.get("/archive", response_class=FileResponse, responses=a_file(ZIP))
def archive(house: TheHouse, desk: TheDesk) -> FileResponse:
    """Download the whole review as one file that another machine opens; tokens do not travel with it."""
    return sent(house, desk, OutFile("", ".zip", ZIP, "archive"), lambda path: write_archive(desk.review, path))


@router.get("/prisma")
def prisma(review: TheReview) -> list[CountRow]:
    """The counts of a PRISMA flow diagram, in its order."""
    return [CountRow(words=words, n=n) for words, n in prisma_counts(review).table()]


def sent(house: House, desk: Desk, file: OutFile, write: Callable[[Path], object]) -> FileResponse:
    """Write a file in the private folder, and send it; it is removed when it was sent or could not be."""
    name = _file_name(desk.review, file.addition, file.ending)
    with house.folder.passing(file.ending) as path:
        with _in_their_words(house.folder, name):
            write(path)
        desk.note_act("exported", format=file.ending.removeprefix("."), which=file.which)
    # whatever the file holds, the browser keeps it and shows nothing of it
    return FileResponse(path, media_type=file.media_type, filename=name, background=BackgroundTask(path.unlink, True))


@contextmanager
def _in_their_words(folder: PrivateFolder, name: str) -> Iterator[None]:
    """Let errors speak of the file by the name that its owner will see, not of the place where it is made."""
    try:
        yield
    except StorageError as error:
        raise type(error)(re.sub(re.escape(str(folder.path)) + r"[^\s:'\"]*", name, str(error))) from error


def _file_name(review: Review, addition: str, ending: str) -> str:
    """Return a name that every file system takes; the name of a review may have any characters."""
    stem = re.sub(r"[^\w.-]+", "_", review.name).strip("._")[:80]
    return f"{stem or 'review'}{addition}{ending}"
