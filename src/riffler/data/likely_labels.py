"""Which columns of documents look like labels: by their names, and because their values come again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from riffler.data.labels import SEPARATOR
from riffler.data.text_columns import NAMES, as_text, can_be_text, fold_name

if TYPE_CHECKING:
    import polars as pl

LIKELY = frozenset(
    {*NAMES["label"], "labels", "topic", "topics", "class", "classes", "category", "categories", "group", "target"}
)
"""Names of columns that may well be labels, as ``fold_name`` writes them."""


def likely_labels(frame: pl.DataFrame) -> dict[str, int]:
    """How many different values, or topics joined by ``|``, each column has that looks like labels.

    >>> import polars as pl
    >>> likely_labels(pl.DataFrame({"Topics": ["earn|acq", "earn", ""], "year": [1, 1, 2], "class": ["a", "b", "c"]}))
    {'Topics': 2}
    """
    named = [name for name in frame.columns if fold_name(name) in LIKELY and can_be_text(frame[name].dtype)]
    counts = {name: _repeated(frame[name]) for name in named}
    return {name: n for name, n in counts.items() if n}


def _repeated(column: pl.Series) -> int:
    """How many different topics there are, 0 where none of several comes again."""
    topics = as_text(column).str.split(SEPARATOR).explode()
    topics = topics.filter(topics != "")
    n = topics.n_unique()
    return n if 1 < n < len(topics) else 0
