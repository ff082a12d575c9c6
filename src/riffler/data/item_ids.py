"""Ids that stay: from a column, or made of what an item says, so that the order of the rows makes no difference."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from riffler.data.text_columns import as_text
from riffler.errors import DataFileError

if TYPE_CHECKING:
    import polars as pl

HOW_TO_SAY = "Choose another column with id= (--id), or id='content' for ids made of title, abstract and DOI."


def given_ids(series: pl.Series, source: str) -> tuple[str, ...]:
    """The ids of a column; a missing or repeated one is an error that names its rows."""
    ids = as_text(series, source).str.strip_chars().to_list()
    first_seen: dict[str, int] = {}
    for row, id in enumerate(ids):
        if not id:
            raise DataFileError(f"{source}: row {row + 1} has no id in column {series.name!r}. {HOW_TO_SAY}")
        before = first_seen.setdefault(id, row)
        if before != row:
            raise DataFileError(
                f"{source}: rows {before + 1} and {row + 1} have the same id {id!r} in column {series.name!r}. "
                f"{HOW_TO_SAY}"
            )
    return tuple(ids)


def content_key(parts: tuple[str, ...]) -> str:
    """Sixteen digits of the SHA-256 of what an item says."""
    # lengths first, so that a text moved from one part to the next gives another id
    head = ",".join(str(len(part)) for part in parts)
    return hashlib.sha256("\n".join([head, *parts]).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def content_ids(contents: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """Sixteen digits of the SHA-256 of each content; of equal contents the second gets ``-2`` behind, and so on.

    >>> content_ids([("On gulls", "They fly."), ("On owls", ""), ("On gulls", "They fly.")])
    ('35fdf3fab92e64c8', 'c709c252b710b33c', '35fdf3fab92e64c8-2')
    """
    seen: Counter[str] = Counter()
    ids = []
    for parts in contents:
        key = content_key(parts)
        seen[key] += 1
        ids.append(key if seen[key] == 1 else f"{key}-{seen[key]}")
    return tuple(ids)
