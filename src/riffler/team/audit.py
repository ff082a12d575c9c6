"""Everything that was done in a review, as one stream: what was said, what was done beside it, and what happened.

It has opinions about documents that still wait for a reader, so it is for owners. Each of the three sources keeps its
own order, which is that of its commits, and they are merged by their moments: where the clock of a server jumps, an
undo still comes after what it undoes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from heapq import merge
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from sqlalchemy import Select, select
from sqlalchemy.orm import Session, aliased

from riffler.data.formulas import guarded
from riffler.errors import InputError
from riffler.review.export import writing_to
from riffler.review.export_tabular import BYTE_ORDER_MARK
from riffler.review.rounds import SETTINGS_CHANGED
from riffler.review.schema import Document, EventRow, LedgerRow, Reviewer
from riffler.review.schema_team import ActRow
from riffler.review.store import LEFT_OUT, WORDING_CHANGED, Review

if TYPE_CHECKING:
    import polars as pl

BLOCK = 1000  # lines that are in memory at a time
COLUMNS = ("at", "who", "what", "document", "title", "details", "source", "number")

DECIDED = {
    "agreement": "all readers said {}",
    "third": "settled as {}, as a third person",
    "consensus": "settled as {}, by consensus",
    "owner": "settled as {}, as an owner",
}
SAID = {
    "opinion": "gave the opinion {}",
    "note": "wrote a note",
    "tag": "gave a tag",
    "untag": "took a tag away",
}
ANSWERED = {"prior": "{} was known before", "correction": "changed the answer to {}"}
HAPPENED = {
    SETTINGS_CHANGED: "settings changed",
    WORDING_CHANGED: "wording changed",
    "documents": "documents added",
    LEFT_OUT: "documents left out that were there",
    "clusters": "clusters joined the search",
    "moved": "review moved",
}
DETAILS = ("verdict", "origin", "decided", "note", "seconds", "why", "shown_at", "round", "probability")


@dataclass(frozen=True, slots=True)
class AuditLine:
    """One thing that was done.

    who : "" where the review itself did it, or somebody at the machine
    what : in words
    document, title : what it was about; None for what is about no document
    source, number : where it is kept: "ledger", "act" or "event", and its number there
    place : what to ask for to go on reading
    """

    at: str
    who: str
    what: str
    document: str | None
    title: str | None
    details: dict[str, Any]
    source: str
    number: int
    place: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """A table whose rows are lines, and how they are read."""

    table: type[EventRow | LedgerRow | ActRow]
    query: Select[*tuple[Any, ...]]
    line: Callable[..., AuditLine]  # takes a row of the query

    def latest(self, session: Session, review_id: int, before: int | None, n: int) -> list[AuditLine]:
        """Return the last n lines of a review, the latest first; those before a number, if there is one."""
        query = self.query.where(self.table.review_id == review_id)
        if before is not None:
            query = query.where(self.table.id < before)
        return [self.line(*row) for row in session.execute(query.order_by(self.table.id.desc()).limit(n))]

    def lines(self, session: Session, review_id: int) -> Iterator[AuditLine]:
        """Yield all lines of a review, the earliest first; a block of them is in memory at a time."""
        query = self.query.where(self.table.review_id == review_id).order_by(self.table.id).limit(BLOCK)
        last = 0
        while block := [self.line(*row) for row in session.execute(query.where(self.table.id > last))]:
            yield from block
            last = block[-1].number


def read_audit(session: Session, review_id: int, n: int, before: str | None = None) -> list[AuditLine]:
    """Return the last n things that were done, the latest first; to go on reading, ask for those before a place.

    So nothing is left out and nothing comes twice, whatever is done meanwhile.
    """
    numbers = _numbers(before)
    latest = {name: source.latest(session, review_id, numbers.get(name), n) for name, source in SOURCES.items()}
    for name, lines in latest.items():  # what comes later is not before the first line
        numbers.setdefault(name, lines[0].number + 1 if lines else 0)
    found = []
    for line in islice(merge(*reversed(latest.values()), key=_moment, reverse=True), n):
        numbers[line.source] = line.number
        found.append(replace(line, place=_place(numbers)))
    return found


def write_audit(review: Review, path: str | os.PathLike[str]) -> None:
    """Write everything that was ever done, the earliest first, as CSV or JSON lines by the ending of the path.

    The file is whole or not there. A spreadsheet takes nothing in a CSV file for a formula.
    """
    ending = Path(path).suffix.lower()
    if ending not in WRITERS:
        raise InputError(f"{path}: the audit trail is written as .csv or .jsonl. Choose one of these endings.")
    with review.moment() as session, writing_to(path) as draft, draft.open("wb") as stream:
        WRITERS[ending](all_lines(session, review.id), stream)


def all_lines(session: Session, review_id: int) -> Iterator[AuditLine]:
    """Yield everything that was ever done in a review, the earliest first."""
    return iter(merge(*(source.lines(session, review_id) for source in SOURCES.values()), key=_moment))


def _write_csv(lines: Iterator[AuditLine], stream: BinaryIO) -> None:
    stream.write(BYTE_ORDER_MARK + _frame([]).write_csv().encode())
    while block := list(islice(lines, BLOCK)):
        stream.write(guarded(_frame(block)).write_csv(include_header=False).encode())


def _write_jsonl(lines: Iterator[AuditLine], stream: BinaryIO) -> None:
    for line in lines:
        stream.write(json.dumps(_values(line), ensure_ascii=False).encode() + b"\n")


WRITERS: dict[str, Callable[[Iterator[AuditLine], BinaryIO], None]] = {".csv": _write_csv, ".jsonl": _write_jsonl}


def _frame(lines: Iterable[AuditLine]) -> pl.DataFrame:
    import polars as pl

    types = {**dict.fromkeys(COLUMNS, pl.String), "number": pl.Int64}
    rows = [{**_values(line), "details": json.dumps(line.details, ensure_ascii=False)} for line in lines]
    return pl.DataFrame(rows, schema=types)


def _values(line: AuditLine) -> dict[str, Any]:
    return {name: getattr(line, name) for name in COLUMNS}


def _moment(line: AuditLine) -> str:
    return line.at


def _place(numbers: dict[str, int]) -> str:
    return "-".join(str(numbers[name]) for name in SOURCES)


def _numbers(place: str | None) -> dict[str, int]:
    """Return the number of the line of each source that was read last; nothing at the beginning."""
    if place is None:
        return {}
    numbers = place.split("-")
    if len(numbers) != len(SOURCES) or not all(number.isascii() and number.isdigit() for number in numbers):
        raise InputError(f"{place!r} is no place in the audit trail. Use the place of a line, such as '3-120-14'.")
    return dict(zip(SOURCES, map(int, numbers), strict=True))


def _of_event(row: EventRow) -> AuditLine:
    told = HAPPENED.get(row.name, row.name)
    return AuditLine(row.at, "", told, None, None, _changes(row.details), "event", row.id)


def _of_ledger(row: LedgerRow, undone: LedgerRow | None, document: str, title: str, who: str) -> AuditLine:
    told = {"undoes": row.undoes_id, **{name: getattr(row, name) for name in DETAILS}}
    details = {name: value for name, value in told.items() if value not in (None, "")}
    return AuditLine(row.answered_at, who, _what(row, undone), document, title, details, "ledger", row.id)


def _of_act(row: ActRow, who: str | None) -> AuditLine:
    return AuditLine(row.at, who or "", row.act, None, None, dict(row.details), "act", row.id)


_UNDONE = aliased(LedgerRow)

SOURCES = {
    "event": Source(EventRow, select(EventRow), _of_event),
    "ledger": Source(
        LedgerRow,
        select(LedgerRow, _UNDONE, Document.name, Document.title, Reviewer.name)
        .outerjoin(_UNDONE, _UNDONE.id == LedgerRow.undoes_id)
        .join(Document, Document.id == LedgerRow.document_id)
        .join(Reviewer, Reviewer.id == LedgerRow.reviewer_id),
        _of_ledger,
    ),
    "act": Source(
        ActRow, select(ActRow, Reviewer.name).outerjoin(Reviewer, Reviewer.id == ActRow.reviewer_id), _of_act
    ),
}
"""Where lines come from; those of the same moment come in this order."""


def _what(row: LedgerRow, undone: LedgerRow | None) -> str:
    """Say in words what a row of the ledger is."""
    if undone is not None:
        return f"took back the {undone.kind} {undone.verdict}"
    if row.kind == "answer":
        words = ANSWERED.get(row.origin or "", "answered {}") if row.decided is None else DECIDED[row.decided]
        return words.format(row.verdict)
    return "removed the note" if row.kind == "note" and not row.note else SAID[row.kind].format(row.verdict)


def _changes(details: dict[str, Any]) -> dict[str, Any]:
    """Return the details of an event: of all settings before and after, only those that changed."""
    before, after = details.get("before"), details.get("after")
    if not isinstance(before, dict) or not isinstance(after, dict):
        return dict(details)
    changed = [name for name in after if before.get(name) != after[name]]
    return {name: {"before": before.get(name), "after": after[name]} for name in changed}
