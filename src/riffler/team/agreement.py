"""How far the readers of a review agree: in numbers, in words, and document by document where they do not.

Only documents that wait for no other reader count. The opinions about the others are not known yet, not even as a part
of a sum.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session

from riffler.records import IntArray
from riffler.review.schema import VERDICTS, Document, LedgerRow, Reviewer
from riffler.review.screening import IS_BLIND, Opinion
from riffler.review.standing import NOT_UNDONE, REPLACED, standing_about
from riffler.stopping.words import per_cent
from riffler.team.kappa import (
    FEWEST,
    Kappa,
    Share,
    cohen_kappa,
    counts_of_first,
    fleiss_kappa,
    pair_share,
    pairs_table,
    table_of_first,
    wilson_interval,
)

UNREAD = -1
Table = tuple[tuple[int, ...], ...]
"""Counts by two verdicts, both in the order of ``VERDICTS``."""


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """How far two people agree about the documents that both have read.

    table : a row for each verdict of the first, a column for each of the second
    kappa, kappa_relevant : on the four verdicts, and on relevant against all others
    """

    first: str
    second: str
    n_documents: int
    share: Share
    kappa: Kappa
    kappa_relevant: Kappa
    table: Table
    sentence: str


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far all readers of a review agree.

    n_documents : read by at least two, none of them still to come
    n_disagreements : those of them whose readers do not all say the same
    n_pairs : pairs of opinions about the same document
    share : of these pairs that are equal; None where there are none
    kappa, kappa_relevant : Cohen's where two people read everything, else Fleiss'; on the four verdicts, and on
        relevant against all others
    pairs : of people who have read the same documents, by name
    table : pairs of opinions by their verdicts, in any order: symmetric, and each in the upper half once
    verdicts : what the rows and columns of tables are
    sentence : the same in words
    """

    n_documents: int
    n_disagreements: int
    n_pairs: int
    share: Share | None
    kappa: Kappa
    kappa_relevant: Kappa
    pairs: tuple[PairAgreement, ...]
    table: Table
    verdicts: tuple[str, ...]
    sentence: str


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A document whose readers did not all say the same.

    verdict : what holds now; None while nobody has settled it
    decided : how: "third", "consensus" or "owner", "correction" where it was changed later; None while it is open
    by, at : who settled it, and when
    """

    document: str
    title: str
    opinions: tuple[Opinion, ...]
    verdict: str | None
    decided: str | None
    by: str | None
    at: str | None


def agreement_of(session: Session, review_id: int) -> Agreement:
    """Return how far the readers of a review agree, as far as it may be known."""
    opinions = _shown_opinions(session, review_id)
    names = sorted({one.reviewer for one in opinions})
    column, row = {name: at for at, name in enumerate(names)}, dict[int, int]()
    rows = [row.setdefault(one.document_id, len(row)) for one in opinions]
    said = np.full((len(row), len(names)), UNREAD, dtype=np.int8)
    said[rows, [column[one.reviewer] for one in opinions]] = [VERDICTS.index(one.verdict) for one in opinions]
    return agreement_between(names, said)


def agreement_between(names: Sequence[str], said: IntArray) -> Agreement:
    """Return how far people agree, from the places of their verdicts in ``VERDICTS``; -1 where somebody has not read.

    said : shape (n_documents, n_people)

    >>> agreement_between(["Ann", "Bo"], np.array([[0, 0], [1, 1]] * 9 + [[0, 1], [1, -1]])).sentence
    '94% of 19 documents that two people read got the same verdict; kappa 0.90, from 0.69 to 1.00.'
    """
    said = said[(said != UNREAD).sum(axis=1) >= 2]
    counts = np.stack([(said == place).sum(axis=1) for place in range(len(VERDICTS))], axis=1)
    readers = counts.sum(axis=1)
    pairs = [
        pair
        for first, second in combinations(range(len(names)), 2)
        if (pair := _pair(names[first], names[second], said[:, first], said[:, second])) is not None
    ]
    share = pair_share(counts) if len(counts) else None
    kappa, kappa_relevant = fleiss_kappa(counts), fleiss_kappa(counts_of_first(counts))
    if len(pairs) == 1:  # two people read everything, and two values that differ by a hair would puzzle everybody
        kappa, kappa_relevant = pairs[0].kappa, pairs[0].kappa_relevant
    n_pairs = int((readers * (readers - 1) // 2).sum())
    return Agreement(
        n_documents=len(counts),
        n_disagreements=int((counts.max(axis=1, initial=0) < readers).sum()),
        n_pairs=n_pairs,
        share=share,
        kappa=kappa,
        kappa_relevant=kappa_relevant,
        pairs=tuple(pairs),
        table=_as_table(pairs_table(counts)),
        verdicts=VERDICTS,
        sentence=_sentence(len(counts), n_pairs, share, kappa),
    )


def disagreements_of(session: Session, review_id: int, n: int = 50, offset: int = 0) -> list[Disagreement]:
    """Return documents whose readers did not all say the same, the latest first; none that waits for a reader."""
    about: dict[int, list[_Said]] = {}
    for one in _shown_opinions(session, review_id):
        about.setdefault(one.document_id, []).append(one)
    differ = [said for said in about.values() if len({one.verdict for one in said}) > 1]
    differ.sort(key=lambda said: said[-1].id, reverse=True)
    wanted = differ[offset : offset + n]
    documents = _documents(session, [said[0].document_id for said in wanted])
    opinions = _opinions(session, [one.id for said in wanted for one in said])
    held = _decisions(session, documents)
    return [
        Disagreement(
            *documents[said[0].document_id],
            tuple(opinions[one.id] for one in said),
            *held.get(said[0].document_id, (None, None, None, None)),
        )
        for said in wanted
    ]


class _Said(NamedTuple):
    """An opinion that stands: its row of the ledger, who gave it, about what."""

    id: int
    document_id: int
    reviewer: str
    verdict: str


def _shown_opinions(session: Session, review_id: int) -> list[_Said]:
    """Return the opinions that stand, of documents that wait for no reader, the first given first.

    Of all documents at once it is quicker to read what was replaced as well than to ask of each row what came later.
    """
    rows = session.execute(
        select(LedgerRow.id, LedgerRow.document_id, Reviewer.name, LedgerRow.verdict)
        .join(Reviewer, Reviewer.id == LedgerRow.reviewer_id)
        .where(LedgerRow.review_id == review_id, LedgerRow.kind == "opinion", NOT_UNDONE, ~IS_BLIND)
        .order_by(LedgerRow.id)
    )
    last = {(document, name): _Said(number, document, name, verdict or "") for number, document, name, verdict in rows}
    return sorted(last.values())


def _documents(session: Session, numbers: Sequence[int]) -> dict[int, tuple[str, str]]:
    """Return name and title of documents by their numbers."""
    rows = session.execute(select(Document.id, Document.name, Document.title).where(Document.id.in_(numbers)))
    return {number: (name, title) for number, name, title in rows}


def _opinions(session: Session, numbers: Sequence[int]) -> dict[int, Opinion]:
    """Return opinions by the numbers of their rows of the ledger."""
    rows = session.execute(
        select(LedgerRow, Document.name, Reviewer.name)
        .join(Document, Document.id == LedgerRow.document_id)
        .join(Reviewer, Reviewer.id == LedgerRow.reviewer_id)
        .where(LedgerRow.id.in_(numbers))
    )
    return {
        row.id: Opinion(name, who, row.verdict or "", row.note, row.answered_at, row.seconds) for row, name, who in rows
    }


def _decisions(session: Session, documents: Collection[int]) -> dict[int, tuple[str, str, str, str]]:
    """Return what holds of documents that have an answer: verdict, how it was decided, by whom and when."""
    rows = session.execute(
        standing_about(LedgerRow.document_id.in_(documents))
        .where(~REPLACED)
        .join(Reviewer, Reviewer.id == LedgerRow.reviewer_id)
        .add_columns(Reviewer.name)
    )
    return {
        row.document_id: (row.verdict or "", row.decided or row.origin or "", who, row.answered_at) for row, who in rows
    }


def _pair(first: str, second: str, said_first: IntArray, said_second: IntArray) -> PairAgreement | None:
    """Return how far two people agree; None where they have read nothing in common."""
    both = (said_first != UNREAD) & (said_second != UNREAD)
    n = int(both.sum())
    if n == 0:
        return None
    table = np.zeros((len(VERDICTS), len(VERDICTS)), dtype=np.int64)
    np.add.at(table, (said_first[both], said_second[both]), 1)
    value = float(np.trace(table) / n)
    share, kappa = Share(value, *wilson_interval(value, n)), cohen_kappa(table)
    kappa_relevant = cohen_kappa(table_of_first(table))
    return PairAgreement(
        first, second, n, share, kappa, kappa_relevant, _as_table(table), _sentence(n, n, share, kappa)
    )


def _sentence(n_documents: int, n_pairs: int, share: Share | None, kappa: Kappa) -> str:
    """Say it in words; nothing is claimed from few documents, and no share is rounded up."""
    if share is None or n_documents < FEWEST:
        read = "one document was" if n_documents == 1 else f"{n_documents or 'no'} documents were"
        return f"Too early to say how far readers agree: {read} read by two, and {FEWEST} are needed."
    if n_pairs == n_documents:
        said = f"{per_cent(share.value, 0)} of {n_documents:,} documents that two people read got the same verdict"
    else:
        said = (
            f"{per_cent(share.value, 0)} of {n_pairs:,} pairs of opinions about {n_documents:,} documents "
            "are the same verdict"
        )
    if kappa.value is None:
        return f"{said}. {kappa.note}"
    if kappa.low is None or kappa.high is None:
        return f"{said}; kappa {kappa.value:.2f}. {kappa.note}"
    low, high = math.floor(kappa.low * 100) / 100, math.ceil(kappa.high * 100) / 100
    return f"{said}; kappa {kappa.value:.2f}, from {low:.2f} to {high:.2f}."


def _as_table(counts: IntArray) -> Table:
    return tuple(tuple(int(n) for n in row) for row in counts)
