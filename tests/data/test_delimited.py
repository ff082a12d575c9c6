"""The first line of a delimited file: what no reader can take apart is refused in words."""

from __future__ import annotations

from pathlib import Path

import pytest

from riffler.data.delimited import read_delimited
from riffler.errors import DataFileError


def test_a_header_with_stray_line_ends_is_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "odd.csv").write_bytes(b"ti\rtle\nx\n")
    with pytest.raises(DataFileError, match="names of columns"):
        read_delimited(tmp_path / "odd.csv")
