"""Items that are there twice: the same text, the same DOI, or nearly the same text."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from riffler.data.comparable import comparable
from riffler.data.near_texts import Signatures, near_pairs
from riffler.data.text_columns import find_dois
from riffler.data.texts import BLOCK
from riffler.errors import InputError
from riffler.records import FloatArray, IntArray

if TYPE_CHECKING:
    import polars as pl

    from riffler.data.collection import Collection


@dataclass(frozen=True, slots=True, eq=False)
class Duplicates:
    """Which items are duplicates of which, and why.

    Attributes
    ----------
    n_items : items of the collection
    pairs : rows of two items that are duplicates, shape (n_pairs, 2); enough of them to hold every group together
    reasons : "text", "doi" or "near" for each pair
    similarities : Jaccard similarity of each pair that is near, 1 for equal texts, nan for equal DOIs
    representatives : for each item the row that stands for its group: the longest text, of equal ones the first
    """

    n_items: int
    pairs: IntArray
    reasons: tuple[str, ...]
    similarities: FloatArray
    representatives: IntArray

    @property
    def groups(self) -> tuple[IntArray, ...]:
        """Rows of the items of each group, in order of their first rows."""
        return _groups(self.n_items, self.pairs)

    def table(self, collection: Collection) -> pl.DataFrame:
        """One row a pair, to be looked at: group, both ids and titles, reason and similarity."""
        import polars as pl

        group_of = {int(row): number for number, group in enumerate(self.groups, start=1) for row in group}
        first, second = self.pairs[:, 0], self.pairs[:, 1]
        frame = pl.DataFrame(
            {
                "group": [group_of[int(row)] for row in first],
                "id": [collection.ids[row] for row in first],
                "other_id": [collection.ids[row] for row in second],
                "reason": list(self.reasons),
                "similarity": self.similarities,
                "title": collection.titles.series.gather(first),
                "other_title": collection.titles.series.gather(second),
            },
            schema_overrides={"group": pl.Int64, "reason": pl.String, "id": pl.String, "other_id": pl.String},
        )
        return frame.sort("group", maintain_order=True)

    def __str__(self) -> str:
        counts = Counter(self.reasons)
        kinds = ", ".join(f"{counts[reason]:,} {words}" for reason, words in REASONS.items() if counts[reason])
        groups = self.groups
        n_more = sum(len(group) - 1 for group in groups)
        return f"{n_more:,} duplicates in {len(groups):,} groups" + (f" ({kinds})" if kinds else "")


REASONS = {"text": "by equal text", "doi": "by equal DOI", "near": "by nearly equal text"}


def find_duplicates(collection: Collection, *, threshold: float = 0.9) -> Duplicates:
    """Find items with equal text, equal DOI or nearly equal text; nothing is changed, see ``Collection.grouped``.

    Texts are compared without case, width and punctuation, in all scripts; two are near if the Jaccard similarity of
    their runs of three words is at least ``threshold``. Each such pair is a candidate with a probability of at least
    0.9999 and is then compared exactly. Empty texts are nobody's duplicates.

    >>> import polars as pl
    >>> from riffler.data import collection_from_frame
    >>> frame = pl.DataFrame({"title": ["On gulls", "On owls", "ON GULLS."], "abstract": ["They fly.", "", "They fly"]})
    >>> duplicates = find_duplicates(collection_from_frame(frame))
    >>> print(duplicates, duplicates.groups)
    1 duplicates in 1 groups (1 by equal text) (array([0, 2]),)
    """
    if not 0 < threshold <= 1:
        raise InputError(f"threshold must be above 0 and at most 1, {threshold} came.")
    digests, lengths, signatures = _scan(collection, threshold)
    by_text = _equal(digests)
    by_doi = _equal(doi or None for doi in find_dois(collection.columns))
    is_copy = np.zeros(collection.n_items, dtype=bool)
    is_copy[by_text[:, 1]] = True
    distinct = np.flatnonzero(~is_copy & (lengths > 0))
    near, similarities = near_pairs(signatures, distinct, partial(_comparable_rows, collection), threshold)
    pairs = np.concatenate([by_text, by_doi, near])
    return Duplicates(
        n_items=collection.n_items,
        pairs=pairs,
        reasons=("text",) * len(by_text) + ("doi",) * len(by_doi) + ("near",) * len(near),
        similarities=np.concatenate([np.ones(len(by_text)), np.full(len(by_doi), np.nan), similarities]),
        representatives=_representatives(lengths, _groups(collection.n_items, pairs)),
    )


def _scan(collection: Collection, threshold: float) -> tuple[list[bytes | None], IntArray, Signatures]:
    """One pass over the texts, a block at a time: digest (None if empty), length and signature of each."""
    signatures = Signatures(collection.n_items, threshold)
    lengths = np.zeros(collection.n_items, dtype=np.int64)
    digests: list[bytes | None] = []
    texts = collection.texts
    for start in range(0, collection.n_items, BLOCK):
        block = comparable(texts.block(start, start + BLOCK))
        lengths[start : start + len(block)] = block.str.len_chars().to_numpy()
        digests.extend(hashlib.sha256(text.encode()).digest() if text else None for text in block)
        signatures.add(start, block)
    return digests, lengths, signatures


def _comparable_rows(collection: Collection, rows: IntArray) -> pl.Series:
    return comparable(collection.texts.take(rows).series)


def _equal(keys: Iterable[object]) -> IntArray:
    """Pairs (first row, later row) of equal keys; None is equal to nothing."""
    first: dict[object, int] = {}
    pairs = [(first[key], row) for row, key in enumerate(keys) if key is not None and first.setdefault(key, row) != row]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def _groups(n_items: int, pairs: IntArray) -> tuple[IntArray, ...]:
    """The connected parts of two items and more."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    links = coo_array((np.ones(len(pairs), dtype=np.int8), (pairs[:, 0], pairs[:, 1])), shape=(n_items, n_items))
    part_of = connected_components(links, directed=False)[1]
    order = np.argsort(part_of, kind="stable")
    cuts = np.flatnonzero(np.diff(part_of[order])) + 1
    groups = [group for group in np.split(order, cuts) if len(group) > 1]
    return tuple(sorted(groups, key=lambda group: int(group[0])))


def _representatives(lengths: IntArray, groups: tuple[IntArray, ...]) -> IntArray:
    representatives = np.arange(len(lengths))
    for group in groups:
        representatives[group] = group[np.argmax(lengths[group])]
    return representatives
