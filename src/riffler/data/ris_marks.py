"""What reviews write among the notes (N1) of RIS records: labels as ASReview and we write them, and our ids."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from riffler.data.text_columns import as_text

if TYPE_CHECKING:
    import polars as pl

PREFIX = "Riffler_"
NOT_SEEN = "not_seen"
VERDICT = rf"(?m)(?:ASReview_|^{PREFIX})(?:relevant|irrelevant|maybe|skip|{NOT_SEEN})\b"
ID = rf"(?m)^{PREFIX}id: .+$"
LABELS = {"relevant": 1, "irrelevant": 0}


def noted_labels(notes: pl.Series) -> NDArray[np.int8] | None:
    r"""1, 0 and -1 (not known) by the last mark of each record; None where it is known of no record.

    >>> import polars as pl
    >>> noted_labels(pl.Series(["ASReview_relevant", "mine\nRiffler_relevant\nRiffler_irrelevant", None]))
    array([ 1,  0, -1], dtype=int8)
    >>> noted_labels(pl.Series(["ASReview_not_seen", None])) is None
    True
    """
    marks = as_text(notes).str.extract_all(VERDICT).list.last()
    words = ["" if mark is None else mark.partition("_")[2] for mark in marks]
    if LABELS.keys().isdisjoint(words):
        return None
    return np.array([LABELS.get(word, -1) for word in words], dtype=np.int8)


def noted_ids(notes: pl.Series) -> pl.Series:
    r"""The id that an export of ours gave to each record, null where there is none.

    >>> import polars as pl
    >>> noted_ids(pl.Series("N1", ["mine\nRiffler_id: p 7", "mine"])).to_list()
    ['p 7', None]
    """
    found = as_text(notes).str.extract_all(ID).list.last()
    return found.str.strip_prefix(f"{PREFIX}id: ").alias(notes.name)
