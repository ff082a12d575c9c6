"""A review as a table: every document as it came, twins as well, and beside it what the review found out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session

from riffler.data.opening import shown_name
from riffler.data.stacking import aligned, common_types
from riffler.data.text_columns import fold_name
from riffler.errors import UnknownName
from riffler.records import FloatArray
from riffler.review.documents import stored_blocks
from riffler.review.export_words import LastWord, last_words
from riffler.review.schema import VERDICTS, Document, Stratum

if TYPE_CHECKING:
    import polars as pl

SELECTIONS = ("all", *VERDICTS, "unread")
"""Which documents an export has: all, or those of one verdict."""

LABELS = {"relevant": 1, "irrelevant": 0}
EARLIER = "_earlier"
"""Ends the name of a column that an earlier export gave to the source: ours are always what holds now."""


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Some documents of one import: their original columns, ours beside them, and their titles and abstracts."""

    columns: pl.DataFrame
    found: pl.DataFrame
    texts: list[tuple[str, str]]


class ExportTable:
    """The rows of an export, a block at a time, as of the moment of the session.

    Parameters
    ----------
    session : sees one moment of the review
    review_id : the review
    scores : of the documents that are asked for, in the order in which they came; may be fewer
    which : one of ``SELECTIONS``; a twin goes with the document that stands for it
    """

    def __init__(self, session: Session, review_id: int, scores: FloatArray, which: str = "all") -> None:
        if which not in SELECTIONS:
            raise UnknownName.among("selection", which, SELECTIONS)
        self._session, self._review_id, self._which = session, review_id, which
        self._words = last_words(session, review_id)
        self._asked = _asked(session, review_id)
        ranks = np.empty(len(scores), dtype=np.int64)
        ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
        self._places = dict(zip(self._asked, zip(scores.tolist(), ranks.tolist(), strict=True), strict=False))

    @cached_property
    def types(self) -> dict[str, pl.DataType]:
        """The names and types of all columns, the original ones first; ``frames`` has exactly these."""
        names = _names_beside_ours(self._original)
        return {**{names[name]: dtype for name, dtype in self._original.items()}, **found_types()}

    @property
    def n_rows(self) -> int:
        """How many documents are wanted."""
        rows = self._session.execute(select(Document.id, Document.twin_of).where(Document.review_id == self._review_id))
        return sum(self._is_wanted(twin_of or number) for number, twin_of in rows)

    def blocks(self) -> Iterator[Block]:
        """The documents that are wanted, in the order in which they came."""
        for stratum, rows, columns in stored_blocks(self._session, self._review_id):
            places = [at for at, row in enumerate(rows) if self._is_wanted(row.twin_of or row.id)]
            wanted = [rows[at] for at in places]
            if wanted:
                texts = [(row.title, row.abstract) for row in wanted]
                yield Block(columns[places], self._found(wanted, shown_name(stratum.source)), texts)

    def frames(self) -> Iterator[pl.DataFrame]:
        """The documents that are wanted with the columns of all imports."""
        names = _names_beside_ours(self._original)
        for block in self.blocks():
            columns = aligned(block.columns, self._original).rename(names)
            yield columns.hstack(block.found.get_columns())

    @cached_property
    def _original(self) -> dict[str, pl.DataType]:
        import polars as pl

        shapes = self._session.scalars(
            select(Stratum.shape).where(Stratum.review_id == self._review_id).order_by(Stratum.id)
        )
        return common_types([pl.read_ipc(BytesIO(shape)).schema for shape in shapes])

    def _is_wanted(self, asked: int) -> bool:
        return self._which in ("all", self._words.get(asked, LastWord()).verdict or "unread")

    def _found(self, rows: Sequence[Document], source: str) -> pl.DataFrame:
        import polars as pl

        records = [self._found_of(row, source) for row in rows]
        return pl.DataFrame(records, schema=found_types(), orient="row")

    def _found_of(self, row: Document, source: str) -> tuple[Any, ...]:
        asked = row.twin_of or row.id
        said = self._words.get(asked, LastWord())
        score, rank = self._places.get(asked, (None, None))
        return (
            row.name,
            source,
            said.verdict,
            LABELS.get(said.verdict or ""),
            said.origin,
            rank,
            score,
            said.note or None,
            list(said.tags) or None,
            said.answered_at,
            said.seconds,
            said.reviewer,
            None if row.twin_of is None else self._asked[row.twin_of],
        )


def found_types() -> dict[str, pl.DataType]:
    """The columns that a review adds to those of the source."""
    import polars as pl

    text = pl.String()
    return {
        "riffler_id": text,
        "riffler_source": text,
        "riffler_verdict": text,
        "riffler_label": pl.Int64(),
        "riffler_origin": text,
        "riffler_rank": pl.Int64(),
        "riffler_score": pl.Float64(),
        "riffler_note": text,
        "riffler_tags": pl.List(pl.String),
        "riffler_answered_at": text,
        "riffler_seconds": pl.Float64(),
        "riffler_reviewer": text,
        "riffler_duplicate_of": text,
    }


def _asked(session: Session, review_id: int) -> dict[int, str]:
    """The documents that are asked for, by number, in the order in which they came."""
    rows = session.execute(
        select(Document.id, Document.name)
        .where(Document.review_id == review_id, Document.twin_of.is_(None))
        .order_by(Document.stratum_id, Document.position)
    )
    return {number: name for number, name in rows}  # noqa: C416 - rows are not pairs to mypy


def _names_beside_ours(original: dict[str, Any]) -> dict[str, str]:
    """New names for original columns that are called like ours, the others as they are.

    >>> _names_beside_ours({"title": 0, "riffler_label": 0})
    {'title': 'title', 'riffler_label': 'riffler_label_earlier'}
    """
    ours = {fold_name(name) for name in found_types()}
    taken = {name for name in original if fold_name(name) not in ours}
    names = {}
    for name in original:
        new = name
        if fold_name(name) in ours:
            new, number = name + EARLIER, 2
            while new in taken:
                new, number = f"{name}{EARLIER}_{number}", number + 1
            taken.add(new)
        names[name] = new
    return names
