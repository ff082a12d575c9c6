"""Documents as the wire carries them: with everything that was said, and values that JSON can hold."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from riffler.review.desk import Desk
from riffler.review.documents import DocumentView
from riffler.review.remarks import Receipt
from riffler.review.screening import StillOpen, still_open
from riffler.review.store import Review
from riffler.review.whole_documents import WholeDocument
from riffler.web.house import LearnerState
from riffler.web.models import Counts, DocumentOut, LearnerOut, ReceiptOut, Twin


def document_out(desk: Desk, name: str) -> DocumentOut:
    """Return a document with its duplicates, verdict, note and tags."""
    return documents_out(desk, [name])[0]


def documents_out(desk: Desk, names: Sequence[str]) -> list[DocumentOut]:
    """Return several documents, which are read together, as they may be seen from a desk."""
    return [_document(one) for one in desk.documents(names)]


def receipt_out(receipt: Receipt) -> ReceiptOut:
    """Return a receipt."""
    return ReceiptOut(**asdict(receipt))


def counts_out(review: Review) -> Counts:
    """Return how many documents hold which verdict."""
    return Counts(**review.counts())


def plain_columns(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of a document with values that JSON has."""
    return {name: plain(value) for name, value in columns.items()}


def plain(value: Any) -> Any:  # noqa: ANN401 - whatever a column holds
    """Return a value as JSON has it: what it does not know becomes text.

    >>> from datetime import date
    >>> plain([1.5, float("nan"), date(2020, 1, 2), b"xy", {"a": None}])
    [1.5, 'nan', '2020-01-02', '(2 bytes)', {'a': None}]
    """
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, bytes):
        return f"({len(value)} bytes)"
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return str(value)


def _document(whole: WholeDocument) -> DocumentOut:
    view, standing = whole.view, whole.standing
    return DocumentOut(
        id=view.document,
        title=view.title,
        abstract=view.abstract,
        columns=plain_columns(view.columns),
        source=view.source,
        twins=[_twin(one) for one in whole.twins],
        verdict=None if standing is None else standing.verdict,  # type: ignore[arg-type]  # the schema allows these only
        answer=None if standing is None else standing.last_id,
        note=whole.note,
        tags=list(whole.tags),
    )


def _twin(view: DocumentView) -> Twin:
    return Twin(
        id=view.document,
        title=view.title,
        abstract=view.abstract,
        columns=plain_columns(view.columns),
        source=view.source,
    )


def open_now(review: Review) -> StillOpen:
    """Return how many documents wait for one more reader, and how many for a decision."""
    with review.moment() as session:
        return still_open(session, review.id)


def learner_out(review: Review, learner: LearnerState) -> LearnerOut:
    """Return how the learner is, and how far behind the answers."""
    progress = review.progress()
    behind = review.n_answers_since(0) if progress is None else progress.n_behind
    return LearnerOut(alive=learner.alive, behind=behind, error=learner.error or None)
