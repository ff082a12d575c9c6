"""Texts made comparable: how letters are written makes no difference, which letters they are does, in any script."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

DIVIDERS = r"[^\p{L}\p{N}\p{M}\p{Sm}#]+"
"""All but letters, digits, marks and the signs that tell C from C++ and C#."""


def comparable(texts: pl.Series) -> pl.Series:
    """Fold width, ligatures (NFKC) and case; keep letters and digits of all scripts, single blanks between.

    >>> import polars as pl
    >>> comparable(pl.Series(["  The ﬁrst -- STRASSE! ", "Straße", "日本語の論文", "..."])).to_list()
    ['the first strasse', 'strasse', '日本語の論文', '']
    """
    import polars as pl

    folded = pl.Series([_folded(text) for text in texts], dtype=pl.String)
    return folded.str.replace_all(DIVIDERS, " ").str.strip_chars(" ")


def _folded(text: str) -> str:
    if text.isascii():
        return text.lower()
    # folding case may undo the normal form, as of the iota below a Greek letter
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
