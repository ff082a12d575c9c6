"""A review of a collection on disk: its documents stay in the folder, and each is copied when it comes up to be read.

The review knows the folder, and which state of it: one that was changed since is another collection.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from riffler.disk import DiskCollection, open_collection
from riffler.disk.column_names import column_names
from riffler.errors import DataFileError, InputError
from riffler.ledger import RELEVANT
from riffler.records import IntArray
from riffler.review.database import now
from riffler.review.documents import BLOCK, asked_ids, new_numbers
from riffler.review.fulltext import index_stratum
from riffler.review.known import append_known
from riffler.review.schema import Document, EventRow, Stratum
from riffler.review.storable import storable
from riffler.search import policy_from
from riffler.search.ground import uses_clusters

if TYPE_CHECKING:
    import polars as pl

FOLDER = "folder"
"""Event of the folder that a review is of: the last one holds."""

MOST_KNOWN = 100_000  # labels of a folder that a review begins with; their documents are copied
OWN = {"id": "name", "title": "title", "abstract": "abstract"}


@dataclass(frozen=True, slots=True)
class FolderLink:
    """Which folder a review is of: where it was, and what tells its state from any other."""

    path: str
    generation: int
    fingerprint: str
    n_items: int

    @classmethod
    def to(cls, collection: DiskCollection) -> FolderLink:
        """The link to a collection as it is now."""
        path = str(collection.folder.resolve())
        return cls(path, collection.generation, collection.fingerprint(), collection.n_items)

    def check(self, collection: DiskCollection) -> None:
        """Raise where a folder is not the one that the review was begun on."""
        if collection.fingerprint() == self.fingerprint:
            return
        what = "was changed" if collection.generation != self.generation else "is another collection"
        raise InputError(
            f"{collection.source} {what} since the review was begun (generation {self.generation} with "
            f"{self.n_items:,} documents, now {collection.generation} with {collection.n_items:,}). What is certified "
            "holds for the documents of then: begin a new review (--file), or bring back the folder as it was."
        )

    def opened(self) -> DiskCollection:
        """The collection, as it was when the review was begun."""
        if not Path(self.path).is_dir():
            raise DataFileError(
                f"{self.path}: the collection of this review is not there any more. Bring it back, or name its new "
                "place: `riffler review FOLDER --file REVIEW`."
            )
        collection = open_collection(self.path)
        self.check(collection)
        return collection

    def check_policy(self, name: str) -> None:
        """Refuse a policy that uses soft clusters where the folder has none: it cannot get any under a review."""
        collection = self.opened()
        if uses_clusters(policy_from(name)) and not collection.manifest.clusters:
            raise InputError(
                f"The policy {name} uses soft clusters, and {collection.source} has none. This review is of the folder "
                "as it is, and would not open once it is indexed anew. Copy the folder, find clusters in the copy "
                "(`riffler reindex COPY --clusters 200`), and begin a new review of it."
            )


def link_of(session: Session, review_id: int) -> FolderLink | None:
    """Return which folder a review is of; None where its documents are in the database."""
    events = select(EventRow.details).where(EventRow.review_id == review_id, EventRow.name == FOLDER)
    details = session.scalar(events.order_by(EventRow.id.desc()).limit(1))
    return None if details is None else FolderLink(**details)


def write_link(session: Session, review_id: int, link: FolderLink) -> None:
    """Write down which folder a review is of, from now on."""
    session.add(EventRow(review_id=review_id, at=now(), name=FOLDER, details=asdict(link)))


def add_folder(session: Session, review_id: int, collection: DiskCollection, reviewer: str, rows: IntArray) -> None:
    """Make a folder the only import of a review; of these rows the labels are known from the start."""
    if rows.size > MOST_KNOWN:
        raise InputError(
            f"{collection.source}: {rows.size:,} labels are known, and a review begins with {MOST_KNOWN:,} at most. "
            "Use --ignore-labels to begin without them, or `riffler simulate` to see what a review would have cost."
        )
    names = column_names(collection)
    shape = BytesIO()
    _texts_of(names).write_ipc(shape)
    session.add(
        Stratum(
            review_id=review_id,
            source=storable(session, collection.folder.resolve().name),
            added_at=now(),
            shape=shape.getvalue(),
            same_as=_repeated(collection, names),
            n_asked=collection.n_items,
        )
    )
    session.flush()
    write_link(session, review_id, FolderLink.to(collection))
    if collection.labels is not None and rows.size:
        names = collection.ids.take(rows)
        for start in range(0, len(names), BLOCK):
            write_copies(session, review_id, copies_of(collection, names[start : start + BLOCK]))
        numbers = asked_ids(session, review_id, names)
        words = ["relevant" if label == RELEVANT else "irrelevant" for label in collection.labels[rows].tolist()]
        append_known(session, review_id, reviewer, dict(zip((numbers[name] for name in names), words, strict=True)))


@dataclass(frozen=True, slots=True, eq=False)
class Copies:
    """Documents as they are in the folder, read before anybody has to wait for a database."""

    rows: IntArray
    names: list[str]
    titles: Sequence[str]
    abstracts: Sequence[str]
    columns: pl.DataFrame


def missing(session: Session, review_id: int, names: Sequence[str]) -> list[str]:
    """Return those of some documents that the review does not have."""
    kept = {storable(session, name): name for name in names}
    there: set[str] = set()
    for start in range(0, len(kept), BLOCK):
        some = list(kept)[start : start + BLOCK]
        here = select(Document.name).where(Document.review_id == review_id, Document.name.in_(some))
        there.update(session.scalars(here))
    return [name for stored, name in kept.items() if stored not in there]


def copies_of(collection: DiskCollection, names: Sequence[str]) -> Copies:
    """Read documents from the folder."""
    rows = np.sort(collection.ids.rows_of(names))
    return Copies(
        rows,
        collection.ids.take(rows),
        collection.titles.take(rows),
        collection.abstracts.take(rows),
        _as_text(collection.columns(rows)),
    )


def write_copies(session: Session, review_id: int, copies: Copies) -> None:
    """Write documents into the review, as far as they are not there yet; of several who do so each waits for others."""
    one_of = select(Stratum).where(Stratum.review_id == review_id).with_for_update(key_share=True)
    stratum = session.scalars(one_of).one()
    new = set(missing(session, review_id, copies.names))
    if not new:
        return
    extra = copies.columns.drop([name for name in stratum.same_as if name in copies.columns.columns])
    lines = extra.write_ndjson().rstrip("\n").split("\n") if extra.width else ["{}"] * len(copies.names)
    documents = zip(copies.names, copies.rows.tolist(), copies.titles, copies.abstracts, lines, strict=True)
    records = [
        {
            "review_id": review_id,
            "stratum_id": stratum.id,
            "position": row,
            "name": storable(session, name),
            "title": storable(session, title),
            "abstract": storable(session, abstract),
            "extra": storable(session, line),
            "twin_of": None,
        }
        for name, row, title, abstract, line in documents
        if name in new
    ]
    numbers = new_numbers(session, len(records))
    session.execute(insert(Document), [{"id": number, **one} for number, one in zip(numbers, records, strict=True)])
    index_stratum(session, stratum.id, first=numbers[0])


def _texts_of(names: Sequence[str]) -> pl.DataFrame:
    """Columns of texts, without rows."""
    import polars as pl

    return pl.DataFrame(schema=dict.fromkeys(names, pl.String))


def _repeated(collection: DiskCollection, columns: Sequence[str]) -> dict[str, str]:
    """Columns that a document's own fields repeat, where they are called the same in all sources."""
    parts = [source["parts"] for source in collection.manifest.sources if source["parts"] is not None]
    if not parts or any(one != parts[0] for one in parts):
        return {}
    named = {parts[0].get(part) or ("riffler_id" if part == "id" else None): field for part, field in OWN.items()}
    return {name: field for name, field in named.items() if name is not None and name in columns}


def _as_text(columns: pl.DataFrame) -> pl.DataFrame:
    """All columns as texts, so that one document more or less does not change their types."""
    import polars as pl

    from riffler.review.export_tabular import as_cells

    return pl.DataFrame({column.name: as_cells(column) for column in columns})
