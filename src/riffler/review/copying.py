"""The rows of a review go from one database to another, in blocks: every number is a new one, every order stays.

What belongs to the server that it was on stays there: keys, log-ins, invitations, who reads or learns just now.
"""

from __future__ import annotations

import json
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from sqlalchemy import Column, ColumnElement, Table, case, exists, func, select, text, union
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from riffler.errors import InputError, ReviewFileError, UnknownName
from riffler.review.database import POSTGRES
from riffler.review.fulltext import index_stratum
from riffler.review.names import name_key
from riffler.review.schema_team import Base
from riffler.review.storable import storable

Tell = Callable[[float, str], None]
Row = dict[str, Any]

BLOCK = 2000
"""Rows that are in memory at a time."""

TABLES = Base.metadata.tables
REVIEWS, REVIEWERS = TABLES["reviews"], TABLES["reviewers"]
STRATA, DOCUMENTS, SUGGESTIONS, LEDGER = (TABLES[name] for name in ("strata", "documents", "suggestions", "ledger"))
LEFT_BEHIND = {"tokens", "leases", "holds", "visits", "tries", "invitations", "uploads", "upload_parts"}
"""Tables of a server, not of a review."""

COPIED = sorted(
    (one for one in Base.metadata.sorted_tables if one.name not in LEFT_BEHIND | {REVIEWS.name, REVIEWERS.name}),
    key=lambda table: table.name == "pictures",  # they refer to the ledger without a foreign key
)
"""Tables with the number of a review; those that others refer to come first."""

COPYING_SHARE = 0.5  # of the work; the rest is the index of the texts


def copy_review(source: Session, review_id: int, target: Session, tell: Tell = lambda share, doing: None) -> int:
    """Copy a review, and return its number in the target; it is there when the target's transaction is committed.

    Who has the name of somebody in the target is that person; others get an account that nobody can log in to yet.
    """
    return _Copy(source, review_id, target, tell).run()


class Numbers:
    """The new numbers of some rows by their old ones.

    >>> new = Numbers([3, 5, 8], [11, 12, 13])
    >>> new[5], new.last_until(7), new.last_until(2)
    (12, 12, 0)
    """

    def __init__(self, old: Iterable[int], new: Sequence[int]) -> None:
        self._old, self._new = array("q", old), new

    def __getitem__(self, old: int) -> int:
        at = bisect_left(self._old, old)
        if at == len(self._old) or self._old[at] != old:
            raise ReviewFileError("The review has rows that refer to nothing; it is damaged. Use a backup.")
        return self._new[at]

    def last_until(self, old: int) -> int:
        """Return the new number of the last row up to an old number; 0 where there is none."""
        at = bisect_right(self._old, old)
        return self._new[at - 1] if at else 0


class _Copy:
    """One copying: the numbers that were given so far."""

    def __init__(self, source: Session, review_id: int, target: Session, tell: Tell) -> None:
        self._source, self._review_id, self._target, self._tell = source, review_id, target, tell
        self._numbers: dict[str, Numbers] = {}

    def run(self) -> int:
        new_id = self._copy_head()
        self._copy_people()
        keys = {table.name: self._keys(table) for table in COPIED}
        n_done, n_all = 0, max(1, sum(map(len, keys.values())))
        for table in COPIED:
            mine = keys[table.name]
            if "id" in table.c:
                self._numbers[table.name] = Numbers(sorted(mine), _next_numbers(self._target, table, len(mine)))
            for start in range(0, len(mine), BLOCK):
                rows = self._rows(table, mine[start : start + BLOCK])
                self._target.execute(table.insert(), [self._changed(table, row) for row in rows])
                n_done += len(rows)
                self._tell(COPYING_SHARE * n_done / n_all, f"copying {table.name}")
        self._index_texts(new_id)
        return new_id

    def _copy_head(self) -> int:
        found = self._source.execute(select(REVIEWS).where(REVIEWS.c.id == self._review_id)).mappings().one_or_none()
        if found is None:
            raise UnknownName(f"There is no review with the number {self._review_id}.")
        row = {**found, "id": _next_numbers(self._target, REVIEWS, 1)[0]}
        # whoever copies the same review at this moment is waited for
        if not _insert_new(self._target, REVIEWS, self._fitting(row), "identity"):
            raise InputError(
                f"The review {found['name']!r} is there already, with the same identity ({found['identity']}), so "
                "nothing was copied. If an earlier move was cut short at its very end, it is whole there: go on there, "
                "and leave the one here alone. Else choose another target."
            )
        self._numbers[REVIEWS.name] = Numbers([self._review_id], [row["id"]])
        return int(row["id"])

    def _copy_people(self) -> None:
        mentioned = union(
            *(
                select(column).where(table.c.review_id == self._review_id, column.is_not(None))
                for table in COPIED
                for column in table.c
                if _referred(column) is REVIEWERS
            )
        )
        people = self._source.execute(
            select(REVIEWERS.c.id, REVIEWERS.c.name, REVIEWERS.c.joined_at)
            .where(REVIEWERS.c.id.in_(mentioned))
            .order_by(REVIEWERS.c.id)
        ).all()
        known = {row.name: row.id for row in self._target.execute(select(REVIEWERS.c.name, REVIEWERS.c.id))}
        names = {one.name for one in people}
        # who differs in large and small letters only is the same person as well, but nobody is two
        others = {name_key(name): number for name, number in known.items() if name not in names}
        new = [
            known.get(one.name) or others.pop(name_key(one.name), None) or self._new_person(one.name, one.joined_at)
            for one in people
        ]
        self._numbers[REVIEWERS.name] = Numbers([one.id for one in people], new)

    def _new_person(self, name: str, joined_at: str) -> int:
        row = self._fitting({"name": name, "joined_at": joined_at})
        _insert_new(self._target, REVIEWERS, row, "name")  # unless somebody else did a moment ago
        return int(self._target.execute(select(REVIEWERS.c.id).where(REVIEWERS.c.name == row["name"])).scalar_one())

    def _keys(self, table: Table) -> Sequence[Any]:
        """Return what tells the rows of a table apart, in the order in which they can be written."""
        key = _key_of(table)
        order = [DOCUMENTS.c.twin_of.is_not(None), key] if table is DOCUMENTS else [key]  # twins refer to others
        found = self._source.scalars(select(key).where(table.c.review_id == self._review_id).order_by(*order))
        return list(found) if key.type.python_type is str else array("q", found)

    def _rows(self, table: Table, keys: Sequence[Any]) -> list[Row]:
        key = _key_of(table)
        columns = [_given_back() if column is SUGGESTIONS.c.shown_to else column for column in table.c]
        wanted = select(*columns).where(table.c.review_id == self._review_id, key.in_(list(keys)))
        found = {row[key.name]: dict(row) for row in self._source.execute(wanted).mappings()}
        return [found[one] for one in keys]

    def _changed(self, table: Table, row: Row) -> Row:
        """Return a row as the target has it: with the numbers of the target."""
        changed = self._fitting(row)
        if "id" in table.c:
            changed["id"] = self._numbers[table.name][row["id"]]
        for column in table.c:
            referred = _referred(column)
            if referred is not None and row[column.name] is not None:
                changed[column.name] = self._numbers[referred.name][row[column.name]]
        if table.name == "pictures":
            changed["ledger_id"] = self._numbers[LEDGER.name].last_until(row["ledger_id"])
            changed["payload"] = self._repainted(row["name"], row["payload"])
        return changed

    def _repainted(self, name: str, payload: bytes) -> bytes:
        """Put the new numbers into the picture of the progress; without them its claims would be withdrawn."""
        if name != "progress":
            return payload
        values = json.loads(payload)
        revision = values["revision"]
        revision["last_change"] = self._numbers[LEDGER.name].last_until(revision["last_change"])
        for stratum in values.get("strata", ()):
            stratum["id"] = self._numbers[STRATA.name][stratum["id"]]
        return json.dumps(values, ensure_ascii=False, allow_nan=False).encode()

    def _fitting(self, row: Row) -> Row:
        return {name: storable(self._target, value) if isinstance(value, str) else value for name, value in row.items()}

    def _index_texts(self, new_id: int) -> None:
        mine = select(STRATA.c.id).where(STRATA.c.review_id == new_id).order_by(STRATA.c.id)
        numbers = self._target.scalars(mine).all()
        for place, number in enumerate(numbers):
            self._tell(COPYING_SHARE + (1 - COPYING_SHARE) * place / len(numbers), "indexing the texts")
            index_stratum(self._target, number)


def _key_of(table: Table) -> Column[Any]:
    """Return the column that tells the rows of one review apart."""
    return next(column for column in table.primary_key if column.name != "review_id")


def _given_back() -> ColumnElement[Any]:
    """Select whom a suggestion was shown to; nobody where nothing was said of it, for holds do not travel."""
    said = exists().where(
        LEDGER.c.document_id == SUGGESTIONS.c.document_id,  # which has an index
        LEDGER.c.suggestion_id == SUGGESTIONS.c.id,
    )
    return case((said, SUGGESTIONS.c.shown_to)).label("shown_to")


def _referred(column: Column[Any]) -> Table | None:
    """Return the table that a column refers to."""
    return next((key.column.table for key in column.foreign_keys), None)


def _next_numbers(session: Session, table: Table, n: int) -> Sequence[int]:
    """Return n numbers, each above the one before, that no row of the table has had."""
    if _is_postgres(session):
        drawn = text("SELECT nextval(pg_get_serial_sequence(:name, 'id')) FROM generate_series(1, :n)")
        return array("q", sorted(session.scalars(drawn, {"name": table.name, "n": n})))
    last = session.scalar(select(func.max(table.c.id))) or 0
    given = session.scalar(text("SELECT seq FROM sqlite_sequence WHERE name = :name"), {"name": table.name}) or 0
    return range(max(last, given) + 1, max(last, given) + 1 + n)


def _insert_new(session: Session, table: Table, row: Row, unique: str) -> bool:
    """Insert a row unless one has the same value in a column; tell whether it was."""
    insert = postgresql.insert if _is_postgres(session) else sqlite.insert
    wanted = insert(table).values(row).on_conflict_do_nothing(index_elements=[unique]).returning(table.c.id)
    return session.execute(wanted).first() is not None


def _is_postgres(session: Session) -> bool:
    return session.get_bind().dialect.name == POSTGRES
