"""Documents of a review: a collection goes in, all of it or nothing, and comes out as it was."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from io import BytesIO
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import bindparam, func, insert, select, text
from sqlalchemy.orm import Session

from riffler.data.collection import Collection
from riffler.data.plain_types import plain_columns
from riffler.data.stacking import stacked
from riffler.data.texts import Texts
from riffler.errors import InputError, UnknownName
from riffler.review.database import POSTGRES, now
from riffler.review.schema import Document, Stratum
from riffler.review.storable import storable

if TYPE_CHECKING:
    import polars as pl

    from riffler.data.duplicates import Duplicates

BLOCK = 5000
SHOWN = 5  # names in a message


@dataclass(frozen=True, slots=True)
class DocumentView:
    """One document, to be read; ``columns`` are those of its file, by name."""

    document: str
    title: str
    abstract: str
    columns: Mapping[str, Any]
    stratum: int
    source: str
    twins: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Import:
    """Documents that came together; ``n`` of them are asked for."""

    id: int
    source: str
    added_at: str
    n: int


def add_stratum(
    session: Session, review_id: int, collection: Collection, duplicates: Duplicates | None, twins: Mapping[str, str]
) -> int:
    """Add the documents of a collection as a stratum, and return its id.

    With ``duplicates`` a document that another one stands for is its twin: kept, shown beside it, not asked for.
    ``twins`` names those that a document of the review stands for, by their ids.
    """
    names = [storable(session, name) for name in collection.ids]
    _check_new(session, review_id, collection.source, names)
    collection = replace(collection, columns=plain_columns(collection.columns))
    same_as = _repeated_columns(collection)
    heads = np.arange(collection.n_items) if duplicates is None else duplicates.representatives
    outside = {storable(session, name): asked_id(session, review_id, head) for name, head in twins.items()}
    stratum = Stratum(
        review_id=review_id,
        source=storable(session, collection.source),
        added_at=now(),
        shape=_shape_of(collection.columns),
        same_as=same_as,
        n_asked=int(np.sum(heads == np.arange(collection.n_items))) - len(outside),
    )
    session.add(stratum)
    session.flush()
    extra = _as_lines(collection.columns.drop(list(same_as)), collection.n_items)
    numbers = new_numbers(session, collection.n_items)
    rows = zip(names, collection.titles, collection.abstracts, extra, heads.tolist(), strict=True)
    records = [
        {
            "id": numbers[at],
            "review_id": review_id,
            "stratum_id": stratum.id,
            "position": at,
            "name": name,
            "title": storable(session, title),
            "abstract": storable(session, abstract),
            "extra": line,
            "twin_of": outside.get(name, None if head == at else numbers[head]),
        }
        for at, (name, title, abstract, line, head) in enumerate(rows)
    ]
    records.sort(key=lambda record: record["twin_of"] is not None)  # a twin refers to what is there already
    for start in range(0, len(records), BLOCK):
        session.execute(insert(Document), records[start : start + BLOCK])
    return stratum.id


def new_numbers(session: Session, n: int) -> list[int]:
    """Return numbers for new documents, in ascending order; there may be others between them.

    PostgreSQL gives them out, because other reviews get documents at the same time; in SQLite nobody else writes.
    """
    if session.get_bind().dialect.name == POSTGRES:
        given = text("SELECT nextval(pg_get_serial_sequence('documents', 'id')) FROM generate_series(1, :n)")
        return sorted(session.scalars(given, {"n": n}))
    first = 1 + (session.scalar(select(func.max(Document.id))) or 0)
    return list(range(first, first + n))


def load_collection(session: Session, review_id: int) -> Collection:
    """Return all documents that are asked for, in the order in which they came; twins are with their heads."""
    import polars as pl

    rows = session.scalars(
        select(Document).where(Document.review_id == review_id).order_by(Document.stratum_id, Document.position)
    ).all()
    strata = {one.id: one for one in session.scalars(select(Stratum).where(Stratum.review_id == review_id))}
    parts = [columns_of(strata[at], list(group)) for at, group in groupby(rows, key=lambda row: row.stratum_id)]
    columns = stacked(parts)
    asked = [at for at, row in enumerate(rows) if row.twin_of is None]
    name_of = {row.id: row.name for row in rows}
    twins: dict[str, tuple[str, ...]] = {}
    for row in rows:
        if row.twin_of is not None:
            twins[name_of[row.twin_of]] = (*twins.get(name_of[row.twin_of], ()), row.name)
    return Collection(
        ids=tuple(rows[at].name for at in asked),
        titles=Texts(pl.Series([rows[at].title for at in asked], dtype=pl.String)),
        abstracts=Texts(pl.Series([rows[at].abstract for at in asked], dtype=pl.String)),
        labels=None,  # they are in the ledger
        columns=columns[asked],
        source=", ".join(dict.fromkeys(one.source for one in strata.values())),
        twins=twins,
    )


def stored_blocks(session: Session, review_id: int) -> Iterator[tuple[Stratum, list[Document], pl.DataFrame]]:
    """Yield all documents, twins as well, in the order in which they came: their rows and their original columns.

    A block has documents of one stratum, at most ``BLOCK``, so that a large review is never in memory at once.
    """
    strata = {one.id: one for one in session.scalars(select(Stratum).where(Stratum.review_id == review_id))}
    rows = (
        select(Document)
        .where(Document.review_id == review_id)
        .order_by(Document.stratum_id, Document.position)
        .execution_options(yield_per=BLOCK)
    )
    for part in session.scalars(rows).partitions():
        for at, group in groupby(part, key=lambda row: row.stratum_id):
            together = list(group)
            yield strata[at], together, columns_of(strata[at], together)


def asked_id(session: Session, review_id: int, name: str) -> int:
    """Return the number of a document, or of the one that stands for it: what is said of a twin is said of both."""
    return asked_ids(session, review_id, [name])[name]


_ASKED = select(Document.name, func.coalesce(Document.twin_of, Document.id)).where(
    Document.review_id == bindparam("review"), Document.name.in_(bindparam("names", expanding=True))
)


def asked_ids(session: Session, review_id: int, names: Sequence[str]) -> dict[str, int]:
    """Return the numbers of documents by their ids, of a twin that of the one that stands for it."""
    kept = {name: storable(session, name) for name in names}
    found: dict[str, int] = {}
    for start in range(0, len(names), BLOCK):
        block = [kept[name] for name in names[start : start + BLOCK]]
        found.update(dict(session.execute(_ASKED, {"review": review_id, "names": block}).all()))
    for name in names:
        if kept[name] not in found:
            raise UnknownName(f"The review has no document {name!r}. Use the id of one that it has.")
    return {name: found[kept[name]] for name in names}


def _check_new(session: Session, review_id: int, source: str, names: Sequence[str]) -> None:
    if not names:
        raise InputError(f"{source}: no documents. A review needs at least one.")
    there = set(session.scalars(select(Document.name).where(Document.review_id == review_id)))
    again = [name for name in names if name in there]
    if again:
        raise InputError(
            f"{source}: {len(again):,} ids are in the review already ({_listed(again)}). Leave these documents out, or "
            "give them other ids."
        )
    if len(set(names)) < len(names):
        alike = [name for name, n in Counter(names).items() if n > 1]
        raise InputError(f"{source}: ids that the database cannot tell apart ({_listed(alike)}). Give them other ids.")


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:SHOWN])}{', ...' if len(names) > SHOWN else ''}"


def _repeated_columns(collection: Collection) -> dict[str, str]:
    """Return the original columns that are exactly the id, title or abstract: long texts are kept once."""
    import polars as pl

    own = {
        "name": pl.Series(collection.ids, dtype=pl.String),
        "title": collection.titles.series,
        "abstract": collection.abstracts.series,
    }
    same: dict[str, str] = {}
    for column in collection.columns:
        equal = [field for field, values in own.items() if column.dtype == pl.String and column.equals(values)]
        if equal:
            same[column.name] = equal[0]
    return same


def _shape_of(columns: pl.DataFrame) -> bytes:
    target = BytesIO()
    columns.clear().write_ipc(target)
    return target.getvalue()


def _as_lines(columns: pl.DataFrame, n_rows: int) -> list[str]:
    """Return one JSON object a row."""
    if not columns.width:
        return ["{}"] * n_rows
    return columns.write_ndjson().rstrip("\n").split("\n")  # splitlines would also split at separators inside texts


@lru_cache(maxsize=64)
def _schema(shape: bytes) -> pl.Schema:
    import polars as pl

    return pl.read_ipc(BytesIO(shape)).schema


def columns_of(stratum: Stratum, rows: list[Document]) -> pl.DataFrame:
    """Return the original columns of a stratum, with their names, types and order."""
    import polars as pl

    shape = _schema(stratum.shape)
    kept = {name: dtype for name, dtype in shape.items() if name not in stratum.same_as}
    parts = {name: pl.Series([getattr(row, field) for row in rows]) for name, field in stratum.same_as.items()}
    if kept:
        lines = "\n".join(row.extra for row in rows).encode()
        parts |= pl.read_ndjson(BytesIO(lines), schema=kept).to_dict()
    return pl.DataFrame({name: parts[name] for name in shape})


def records_of(stratum: Stratum, rows: list[Document]) -> list[dict[str, Any]]:
    """Return the original columns of a few documents, by name: what :func:`columns_of` has in its rows.

    Where a value is what JSON says it is read without polars, whose threads have to be waited for: on a busy machine
    that is most of the time that a document takes.
    """
    if not _is_plain_json(stratum.shape):
        return columns_of(stratum, rows).to_dicts()
    names = list(_schema(stratum.shape))
    records = []
    for row in rows:
        values = json.loads(row.extra) | {name: getattr(row, field) for name, field in stratum.same_as.items()}
        records.append({name: values.get(name) for name in names})
    return records


@lru_cache(maxsize=64)
def _is_plain_json(shape: bytes) -> bool:
    """Tell whether a value of each column is what JSON says; dates, short floats and lists of them are not."""
    import polars as pl

    return all(
        isinstance(dtype, pl.String | pl.Boolean | pl.Float64) or dtype.is_integer()
        for dtype in _schema(shape).values()
    )
