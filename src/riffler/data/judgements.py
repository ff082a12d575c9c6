"""From the words of reviewers to 1 (relevant), 0 (irrelevant) and -1 (not known)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from riffler.data.labels import POSITIVE_WORDS, Positive, as_values
from riffler.data.text_columns import as_text
from riffler.errors import LabelError

if TYPE_CHECKING:
    import polars as pl

RELEVANT = POSITIVE_WORDS | {"include", "in", "accept", "accepted", "keep", "asreview_relevant"}
IRRELEVANT = frozenset(
    {"0", "0.0", "-0", "no", "n", "false", "f", "negative", "neg", "irrelevant", "not relevant", "excluded", "exclude"}
    | {"out", "reject", "rejected", "asreview_irrelevant", "not included"}
)
UNKNOWN = frozenset(
    {"", "-1", "-1.0", "?", "unknown", "na", "n/a", "nan", "none", "null", "unlabeled", "unlabelled"}
    | {"asreview_not_seen", "not seen", "undecided"}
)


def read_judgements(series: pl.Series, positive: Positive, source: str) -> NDArray[np.int8]:
    """Turn a column into 1, 0 and -1; with ``positive`` those values are 1 and all others that are not missing 0.

    >>> import polars as pl
    >>> read_judgements(pl.Series("included", ["yes", "Exclude", None]), None, "toy")
    array([ 1,  0, -1], dtype=int8)
    """
    labels, words = judged(series, positive, source)
    check_judgements(words, series.name, positive, source)
    return labels


def judged(series: pl.Series, positive: Positive, source: str, first_row: int = 0) -> tuple[NDArray[np.int8], set[str]]:
    """Turn part of a column into 1, 0 and -1, and return the different words in it; ``first_row`` is for messages."""
    words = as_text(series, source).str.strip_chars()
    codes = {word: code_of(word, positive) for word in words.unique().to_list()}
    strange = [word for word, code in codes.items() if code is None]
    if strange:
        row = int(words.is_in(strange).arg_max() or 0)
        raise LabelError(
            f"{source}: row {first_row + row + 1} has {words[row]!r} in the label column {series.name!r}. Expected 1 "
            "or 0, yes or no, include or exclude, or nothing where it is not known; pass positive= "
            "(--relevant-classes) with the values that are relevant, or label= with another column."
        )
    return np.array([codes[word] for word in words], dtype=np.int8), set(codes)


def check_judgements(words: Iterable[str], name: str, positive: Positive, source: str) -> None:
    """Raise where the words of a whole column cannot mean what they would be taken for."""
    words = set(words)
    values = {code_of(word, positive) for word in words}
    if positive is not None and 1 not in values:
        there = sorted(word for word in words if word)
        shown = ", ".join(there[:20]) + f" and {len(there) - 20:,} more" * (len(there) > 20)
        wanted = " or ".join(map(repr, positive)) if isinstance(positive, tuple | list) else repr(positive)
        raise LabelError(
            f"{source}: no value of column {name!r} equals {wanted}, the positive one asked for. Values: {shown}."
        )
    if positive is None and values == {1, -1} and any(word in ("-1", "-1.0") for word in words):
        raise LabelError(
            f"{source}: the label column {name!r} has 1 and -1 and no 0, and -1 means not known. If it is to "
            "mean irrelevant pass positive=1 (--relevant-classes 1); else leave the fields of unknown labels empty."
        )


def topic_labels(series: pl.Series, topic: str, source: str, separator: str = "|") -> NDArray[np.int8]:
    """1 where a topic is among those of an item, which are joined by ``separator``, else 0.

    >>> import polars as pl
    >>> topic_labels(pl.Series("labels", ["grain|wheat", "", "grains"]), "grain", "toy")
    array([1, 0, 0], dtype=int8)
    """
    found = as_text(series, source).str.split(separator).list.contains(topic).to_numpy().astype(np.int8)
    if not found.any():
        topics = as_text(series, source).str.split(separator).explode().unique().sort().to_list()
        shown = ", ".join(topic for topic in topics[:20] if topic)
        more = f" and {len(topics) - 20:,} more" if len(topics) > 20 else ""
        raise LabelError(f"{source}: no item has {topic!r} in column {series.name!r}. Topics: {shown}{more}.")
    return np.asarray(found, dtype=np.int8)


def code_of(word: str, positive: Positive) -> int | None:
    """What a word means: 1, 0 or -1; None where that is not known.

    >>> code_of("Include", None), code_of("3", 7), code_of("owl", None)
    (1, 0, None)
    """
    if positive is not None:
        if word in {str(value) for value in as_values(positive)}:
            return 1
        return -1 if word == "" else 0
    word = " ".join(word.casefold().split())
    for words, code in ((RELEVANT, 1), (IRRELEVANT, 0), (UNKNOWN, -1)):
        if word in words:
            return code
    return None
