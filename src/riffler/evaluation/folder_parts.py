"""A collection on disk as something to rank: its rows stay where they are, and the baseline is fitted by an engine."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from riffler.data.table import Schema, Table
from riffler.errors import InputError, LabelError
from riffler.features.blocked_rows import BlockedRows, rows_of
from riffler.records import IntArray

if TYPE_CHECKING:
    from collections.abc import Callable

    from riffler.disk import DiskCollection
    from riffler.engine import Engine, TlsFiles
    from riffler.evaluation.comparison import ScoredMethod


class RowNames:
    """The ids of some documents of a collection, read when they are asked for."""

    def __init__(self, collection: DiskCollection, rows: IntArray) -> None:
        self._collection, self._rows = collection, rows

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:  # noqa: ANN401 - as NumPy calls it
        return np.array(self._collection.ids.take(self._rows), dtype=dtype)

    def __len__(self) -> int:
        return len(self._rows)


@dataclass(frozen=True, slots=True, eq=False)
class FolderParts:
    """What of a collection is learned from, and what is ranked.

    labels : of every document: 1, 0, and -1 for those that are not learned from
    """

    collection: DiskCollection
    train: Table
    test: Table
    split: str
    labels: IntArray
    test_rows: IntArray | None

    def logistic(self, engine_name: str, tls: TlsFiles | None) -> Callable[[], ScoredMethod]:
        """How the baseline is made: fitted on all rows by an engine, which scores those of the test part too."""
        from riffler.engine import engine_from, rows_on_disk
        from riffler.evaluation.comparison import BASELINE, ScoredMethod
        from riffler.evaluation.logistic_on_engine import fit_logistic

        def fitted() -> ScoredMethod:
            with closing(engine_from(engine_name, rows_on_disk(self.collection), tls)) as engine:
                start = perf_counter()
                model = fit_logistic(engine, self.labels)
                seconds = perf_counter() - start
                return ScoredMethod(BASELINE, model, self._scores(model, engine), seconds)

        return fitted

    def _scores(self, model: Any, engine: Engine) -> Any:  # noqa: ANN401 - an estimator
        if self.test_rows is None:
            return model.decision_function(self.test.X)
        return engine.scores(model.coef_[0], float(model.intercept_[0]))[self.test_rows]


def folder_parts(folder: str, test: Path | None, label: str | None, positive: str | None, seed: int) -> FolderParts:
    """Open a collection; without a test file, 30 % of the documents whose labels are known are held out."""
    from riffler.disk import is_collection, open_collection
    from riffler.evaluation.comparison import rows_held_out

    if test is not None and is_collection(test):
        raise InputError(
            f"--test {test} is a collection of its own, whose words are weighed in another way than those of {folder}. "
            "Name a file of texts, or leave --test out: then 30 % are held out."
        )
    collection = open_collection(folder)
    labels = _labels(collection, label, positive)
    known = np.flatnonzero(labels != -1)
    if test is not None:
        train = _part(collection, known, labels)
        split = "the test file" + _left_out(labels)
        return FolderParts(collection, train, _texts(collection, test, label, positive), split, labels, None)
    train_rows, test_rows = (known[rows] for rows in rows_held_out(labels[known] == 1, seed, collection.source))
    learned = np.full(len(labels), -1, dtype=np.int8)
    learned[train_rows] = labels[train_rows]
    parts = _part(collection, train_rows, labels), _part(collection, test_rows, labels)
    return FolderParts(
        collection, *parts, f"30 % held out, stratified, seed {seed}{_left_out(labels)}", learned, test_rows
    )


def _left_out(labels: IntArray) -> str:
    """How many documents are neither learned from nor measured on, as the end of a sentence."""
    n = int((labels == -1).sum())
    return f"; {n:,} document{'s' * (n != 1)} without a label left out" if n else ""


def _labels(collection: DiskCollection, label: str | None, positive: str | None) -> IntArray:
    """1, 0 and -1 (not known) of each document: as they were indexed, or of another column."""
    from riffler.data.judgements import read_judgements

    labels: Any = collection.labels
    if label is not None:
        classes = None if positive is None else (positive,)
        labels = read_judgements(collection.column(label), classes, collection.source)
    elif positive is not None:
        raise InputError(
            f"{collection.source} is a collection on disk: its labels are what they were indexed as. Name the column "
            "that has the value as well (--label)."
        )
    n_relevant, n_other = (0, 0) if labels is None else ((labels == 1).sum(), (labels == 0).sum())
    if not n_relevant or not n_other:
        raise LabelError(
            f"{collection.source}: {n_relevant:,} documents are known to be relevant and {n_other:,} not to be; both "
            "kinds are needed to learn from. Name the column with the labels (--label)."
        )
    return np.asarray(labels, dtype=np.int8)


def _part(collection: DiskCollection, rows: IntArray, labels: IntArray) -> Table:
    """Rising rows of a collection: in memory where they are few, so that every method can learn from them."""
    from riffler.engine import rows_on_disk

    whole = rows_on_disk(collection)
    X: Any = rows_of(whole, rows)
    if len(rows) == collection.n_items and isinstance(X, BlockedRows):
        X = whole  # nothing is left out: blocks need not be gathered again whenever they are read
    names: Any = RowNames(collection, rows)
    return Table(X, labels[rows].astype(np.int64), None, names, collection.source, Schema(collection.n_columns))


def _texts(collection: DiskCollection, path: Path, label: str | None, positive: str | None) -> Table:
    """Texts of a file, weighed as those of the collection are."""
    from riffler.data.collection_reading import read_collection

    texts = read_collection(path, label=label, positive=None if positive is None else (positive,))
    X = collection.vectoriser.transform(texts.texts)
    y = None if texts.labels is None or (texts.labels == -1).any() else texts.labels.astype(np.int64)
    return Table(X, y, None, np.array(texts.ids), str(path), Schema(collection.n_columns))
