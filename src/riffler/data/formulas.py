"""Texts that a spreadsheet would run: an apostrophe before them keeps them texts, and comes off when they are read.

Spreadsheets take a field of a CSV file that begins with =, +, - or @ for a formula, which can call other programs.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

RISKY = r"^'*[=+\-@\t\r\n＝＋－＠]"  # apostrophes of the text's own are counted in, so that taking one off is exact
NUMBER = r"^[+-]?[0-9]+([.,][0-9]+)*([eE][+-]?[0-9]+)?$"
OURS = {"riffler_id", "riffler_verdict", "riffler_label"}
"""Columns by which a table is known to be an export of ours, whose apostrophes are guards."""


def guarded(frame: pl.DataFrame) -> pl.DataFrame:
    """Put an apostrophe before every text and name that could be a formula; numbers are none.

    >>> import polars as pl
    >>> guarded(pl.DataFrame({"title": ["=1+1", "-3.5", "a=b"]}))["title"].to_list()
    ["'=1+1", '-3.5', 'a=b']
    """
    import polars as pl

    texts = pl.col(pl.String)
    risky = texts.str.contains(RISKY) & ~texts.str.contains(NUMBER)
    cells = frame.with_columns(pl.when(risky).then(texts.str.replace("^", "'")).otherwise(texts))
    return cells.rename({name: f"'{name}" for name in frame.columns if re.match(RISKY, name)})


def unguarded(frame: pl.DataFrame) -> pl.DataFrame:
    """Take the apostrophes off again, if the table is an export of ours; others are left as they are.

    >>> import polars as pl
    >>> table = {"riffler_id": ["a"], "riffler_verdict": [None], "riffler_label": [None], "title": ["'=1+1"]}
    >>> unguarded(pl.DataFrame(table))["title"].to_list(), unguarded(pl.DataFrame({"title": ["'=1+1"]}))["title"][0]
    (['=1+1'], "'=1+1")
    """
    import polars as pl

    if not OURS.issubset(frame.columns):
        return frame
    texts = pl.col(pl.String)
    is_guarded = texts.str.contains(RISKY) & texts.str.starts_with("'")
    cells = frame.with_columns(pl.when(is_guarded).then(texts.str.slice(1)).otherwise(texts))
    return cells.rename({name: name[1:] for name in frame.columns if name.startswith("'") and re.match(RISKY, name)})
