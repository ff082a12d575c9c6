"""Everything that is in a review, by names and order in place of numbers: equal wherever the review is."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from riffler.review.database import reading
from riffler.review.schema import (
    Document,
    EventRow,
    LedgerRow,
    PictureRow,
    Reviewer,
    ReviewRow,
    Stratum,
    Suggestion,
    Taken,
)
from riffler.review.schema_team import ActRow, Base, MemberRow, ScreeningRow

Dump = dict[str, list[dict[str, Any]]]
NUMBERED = (Stratum, Document, Suggestion, LedgerRow, Taken, EventRow, ActRow)
UNNUMBERED = (MemberRow, PictureRow, ScreeningRow)


def dump_of(engine: Engine, identity: str) -> Dump:
    """Read a review from end to end."""
    with reading(engine) as session:
        review = session.scalars(select(ReviewRow).where(ReviewRow.identity == identity)).one()
        return _dump(session, review)


def identities_in(engine: Engine) -> list[str]:
    with reading(engine) as session:
        return list(session.scalars(select(ReviewRow.identity).order_by(ReviewRow.id)))


def _dump(session: Session, review: ReviewRow) -> Dump:
    def rows(kind: Any) -> list[Any]:  # noqa: ANN401 - a class of rows
        found = list(session.scalars(select(kind).where(kind.review_id == review.id)))
        return sorted(found, key=lambda row: row.id) if kind in NUMBERED else found

    people = {row.id: row.name for row in session.scalars(select(Reviewer))}
    documents = {row.id: row.name for row in rows(Document)}
    strata = {row.id: place for place, row in enumerate(rows(Stratum))}
    suggestions = {row.id: place for place, row in enumerate(rows(Suggestion))}
    said = {row.id: row.request_key for row in rows(LedgerRow)}
    names: dict[str, Callable[[Any], Any]] = {
        "stratum_id": strata.get,
        "document_id": documents.get,
        "twin_of": documents.get,
        "suggestion_id": suggestions.get,
        "ledger_id": said.get,
        "undoes_id": said.get,
        "reviewer_id": people.get,
        "shown_to": people.get,
    }

    def plain(row: Base) -> dict[str, Any]:
        values = {column.name: getattr(row, column.name) for column in row.__table__.columns}
        shown = {name: names[name](value) if name in names else value for name, value in values.items()}
        return {name: value for name, value in shown.items() if name not in ("id", "review_id")}

    dump: Dump = {kind.__tablename__: [plain(row) for row in rows(kind)] for kind in NUMBERED}
    for kind in UNNUMBERED:
        dump[kind.__tablename__] = sorted(map(plain, rows(kind)), key=repr)
    for picture in dump["pictures"]:
        if picture["name"] == "progress":
            values = json.loads(picture["payload"])
            values["revision"]["last_change"] = said.get(values["revision"]["last_change"])
            for one in values["strata"]:
                one["id"] = strata[one["id"]]
            picture["payload"] = values
    return {**dump, "reviews": [plain(review)]}
