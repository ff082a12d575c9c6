"""Documents come in: a file is looked at before anything is made of it, and what the review has is recognised."""

from __future__ import annotations

import os
from collections.abc import Container, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from riffler.data.collection import Collection
from riffler.data.collection_reading import (
    FORMATS,
    collection_from_frame,
    id_column,
    read_frame,
    text_format_of,
)
from riffler.data.duplicates import Duplicates, find_duplicates
from riffler.data.opening import COMPRESSIONS, shown_name
from riffler.data.plain_types import plain_columns
from riffler.data.ris import TAGS_COLUMN
from riffler.data.stacking import stacked
from riffler.data.text_columns import find_column
from riffler.data.texts import Texts
from riffler.errors import DataFileError, InputError
from riffler.ledger import UNKNOWN
from riffler.review.documents import asked_ids
from riffler.review.export_tabular import as_cells
from riffler.review.folder_side import check_no_folder
from riffler.review.known import settled_documents
from riffler.review.store import SOLE_REVIEWER, Review
from riffler.review.upload_limits import Limits, check_rows, check_upload

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Arrival", "Limits", "Mapping", "Preview", "add_upload", "arrival_of", "preview_upload", "read_upload"]

SAMPLE_ROWS, SAMPLE_CHARACTERS = 5, 400
NO_LABELS = ""


@dataclass(frozen=True, slots=True)
class Mapping:
    """Which column plays which part, as in ``read_collection``; None lets it be found by its name.

    label : "" takes no labels, whatever columns there are
    positive : values of the label column that are relevant; with none they are 1, yes, include and the like
    """

    title: str | None = None
    abstract: str | None = None
    text: str | None = None
    id: str | None = None
    label: str | None = None
    positive: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Preview:
    """What a file holds, before it is imported.

    name : of the file, for messages; never a path
    mapping : the columns that were found by their names
    sample : the first rows as texts, by column
    problem : why it cannot be imported with this mapping, in words; "" if it can
    """

    name: str
    format: str
    n_rows: int
    columns: tuple[str, ...]
    mapping: Mapping
    sample: tuple[dict[str, str], ...]
    problem: str


@dataclass(frozen=True, slots=True, eq=False)
class Arrival:
    """What documents would be to a review.

    collection : those that are added
    duplicates : of each other among them
    twins : ids of those that a document of the review stands for
    n_known : ids that the review has; they are left out
    labels : of documents that the review has by their ids
    n_taken, n_dropped : labels of documents of the review that hold from now on, and that change nothing
    n_imports : how many imports the review had when this was found out
    """

    collection: Collection
    duplicates: Duplicates
    twins: dict[str, str]
    n_known: int
    labels: dict[str, int]
    n_taken: int
    n_dropped: int
    n_imports: int

    @property
    def n_repeated(self) -> int:
        """How many are duplicates of others in the file."""
        return sum(len(group) - 1 for group in self.duplicates.groups)

    @property
    def n_new(self) -> int:
        """How many will be asked for."""
        return self.collection.n_items - len(self.twins) - self.n_repeated

    @property
    def sentence(self) -> str:
        """What will happen, in words."""
        parts = [f"{self.n_new:,} new documents to read"]
        if self.n_known:
            parts.append(f"{self.n_known:,} left out, as the review has their ids")
        if self.twins:
            parts.append(f"{len(self.twins):,} duplicates of documents in the review, shown with them")
        if self.n_repeated:
            parts.append(f"{self.n_repeated:,} duplicates of each other, shown together")
        if self.n_taken:
            parts.append(f"{self.n_taken:,} labels taken for documents in the review that nobody answered")
        if self.n_dropped:
            parts.append(f"{self.n_dropped:,} labels left out, as their documents in the review are answered or shown")
        return "; ".join(parts) + "."


def upload_ending(name: str) -> str:
    """Return the ending under which an upload is kept: of a known format, whatever else its name says.

    >>> upload_ending("../../etc/My papers.RIS.gz")
    '.ris.gz'
    """
    lower = name.lower()
    packed = next((ending for ending in COMPRESSIONS if lower.endswith(ending)), "")
    if lower.endswith((".zip", ".7z", ".rar", ".tar")):
        raise DataFileError(f"{shown_name(name)}: archives are not read. Unpack it and choose the file inside.")
    text_format_of(Path(shown_name(name)))
    inner = lower.removesuffix(packed)
    return next(ending for endings in FORMATS.values() for ending in endings if inner.endswith(ending)) + packed


def preview_upload(path: str | os.PathLike[str], limits: Limits = Limits(), *, name: str | None = None) -> Preview:  # noqa: B008 - frozen
    """Look at a file of any format that is read: its columns, which of them are found, and its first rows.

    ``name`` is what the user calls the file; it stands in messages, and is never used as a path.
    """
    file, shown = Path(path), shown_name(os.fspath(path) if name is None else name)
    with _in_their_words(file, shown):
        frame = _frame(file, limits)
    mapping = _guess(frame)
    try:
        with _in_their_words(file, shown):
            _collection(frame, mapping, shown)
        problem = ""
    except InputError as error:
        problem = str(error)
    head = [as_cells(column) for column in frame.head(SAMPLE_ROWS)]
    rows = zip(*(column.fill_null("").str.slice(0, SAMPLE_CHARACTERS).to_list() for column in head), strict=True)
    sample = tuple(dict(zip(frame.columns, row, strict=True)) for row in rows)
    return Preview(shown, text_format_of(file), frame.height, tuple(frame.columns), mapping, sample, problem)


def read_upload(
    path: str | os.PathLike[str],
    mapping: Mapping = Mapping(),
    limits: Limits = Limits(),  # noqa: B008 - frozen
    *,
    name: str | None = None,
) -> Collection:
    """Read a file as ``preview_upload`` showed it, with these columns."""
    file, shown = Path(path), shown_name(os.fspath(path) if name is None else name)
    with _in_their_words(file, shown):
        return _collection(_frame(file, limits), mapping, shown)


def arrival_of(review: Review, collection: Collection) -> Arrival:
    """Find out what a collection would bring to a review: known ids, duplicates of what is there, new documents."""
    n_imports = len(review.imports())  # before all else: what is added from now on is noticed
    with review.moment() as session:
        check_no_folder(session, review.id)
    there = review.collection()
    known = {*there.ids, *(name for names in there.twins.values() for name in names)}
    rows = [row for row, name in enumerate(collection.ids) if name not in known]
    fresh = collection.take(rows)
    both = find_duplicates(_joined(there, fresh))
    n_there = there.n_items
    representatives = np.maximum(both.representatives[n_there:] - n_there, 0)
    twins: dict[str, str] = {}
    for group in both.groups:
        if group[0] < n_there:  # rows are in order, and those of the review come first
            inside = group[group >= n_there] - n_there
            representatives[inside] = inside
            twins.update({fresh.ids[row]: there.ids[group[0]] for row in inside})
    kept = [at for at, pair in enumerate(both.pairs - n_there) if _stays(pair.tolist(), fresh, twins)]
    duplicates = Duplicates(
        n_items=fresh.n_items,
        pairs=both.pairs[kept] - n_there,
        reasons=tuple(both.reasons[at] for at in kept),
        similarities=both.similarities[kept],
        representatives=representatives,
    )
    labels = _labels(collection, known)
    about = [*labels, *(twins[name] for name in _labels(fresh, twins))]
    n_dropped = _n_settled(review, about)
    n_known = collection.n_items - len(rows)
    return Arrival(fresh, duplicates, twins, n_known, labels, len(about) - n_dropped, n_dropped, n_imports)


def add_upload(review: Review, collection: Collection, *, reviewer: str = SOLE_REVIEWER) -> Arrival:
    """Add what is new of a collection to a review, all of it or nothing, and return what it was.

    ``reviewer`` is who brings it, and answers for the labels that are in it.
    """
    arrival = arrival_of(review, collection)
    if not arrival.collection.n_items:
        raise InputError(f"{collection.source}: the review has all {collection.n_items:,} documents already.")
    review.add_documents(
        arrival.collection,
        duplicates=arrival.duplicates,
        twins=arrival.twins,
        labels=arrival.labels,
        n_left_out=arrival.n_known,
        n_imports=arrival.n_imports,
        reviewer=reviewer,
    )
    return arrival


def _labels(collection: Collection, wanted: Container[str]) -> dict[str, int]:
    """Return the labels that some documents have, by id."""
    labels = [] if collection.labels is None else collection.labels.tolist()
    pairs = zip(collection.ids, labels, strict=False)  # without labels nothing is known
    return {name: label for name, label in pairs if label != UNKNOWN and name in wanted}


def _n_settled(review: Review, names: list[str]) -> int:
    with review.moment() as session:
        numbers, settled = asked_ids(session, review.id, names), settled_documents(session, review.id)
    return sum(numbers[name] in settled for name in names)


def _stays(pair: list[int], fresh: Collection, twins: dict[str, str]) -> bool:
    """Whether a pair is of two new documents that stand together by themselves."""
    return min(pair) >= 0 and fresh.ids[pair[0]] not in twins


def _joined(first: Collection, second: Collection) -> Collection:
    import polars as pl

    return Collection(
        ids=first.ids + second.ids,
        titles=Texts(pl.concat([first.titles.series, second.titles.series])),
        abstracts=Texts(pl.concat([first.abstracts.series, second.abstracts.series])),
        labels=None,
        columns=stacked([first.columns, second.columns]),
        source=second.source,
    )


def _frame(file: Path, limits: Limits) -> pl.DataFrame:
    import polars as pl

    check_upload(file, limits)
    try:
        frame = read_frame(file)
    except pl.exceptions.PanicException as error:  # no Exception: it would pass through everything that catches those
        raise DataFileError(f"{file}: the file is damaged, it cannot be read. Copy or make it again.") from error
    check_rows(file, frame.height, limits)
    return plain_columns(frame)


def _collection(frame: pl.DataFrame, mapping: Mapping, source: str) -> Collection:
    chosen = {**asdict(mapping), "label": mapping.label or None, "positive": mapping.positive or None}
    if mapping.label != NO_LABELS:
        return collection_from_frame(frame, **chosen, source=source)
    unread = [name for name in [find_column(frame, "label")] if name is not None]  # it may hold anything
    return replace(collection_from_frame(frame.drop(unread), **chosen, source=source), labels=None, columns=frame)


def _guess(frame: pl.DataFrame) -> Mapping:
    """Name the columns that would be taken, so that they can be looked at and changed."""
    if TAGS_COLUMN in frame.columns:  # records use one tag or another: a choice would leave some without text
        return Mapping()
    found = Mapping(
        title=find_column(frame, "title"),
        abstract=find_column(frame, "abstract"),
        id=id_column(frame),
        label=find_column(frame, "label"),
    )
    return found if found.abstract is not None else replace(found, text=find_column(frame, "text"))


@contextmanager
def _in_their_words(file: Path, shown: str) -> Iterator[None]:
    """Let errors speak of the file as its owner calls it, not of the place where it is kept."""
    try:
        yield
    except InputError as error:
        raise type(error)(str(error).replace(str(file), shown)) from error
