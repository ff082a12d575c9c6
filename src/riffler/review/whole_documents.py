"""Documents as the page shows them, several at once: with their duplicates, and all that holds of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import BindParameter, ColumnElement, bindparam, select
from sqlalchemy.orm import Session

from riffler.review.documents import DocumentView, asked_ids, records_of
from riffler.review.notes import held_notes, held_tags
from riffler.review.schema import Document, LedgerRow, Stratum
from riffler.review.screening import hidden_from, own_opinions
from riffler.review.standing import Standing, standings


@dataclass(frozen=True, slots=True)
class WholeDocument:
    """A document, the twins that are shown with it, and what holds of it."""

    view: DocumentView
    twins: tuple[DocumentView, ...]
    standing: Standing | None
    note: str
    tags: tuple[str, ...]


_NUMBERS: BindParameter[list[int]] = bindparam("numbers", expanding=True)  # made once, which takes its time
_WITH_TWINS = select(Document).where(Document.id.in_(_NUMBERS) | Document.twin_of.in_(_NUMBERS))
_ANYTHING_SAID = select(LedgerRow.id).where(LedgerRow.document_id.in_(_NUMBERS)).limit(1)


@dataclass(frozen=True, slots=True)
class _Said:
    """What holds of some documents: standings by id; notes and tags by number."""

    held: Mapping[str, Standing]
    notes: Mapping[int, str]
    tags: Mapping[int, Sequence[str]]


def whole_documents(
    session: Session, review_id: int, names: Sequence[str], viewer: int | None = None
) -> list[WholeDocument]:
    """Return documents by their ids, in this order; of a twin the one that stands for it.

    A handful of questions to the database serves them all. ``viewer`` is the number of who looks: of a document that
    waits for one more reader they see what they said themselves, and nothing of others.
    """
    asked = asked_ids(session, review_id, names)
    numbers = set(asked.values())
    rows = session.scalars(_WITH_TWINS, {"numbers": list(numbers)}).all()
    views = _views(session, rows)
    twins: dict[int, list[Document]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: (row.stratum_id, row.position)):
        if row.twin_of is not None:
            twins[row.twin_of].append(row)
    said = _said(session, review_id, numbers, viewer)
    return [
        WholeDocument(
            view=views[number],
            twins=tuple(views[row.id] for row in twins[number]),
            standing=said.held.get(views[number].document),
            note=said.notes.get(number, ""),
            tags=tuple(said.tags.get(number, ())),
        )
        for number in (asked[name] for name in names)
    ]


def _said(session: Session, review_id: int, numbers: set[int], viewer: int | None) -> _Said:
    """Return what holds of some documents as far as somebody may know; of most that come next nobody said anything."""
    about: ColumnElement[bool] = LedgerRow.document_id.in_(numbers)
    if session.scalar(_ANYTHING_SAID, {"numbers": list(numbers)}) is None:
        return _Said({}, {}, {})
    held = {one.document: one for one in standings(session, review_id, about)}
    if viewer is not None:
        held = own_opinions(session, viewer, about) | held
        about &= ~hidden_from(viewer)
    notes = dict(session.execute(held_notes(about)).all())
    tags: dict[int, list[str]] = defaultdict(list)
    for number, tag in session.execute(held_tags(about)):
        tags[number].append(tag)
    return _Said(held, notes, tags)


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
        for row, columns in zip(group, records_of(stratum, group), strict=True):
            views[row.id] = _view(row, columns, stratum, names[row.id])
    return views


def _view(row: Document, columns: Mapping[str, Any], stratum: Stratum, twins: list[str]) -> DocumentView:
    return DocumentView(row.name, row.title, row.abstract, columns, stratum.id, stratum.source, tuple(twins))
