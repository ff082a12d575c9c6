"""Documents as the page shows them, several at once: with their duplicates, and all that holds of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from riffler.review.documents import DocumentView, asked_ids, columns_of
from riffler.review.schema import Document, LedgerRow, Stratum
from riffler.review.standing import IS_NOTE, Standing, standings


@dataclass(frozen=True, slots=True)
class WholeDocument:
    """A document, the twins that are shown with it, and what holds of it."""

    view: DocumentView
    twins: tuple[DocumentView, ...]
    standing: Standing | None
    note: str
    tags: tuple[str, ...]


def whole_documents(session: Session, review_id: int, names: Sequence[str]) -> list[WholeDocument]:
    """Return documents by their ids, in this order; of a twin the one that stands for it.

    A handful of questions to the database serves them all.
    """
    asked = asked_ids(session, review_id, names)
    numbers = set(asked.values())
    rows = session.scalars(select(Document).where(Document.id.in_(numbers) | Document.twin_of.in_(numbers))).all()
    views = _views(session, rows)
    twins: dict[int, list[Document]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: (row.stratum_id, row.position)):
        if row.twin_of is not None:
            twins[row.twin_of].append(row)
    held = {one.document: one for one in standings(session, review_id, LedgerRow.document_id.in_(numbers))}
    words = _words(session, numbers)
    return [
        WholeDocument(
            view=views[number],
            twins=tuple(views[row.id] for row in twins[number]),
            standing=held.get(views[number].document),
            note="".join(text for kind, text in words[number] if kind in ("note", "answer")),
            tags=tuple(sorted(text for kind, text in words[number] if kind == "tag")),
        )
        for number in (asked[name] for name in names)
    ]


def _views(session: Session, rows: Sequence[Document]) -> dict[int, DocumentView]:
    """Return the documents with their columns, which are read together for each import."""
    by_stratum: dict[int, list[Document]] = defaultdict(list)
    for row in rows:
        by_stratum[row.stratum_id].append(row)
    names: dict[int | None, list[str]] = defaultdict(list)
    for row in rows:
        names[row.twin_of].append(row.name)
    views = {}
    for number, group in by_stratum.items():
        stratum = session.get_one(Stratum, number)
        for row, columns in zip(group, columns_of(stratum, group).iter_rows(named=True), strict=True):
            views[row.id] = _view(row, columns, stratum, names[row.id])
    return views


def _view(row: Document, columns: Mapping[str, Any], stratum: Stratum, twins: list[str]) -> DocumentView:
    return DocumentView(row.name, row.title, row.abstract, columns, stratum.id, stratum.source, tuple(twins))


def _words(session: Session, numbers: set[int]) -> dict[int, list[tuple[str, str]]]:
    """Return the notes and tags that hold, by document: of a note the last, of a tag what was said of it last."""
    text = LedgerRow.note
    about = LedgerRow.document_id.in_(numbers)
    number = func.max(LedgerRow.id)
    notes = select(number).where(about, IS_NOTE).group_by(LedgerRow.document_id)
    tags = select(number).where(about, LedgerRow.kind.in_(("tag", "untag"))).group_by(LedgerRow.document_id, text)
    found = session.execute(
        select(LedgerRow.document_id, LedgerRow.kind, text).where(LedgerRow.id.in_(notes.union(tags)))
    )
    words: dict[int, list[tuple[str, str]]] = defaultdict(list)
    for document, kind, said in found:
        words[document].append((kind, said))
    return words
