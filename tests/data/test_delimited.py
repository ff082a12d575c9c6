"""Delimited files: a first line that no reader can take apart is refused, and nothing is not empty."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riffler.data.delimited import Form, read_delimited, read_loosely
from riffler.errors import DataFileError


def test_a_header_with_stray_line_ends_is_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "odd.csv").write_bytes(b"ti\rtle\nx\n")
    with pytest.raises(DataFileError, match="names of columns"):
        read_delimited(tmp_path / "odd.csv")


def test_nothing_and_two_quotation_marks_are_told_apart_whichever_reader_is_asked(tmp_path: Path) -> None:
    records = 'title,note\n"gull",""\n"",""\n,\n\n"",\nowl,\n"a,"",\n\n,"""",b",x\n'
    (tmp_path / "plain.csv").write_text(records)
    (tmp_path / "loose.csv").write_bytes(b"\xef\xbb\xbfsep=,\r\n" + (records + 'heron,12" tall').encode())
    plain, loose = (read_delimited(tmp_path / name).rows() for name in ("plain.csv", "loose.csv"))
    assert plain == [("gull", ""), ("", ""), ("", None), ("owl", None), ('a,",\n\n,"",b', "x")]
    assert loose == [*plain, ("heron", '12" tall')]


CELLS = st.text(st.sampled_from('a",\n\r '), max_size=4).map(lambda text: '"' + text.replace('"', '""') + '"')
PLAIN = st.sampled_from(["", "a", " ", "a b"])


@given(
    rows=st.lists(st.tuples(CELLS | PLAIN, CELLS | PLAIN), max_size=8),
    ending=st.sampled_from(["\n", "\r\n"]),
    is_ended=st.booleans(),
)
def test_both_readers_find_the_same_where_no_mark_is_loose(
    rows: list[tuple[str, str]], ending: str, is_ended: bool
) -> None:
    text = ending.join(["title,note", *map(",".join, rows)]) + ending * is_ended
    loose = read_loosely(text.encode(), Form(",", ["title", "note"], 0), Path("toy.csv"))
    assert loose.equals(pl.read_csv(text.encode(), infer_schema=False))
