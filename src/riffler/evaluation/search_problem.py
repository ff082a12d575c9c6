"""What a simulated search is about: a collection whose labels are all known, and its feature rows."""

from __future__ import annotations

import hashlib
import heapq
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from time import process_time
from typing import TYPE_CHECKING

import numpy as np

from riffler.data.collection import Collection
from riffler.data.table import Table
from riffler.data.texts import Texts
from riffler.disk import DiskCollection
from riffler.engine import Engine
from riffler.errors import LabelError
from riffler.records import BoolArray, IntArray, Matrix, is_sparse

if TYPE_CHECKING:
    import polars as pl

    from riffler.features.clusters import SoftClusters


N_COSINES = 1000
MOST_VALUES = 100_000_000  # cosines of all rows together: 400 MB


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """One search: find the items of ``labels`` 1; several topics share a collection and its features.

    name : the topic, "" where there is only one
    feature_cpu_seconds : what making the features took, paid once for all topics and runs
    clusters, cluster_cpu_seconds : soft clusters for the policies that use them, and what making them took
    engine : of a collection on disk, whose own rows are searched: ``features`` is None then
    """

    name: str
    collection: Collection | DiskCollection
    labels: IntArray
    features: Matrix
    feature_cpu_seconds: float = 0.0
    clusters: SoftClusters | None = None
    cluster_cpu_seconds: float = 0.0
    engine: Engine | None = None

    def __post_init__(self) -> None:
        n_items, where = self.collection.n_items, self.collection.source + (f", {self.name}" if self.name else "")
        if self.n_relevant == 0:
            raise LabelError(f"{where}: none of the {n_items:,} items is relevant, so there is nothing to find.")
        if n_items < 2 or self.n_relevant == n_items:
            raise LabelError(
                f"{where}: all of the {n_items:,} items are relevant, so there is nothing to tell apart. "
                "A simulation needs relevant and irrelevant items."
            )

    @property
    def n_items(self) -> int:
        """Items of the collection."""
        return self.collection.n_items

    @property
    def n_relevant(self) -> int:
        """Relevant ones among them."""
        return int(np.sum(self.labels == 1))

    def fingerprint(self) -> str:
        """A short text that changes with ids, labels and features: their SHA-256."""
        X = self.features
        if isinstance(self.collection, DiskCollection):
            digest, rows = hashlib.sha256(self.collection.fingerprint().encode()), []
        else:
            digest = hashlib.sha256("\n".join(self.collection.ids).encode())
            rows = [X.data, X.indices, X.indptr] if is_sparse(X) else [X]
        for part in [self.labels, *rows]:
            digest.update(f"{part.dtype}{part.shape}".encode())
            digest.update(np.ascontiguousarray(part).data)
        return digest.hexdigest()[:16]

    def slim(self, *, texts: bool) -> Problem:
        """The same problem with nothing that a run does not need, to be handed to another process."""
        import polars as pl

        if isinstance(self.collection, DiskCollection):
            return self
        blank = Texts(pl.Series([""], dtype=pl.String).new_from_index(0, self.n_items))
        whole = self.collection
        collection = replace(
            whole,
            titles=whole.titles if texts else blank,
            abstracts=whole.abstracts if texts else blank,
            labels=None,
            columns=pl.DataFrame(),
        )
        return replace(self, collection=collection)

    def row_finder(self) -> Callable[[Sequence[str]], IntArray]:
        """What finds the rows of items by their ids."""
        if isinstance(self.collection, DiskCollection):
            return self.collection.ids.rows_of
        row_of = {name: row for row, name in enumerate(self.collection.ids)}
        return lambda ids: np.array([row_of[name] for name in ids], dtype=np.int64)

    def with_features(self) -> BoolArray:
        """Which items have any feature."""
        if self.engine is not None:
            return ~self.engine.blank_rows
        X = self.features
        filled: BoolArray = np.diff(X.indptr) > 0 if is_sparse(X) else np.ones(self.n_items, dtype=bool)
        return filled


def disk_problems(
    collection: DiskCollection, engine: Engine, column: str | None, topics: Sequence[str] | None, min_relevant: int = 1
) -> list[Problem]:
    """Searches in a collection on disk: by its own labels, or one for each topic of a column."""
    from riffler.data.judgements import topic_labels

    if column is not None:
        texts, source = collection.column(column), collection.source
        chosen = _frequent(texts, min_relevant, source) if topics is None else list(dict.fromkeys(topics))
        labels = {topic: topic_labels(texts, topic, source) for topic in chosen}
        return [Problem(topic, collection, one, None, engine=engine) for topic, one in labels.items()]
    known = collection.labels
    if known is None or (known < 0).any():
        n = collection.n_items if known is None else int((known < 0).sum())
        raise LabelError(
            f"{collection.source}: {n:,} of {collection.n_items:,} documents have no label. A simulation answers by "
            "labels: index labelled documents, or name a column with topics (--label-column)."
        )
    return [Problem("", collection, known, None, engine=engine)]


def text_problem(collection: Collection) -> Problem:
    """A search among texts by the collection's own labels; items without a label are left out."""
    if collection.labels is None:
        raise LabelError(
            f"{collection.source}: no label is known. Name the column with the labels (--label), or one with topics "
            f"(--label-column). Columns: {', '.join(collection.columns.columns)}."
        )
    known = np.flatnonzero(collection.labels >= 0)
    labels = collection.labels[known]
    if known.size < collection.n_items:
        warnings.warn(
            f"{collection.source}: {collection.n_items - known.size:,} of {collection.n_items:,} items have no label "
            "and are left out.",
            stacklevel=2,
        )
        collection = collection.take(known)
    _check_sides(collection, labels)
    features, seconds = text_features(collection)
    return Problem("", collection, labels, features, seconds)


def topic_problems(
    collection: Collection, column: str, topics: Sequence[str] | None, min_relevant: int = 1
) -> list[Problem]:
    """One search for each topic of a column, topics joined by ``|``; None takes all with ``min_relevant`` items."""
    chosen = list(dict.fromkeys(topics)) if topics is not None else frequent_topics(collection, column, min_relevant)
    relevant = {topic: collection.with_topic(topic, column).labels for topic in chosen}
    features, seconds = text_features(collection)
    return [
        Problem(topic, collection, labels, features, seconds)
        for topic, labels in relevant.items()
        if labels is not None
    ]


def frequent_topics(collection: Collection, column: str, min_relevant: int) -> list[str]:
    """Topics that at least ``min_relevant`` items have and not all of them, the most frequent first."""
    from riffler.data.text_columns import as_text, chosen_column

    name = chosen_column(collection.columns, "topics", column, collection.source)
    return _frequent(as_text(collection.columns[name], collection.source), min_relevant, collection.source)


def _frequent(texts: pl.Series, min_relevant: int, source: str) -> list[str]:
    each = texts.fill_null("").str.split("|").list.unique().explode()
    counts = each.filter(each != "").value_counts(sort=True)
    found = [
        (-count, topic)
        for topic, count in counts.iter_rows()
        if min_relevant <= count < len(texts)
    ]  # fmt: skip
    if not found:
        most = max(counts["count"].to_list(), default=0)
        raise LabelError(
            f"{source}: no topic of column {texts.name!r} has at least {min_relevant:,} items; the most frequent "
            f"has {most:,}. Lower --min-relevant."
        )
    return [topic for _, topic in sorted(found)]


def table_problem(table: Table) -> Problem:
    """A search among rows of numbers by their labels."""
    import polars as pl

    from riffler.evaluation.comparison import binary_labels_of

    labels = binary_labels_of(table).astype(np.int8)
    start = process_time()
    features = number_features(table.X)
    seconds = process_time() - start
    ids = tuple(str(one) for one in table.ids.tolist())
    if len(set(ids)) < len(ids):
        raise LabelError(
            f"{table.source}: ids repeat. Every item needs an id of its own; use a file without that column."
        )
    blank = Texts(pl.Series([""], dtype=pl.String).new_from_index(0, len(ids)))
    collection = Collection(ids, blank, blank, labels, pl.DataFrame(), table.source)
    return Problem("", collection, labels, features, seconds)


def with_clusters(problems: Sequence[Problem], method: str) -> list[Problem]:
    """The same problems with soft clusters; problems that share their features share the clusters."""
    from riffler.search.arms import search_clusters

    made: dict[int, tuple[SoftClusters, float]] = {}
    for problem in problems:
        if id(problem.features) not in made:
            start = process_time()
            clusters = search_clusters(problem.features, method)
            made[id(problem.features)] = clusters, process_time() - start
    return [
        replace(problem, clusters=clusters, cluster_cpu_seconds=seconds)
        for problem in problems
        for clusters, seconds in [made[id(problem.features)]]
    ]


def number_features(X: Matrix) -> Matrix:
    """Rows of numbers for a linear model, each of length 1, float32.

    Sparse rows stay what they are. Dense ones become columns on one scale and random cosines of them: what is relevant
    among images or measurements has seldom one straight border. (Digits 3, 5 and 8 of ten: 602 labels to find 95 %
    where the columns alone need 738.)

    >>> number_features(np.array([[1.0, 10.0], [3.0, 30.0]])).shape
    (2, 1002)
    """
    if is_sparse(X):
        from sklearn.preprocessing import normalize

        return normalize(X.astype(np.float32))
    from riffler.features.column_map import ColumnMap

    made = ColumnMap(min(N_COSINES, MOST_VALUES // X.shape[0]), gamma=None, seed=0).fit(X)
    rows = np.empty((X.shape[0], made.n_features), dtype=np.float32)
    for start, stop in made.block_bounds(X.shape[0]):
        block = made.transform(X[start:stop])
        rows[start:stop] = block / np.maximum(np.linalg.norm(block, axis=1, keepdims=True), 1e-12)
    return rows


def text_features(collection: Collection) -> tuple[Matrix, float]:
    """Features that a search makes of texts by default, and the seconds of the processor that took."""
    from riffler.search.features import search_features

    start = process_time()
    features = search_features(collection)
    return features, process_time() - start


def keyed_order(ids: Sequence[str], key: str) -> IntArray:
    """A random order that depends on the ids and a key alone.

    >>> keyed_order(["a", "b", "c"], "0/prior").tolist() == keyed_order(["a", "b", "c"], "0/prior").tolist()
    True
    """
    return drawn_by_key(ids, key, np.ones(len(ids), dtype=bool), len(ids))


def drawn_by_key(ids: Iterable[str], key: str, wanted: BoolArray, n: int) -> IntArray:
    """Draw n of the wanted rows, by the ids and a key alone; fewer where there are fewer.

    >>> drawn_by_key(["a", "b", "c"], "0/prior", np.array([False, True, False]), 2)
    array([1])
    """
    draws = (
        (hashlib.sha256(f"{key}/{name}".encode()).digest(), row)
        for row, (name, is_wanted) in enumerate(zip(ids, wanted.tolist(), strict=True))
        if is_wanted
    )
    return np.array([row for _, row in heapq.nsmallest(n, draws)], dtype=np.int64)


def _check_sides(collection: Collection, labels: IntArray) -> None:
    """Refuse what cannot be searched before features are made."""
    Problem("", collection, labels, np.empty((0, 0)))
