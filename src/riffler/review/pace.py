"""How fast people read, pauses left out, and how often what they said is what holds in the end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session

from riffler.review.schema import LedgerRow, Reviewer
from riffler.review.screening import IS_BLIND
from riffler.review.standing import NOT_UNDONE, standing_answers

PAUSE_SECONDS = 300.0
"""Who waits longer between two answers was not reading."""

IS_READING = LedgerRow.origin != "prior", LedgerRow.decided.is_(None) | (LedgerRow.decided != "agreement")
"""Of an answer or an opinion: somebody gave it, it was neither known before nor followed from what others said."""


@dataclass(frozen=True, slots=True)
class Pace:
    """What one person has read so far.

    n_answers, n_opinions : documents that they have answered, or settled, by themselves; and those they read as one of
        several
    seconds : median for a document; None where nobody took the time
    per_hour : documents, pauses over five minutes left out; None before the second one
    n_decided, share_upheld : those of their opinions whose document has an answer, and how many of these equal it
    share_relevant : of the documents they have given a verdict on and that wait for no other reader
    """

    reviewer: str
    n_answers: int
    n_opinions: int
    seconds: float | None
    per_hour: float | None
    n_decided: int
    share_upheld: float | None
    share_relevant: float | None


def per_hour(moments: Sequence[str]) -> float | None:
    """Documents an hour, from the moments in which they were answered, the earliest first; pauses do not count.

    >>> per_hour([f"2026-01-01T{time}:00+00:00" for time in ("09:00", "09:01", "11:00", "11:01")])
    60.0
    """
    times = np.array([datetime.fromisoformat(moment).timestamp() for moment in moments])
    gaps = np.diff(times)
    gaps = gaps[(gaps > 0) & (gaps <= PAUSE_SECONDS)]
    return float(3600 / gaps.mean()) if gaps.size else None


def median_seconds(seconds: Iterable[float | None]) -> float | None:
    """Median of the times that were taken; None where there is none.

    >>> median_seconds([3.0, None, 5.0])
    4.0
    """
    taken = [one for one in seconds if one is not None]
    return float(np.median(taken)) if taken else None


def paces_of(session: Session, review_id: int) -> list[Pace]:
    """Return the pace of everybody who has read something in a review, by name."""
    held = _held(session, review_id)
    return [reading.pace(name, held) for name, reading in sorted(_readings(session, review_id).items())]


@dataclass(slots=True)
class _Reading:
    """What one person has read: when, how long each time, and the verdicts that were not taken back, by document."""

    moments: list[str] = field(default_factory=list)
    seconds: list[float | None] = field(default_factory=list)
    answers: dict[int, str] = field(default_factory=dict)
    opinions: dict[int, str] = field(default_factory=dict)
    hidden: set[int] = field(default_factory=set)  # documents that wait for another reader

    def pace(self, name: str, held: Mapping[int, str]) -> Pace:
        shown = {document: verdict for document, verdict in self.opinions.items() if document not in self.hidden}
        decided = [verdict == held[document] for document, verdict in shown.items() if document in held]
        said = list((shown | self.answers).values())
        return Pace(
            reviewer=name,
            n_answers=len(self.answers),
            n_opinions=len(self.opinions),
            seconds=median_seconds(self.seconds),
            per_hour=per_hour(self.moments),
            n_decided=len(decided),
            share_upheld=sum(decided) / len(decided) if decided else None,
            share_relevant=said.count("relevant") / len(said) if said else None,
        )


def _readings(session: Session, review_id: int) -> dict[str, _Reading]:
    """Read the ledger once; the last verdict of a person on a document is theirs, as rows come in their order."""
    rows = session.execute(
        select(
            Reviewer.name, LedgerRow.answered_at, LedgerRow.seconds, LedgerRow.kind, LedgerRow.document_id,
            LedgerRow.verdict, NOT_UNDONE.label("stands"), IS_BLIND.label("is_hidden"),
        )
        .join(Reviewer, Reviewer.id == LedgerRow.reviewer_id)
        .where(LedgerRow.review_id == review_id, LedgerRow.kind.in_(("answer", "opinion")), *IS_READING)
        .order_by(LedgerRow.id)
    )  # fmt: skip
    found: dict[str, _Reading] = {}
    for name, moment, seconds, kind, document, verdict, stands, is_hidden in rows:
        one = found.setdefault(name, _Reading())
        one.moments.append(moment)
        one.seconds.append(seconds)
        if stands:
            (one.answers if kind == "answer" else one.opinions)[document] = verdict or ""
        if is_hidden:
            one.hidden.add(document)
    return found


def _held(session: Session, review_id: int) -> dict[int, str]:
    """Return the verdict that holds of each document that has an answer."""
    rows = standing_answers(review_id).with_only_columns(LedgerRow.document_id, LedgerRow.verdict)
    return {document: verdict or "" for document, verdict in session.execute(rows.order_by(LedgerRow.id))}
