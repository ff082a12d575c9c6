"""A collection of texts: ids, titles, abstracts, labels where known, and all columns as they were read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riffler.data.judgements import topic_labels
from riffler.data.text_columns import chosen_column
from riffler.data.texts import Texts
from riffler.errors import InputError, LabelError
from riffler.records import IntArray

if TYPE_CHECKING:
    import polars as pl

    from riffler.data.duplicates import Duplicates


@dataclass(frozen=True, slots=True, eq=False)
class Collection:
    """Items to review, in the order of the file.

    Attributes
    ----------
    ids : one stable text an item, all different
    titles, abstracts : one text an item, "" where there is none
    labels : int8 array of 1 (relevant), 0 (irrelevant) and -1 (not known), or None where nothing is known of any
    columns : every column as it was read, for export
    source : the file or the data set, for messages
    twins : after ``grouped``, the ids that an item stands for beside its own
    """

    ids: tuple[str, ...]
    titles: Texts
    abstracts: Texts
    labels: NDArray[np.int8] | None
    columns: pl.DataFrame
    source: str
    twins: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def n_items(self) -> int:
        """How many items there are."""
        return len(self.ids)

    @property
    def texts(self) -> Texts:
        """Title and abstract of each item, joined by a line feed."""
        return self.titles.above(self.abstracts)

    def take(self, rows: ArrayLike) -> Collection:
        """The items of the given rows, in that order."""
        chosen = np.asarray(rows, dtype=np.int64)
        ids = tuple(self.ids[row] for row in chosen)
        return replace(
            self,
            ids=ids,
            titles=self.titles.take(chosen),
            abstracts=self.abstracts.take(chosen),
            labels=None if self.labels is None else self.labels[chosen],
            columns=self.columns[chosen],
            twins={id: self.twins[id] for id in ids if id in self.twins},
        )

    def with_labels(self, labels: ArrayLike) -> Collection:
        """The same items with other labels: 1, 0, or -1 where not known."""
        values: NDArray[Any] = np.asarray(labels)
        if values.shape != (self.n_items,):
            raise LabelError(f"{self.n_items:,} labels were expected, one an item; an array of {values.shape} came.")
        strange = np.flatnonzero(~np.isin(values, (1, 0, -1)))
        if len(strange):
            row = int(strange[0])
            raise LabelError(f"Item {self.ids[row]!r} (row {row + 1}): label {values[row]!r}, expected 1, 0 or -1.")
        return replace(self, labels=values.astype(np.int8))

    def with_topic(self, topic: str, column: str = "labels") -> Collection:
        """The same items, relevant where ``topic`` is among those of ``column``, which are joined by ``|``."""
        name = chosen_column(self.columns, "topics", column, self.source)
        return self.with_labels(topic_labels(self.columns[name], topic, self.source))

    def grouped(self, duplicates: Duplicates) -> Collection:
        """One item for each group of duplicates: its representative, which stands for its ``twins``.

        The representative is relevant if any of its group is, irrelevant if one is known to be and none relevant.
        """
        if duplicates.n_items != self.n_items:
            raise InputError(
                f"The duplicates are those of {duplicates.n_items:,} items, this collection has {self.n_items:,}. "
                "Use find_duplicates on this collection."
            )
        if self.twins:
            raise InputError("This collection is grouped already. Find and group duplicates once, on all items.")
        labels = None if self.labels is None else self.labels.copy()
        twins = {}
        for group in duplicates.groups:
            head = int(duplicates.representatives[group[0]])
            twins[self.ids[head]] = tuple(self.ids[row] for row in group if row != head)
            if labels is not None:
                labels[head] = labels[group].max()
        rows: IntArray = np.unique(duplicates.representatives)
        return replace(replace(self, labels=labels).take(rows), twins=twins)
