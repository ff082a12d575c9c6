"""Search in the whole folder of a review, by the rows that its documents have there: none of its texts is read.

A row says which columns its words are hashed into. What is found that way comes into the review, as a document does
that comes up to be read, and the search in the texts of the review has the last word.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np

from riffler.disk import DiskCollection
from riffler.engine import LocalEngine, rows_on_disk
from riffler.engine.candidates import Candidates
from riffler.records import FloatArray, IntArray, Matrix
from riffler.review.folder import FolderLink
from riffler.review.fulltext_query import Wanted

MOST = 50  # documents that a search brings in: each takes some milliseconds to be read


@dataclass(frozen=True, slots=True)
class Fitting:
    """How many documents of a folder have all the words, and the ids of those that fit best."""

    n_documents: int
    names: list[str]


@lru_cache(maxsize=4)
def opened_rows(link: FolderLink) -> tuple[DiskCollection, LocalEngine]:
    """Open the folder of a review with its rows, which stay mapped: the next search takes one pass over them."""
    collection = link.opened()
    return collection, LocalEngine(rows_on_disk(collection))


def fitting_documents(collection: DiskCollection, engine: LocalEngine, words: str, n: int) -> Fitting:
    """Find documents whose rows have all the words, by the cosine to them; words that no row keeps ask for nothing."""
    parts = Wanted.read(words).parts
    if not parts:
        return Fitting(0, [])
    columns = np.unique(collection.vectoriser.transform(list(parts)).indices)
    if not columns.size:
        return Fitting(0, [])
    weights: FloatArray = collection.vectoriser.transform([" ".join(parts)]).toarray()[0]
    found = engine.map(partial(_fitting_rows, columns=columns, weights=weights, n=n))
    first_rows = engine.starts.tolist()
    best = Candidates.together(one.moved(start) for (_, one), start in zip(found, first_rows, strict=False)).best(n)
    return Fitting(sum(n_rows for n_rows, _ in found), collection.ids.take(best.rows))


def _fitting_rows(block: Matrix, columns: IntArray, weights: FloatArray, n: int) -> tuple[int, Candidates]:
    """Count the rows of a block that have all the columns, and keep the best."""
    from riffler._fast.rows import count_wanted

    is_wanted = np.zeros(block.shape[1], dtype=np.bool_)
    is_wanted[columns] = True
    n_there = np.empty(block.shape[0], dtype=np.int64)
    count_wanted(block.indices, block.indptr, is_wanted, n_there)
    rows = np.flatnonzero(n_there == columns.size)
    best = Candidates(rows, np.asarray(block[rows] @ weights), rows).best(n)
    return rows.size, Candidates(best.rows, best.scores, best.rows)
