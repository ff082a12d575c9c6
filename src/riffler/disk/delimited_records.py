"""Records of a delimited text as a frame that does not hang on which others are read with them."""

from __future__ import annotations

import re
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from riffler.data.delimited import Form, read_strictly, read_whole_records
from riffler.data.formulas import unguarded

if TYPE_CHECKING:
    import polars as pl

LONE_RETURN = re.compile(rb"\r(?!\n)")


def frame_of_records(table: bytes, form: Form, path: Path, n_filled: int, n_loose: int) -> pl.DataFrame:
    """Whole records below their header but those of nulls alone, by the rules of ``read_delimited``.

    ``n_filled`` records have anything else, ``n_loose`` have marks that readers take in different ways.
    """
    import polars as pl

    frame, below = None, Form(form.separator, form.names, 0)
    if n_loose == 0:
        with suppress(pl.exceptions.PolarsError):
            frame = _filled(read_strictly(table, below))
    if frame is None or frame.height != n_filled or frame.width != len(form.names):
        frame = _filled(_read_loosely(table, below, path))
    return unguarded(frame)


def _filled(frame: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    return frame.filter(pl.any_horizontal(pl.all().is_not_null()))


def _read_loosely(table: bytes, form: Form, path: Path) -> pl.DataFrame:
    """Read with Python's reader; a carriage return alone, which would end a line there, is a letter as others are."""
    import polars as pl

    if LONE_RETURN.search(table) is None:
        return read_whole_records(table, form, path)
    letter = next(one for number in count() if (one := f"\ue000{number}").encode() not in table)
    frame = read_whole_records(LONE_RETURN.sub(letter.encode(), table), form, path)
    return frame.with_columns(pl.all().str.replace_all(letter, "\r", literal=True))
