"""Delimited files: a first line that no reader can take apart is refused, and nothing is not empty."""

from __future__ import annotations

from pathlib import Path

import pytest

from riffler.data.delimited import read_delimited
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
