"""From the words of reviewers to 1 (relevant), 0 (irrelevant) and -1 (not known)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from riffler.data.labels import (
    POSITIVE_WORDS,
    SEPARATOR,
    SHOWN_VALUES,
    Positive,
    as_values,
    cut_short,
    topics_of,
)
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

    A value that joins several topics by ``|`` is 1 where any of them is asked for.

    >>> import polars as pl
    >>> read_judgements(pl.Series("included", ["yes", "Exclude", None]), None, "toy")
    array([ 1,  0, -1], dtype=int8)
    >>> read_judgements(pl.Series("topics", ["earn|acq", "acq", ""]), "earn", "toy")
    array([ 1,  0, -1], dtype=int8)
    """
    labels, _ = judged(series, positive, source)
    check_judgements(as_text(series, source).str.strip_chars(), series.name, positive, source)
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
    """Raise where the words of a whole column cannot mean what they would be taken for.

    A word may come as often as the column has it, or once.
    """
    words = Counter(words)
    values = {code_of(word, positive) for word in words}
    if positive is not None and 1 not in values:
        wanted = " or ".join(map(repr, positive)) if isinstance(positive, tuple | list) else repr(positive)
        raise LabelError(
            f"{source}: no value of column {name!r} equals {wanted}, the positive one asked for. "
            f"Values: {_most_frequent(words)}."
        )
    if positive is None and values == {1, -1} and any(word in ("-1", "-1.0") for word in words):
        raise LabelError(
            f"{source}: the label column {name!r} has 1 and -1 and no 0, and -1 means not known. If it is to "
            "mean irrelevant pass positive=1 (--relevant-classes 1); else leave the fields of unknown labels empty."
        )


def topic_labels(series: pl.Series, topic: str, source: str) -> NDArray[np.int8]:
    """1 where a topic is among those of an item, which are joined by ``|``, else 0.

    >>> import polars as pl
    >>> topic_labels(pl.Series("labels", ["grain|wheat", "", "grains"]), "grain", "toy")
    array([1, 0, 0], dtype=int8)
    """
    words = as_text(series, source)
    has_it = {word: topic in topics_of(word) for word in words.unique().to_list()}
    if not any(has_it.values()):
        raise LabelError(
            f"{source}: no item has {topic!r} in column {series.name!r}. Topics: {_most_frequent(Counter(words))}."
        )
    return np.array([has_it[word] for word in words], dtype=np.int8)


def code_of(word: str, positive: Positive) -> int | None:
    """What a word means: 1, 0 or -1; None where that is not known.

    >>> code_of("Include", None), code_of("3", 7), code_of("owl", None), code_of("owl|gull", "gull")
    (1, 0, None, 1)
    """
    if positive is not None:
        if not topics_of(word).isdisjoint(map(str, as_values(positive))):
            return 1
        return -1 if word == "" else 0
    word = " ".join(word.casefold().split())
    for words, code in ((RELEVANT, 1), (IRRELEVANT, 0), (UNKNOWN, -1)):
        if word in words:
            return code
    return None


def _most_frequent(words: Counter[str]) -> str:
    """The most frequent topics of a column, and how many more there are.

    >>> _most_frequent(Counter({"owl|gull": 3, "gull": 1, "": 9}))
    'gull, owl'
    """
    topics: Counter[str] = Counter()
    for word, n in words.items():
        topics.update(dict.fromkeys(filter(None, word.split(SEPARATOR)), n))
    there = sorted(topics, key=lambda topic: (-topics[topic], topic))
    more = f" and {len(there) - SHOWN_VALUES:,} more" if len(there) > SHOWN_VALUES else ""
    return ", ".join(map(cut_short, there[:SHOWN_VALUES])) + more
