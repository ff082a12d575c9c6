"""What the labels of a file say of documents before anybody is asked about them."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import uuid4

from sqlalchemy import func, insert, select
from sqlalchemy.orm import Session

from riffler.data.collection import Collection
from riffler.ledger import IRRELEVANT, RELEVANT, UNKNOWN
from riffler.review.database import now
from riffler.review.documents import asked_ids
from riffler.review.remarks import reviewer_id
from riffler.review.schema import Document, LedgerRow, Suggestion
from riffler.review.schema_team import ScreeningRow
from riffler.review.standing import standing_answers


def settled_documents(session: Session, review_id: int) -> set[int]:
    """Return the numbers of documents that no label of a file changes: answered, half read, or shown as control ones.

    What was shown to be counted has to be read; a label in its place would make the certificate claim too much.
    """
    answered = standing_answers(review_id).with_only_columns(LedgerRow.document_id)
    control = select(Suggestion.document_id).where(
        Suggestion.review_id == review_id, Suggestion.origin == "control", Suggestion.shown_at.is_not(None)
    )
    half_read = select(ScreeningRow.document_id).where(ScreeningRow.review_id == review_id)
    return {*session.scalars(answered), *session.scalars(control), *session.scalars(half_read)}


def known_verdicts(
    session: Session, review_id: int, stratum_id: int, collection: Collection, more: Mapping[str, int]
) -> dict[int, str]:
    """Return what labels say, by number: those of a stratum, and ``more`` by the ids of documents that were there.

    A document is relevant if it or a twin of it is. Where people said something, that holds.
    """
    labels = [] if collection.labels is None else collection.labels.tolist()
    asked = session.scalars(
        select(func.coalesce(Document.twin_of, Document.id))
        .where(Document.stratum_id == stratum_id)
        .order_by(Document.position)
    ).all()
    numbers = asked_ids(session, review_id, list(more))
    said = [*zip(asked, labels, strict=False), *((numbers[name], label) for name, label in more.items())]
    settled = settled_documents(session, review_id)
    best: dict[int, int] = {}
    for number, label in said:
        if label != UNKNOWN and number not in settled:
            best[number] = max(label, best.get(number, IRRELEVANT))
    return {number: "relevant" if label == RELEVANT else "irrelevant" for number, label in best.items()}


def append_known(session: Session, review_id: int, reviewer: str, verdicts: Mapping[int, str]) -> None:
    """Append what was known of documents, by their numbers; with keys that no client can have used."""
    person, moment, import_key = reviewer_id(session, reviewer), now(), uuid4()
    common = {"review_id": review_id, "reviewer_id": person, "kind": "answer", "origin": "prior", "answered_at": moment}
    rows = [
        {**common, "document_id": number, "verdict": verdict, "request_key": f"known/{import_key}/{number}"}
        for number, verdict in verdicts.items()
    ]
    if rows:
        session.execute(insert(LedgerRow), [{**row, "why": "", "note": ""} for row in rows])
