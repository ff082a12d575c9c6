"""The ending of a file name tells its format, for tables and for collections by the same rule."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from riffler.data.collection_reading import FORMATS as TEXT_FORMATS
from riffler.data.collection_reading import text_format_of
from riffler.data.opening import COMPRESSIONS, FORMATS, format_of
from riffler.errors import DataFileError

TABLES = (format_of, FORMATS, ("npz", "parquet"))
COLLECTIONS = (text_format_of, TEXT_FORMATS, ("spreadsheet", "parquet"))
both = pytest.mark.parametrize(("tell", "formats", "never_compressed"), [TABLES, COLLECTIONS], ids=["table", "texts"])


@both
def test_every_ending_tells_its_format(
    tell: Callable[[Path], str], formats: dict[str, tuple[str, ...]], never_compressed: tuple[str, ...]
) -> None:
    for kind, endings in formats.items():
        for ending in endings:
            assert tell(Path("in.a/folder") / f"My.file{ending.upper()}") == kind
            for compression in COMPRESSIONS:
                path = Path(f"a{ending}{compression}")
                if kind not in never_compressed:
                    assert tell(path) == kind
                    continue
                with pytest.raises(DataFileError, match="the ending tells no known format"):
                    tell(path)


def test_an_unknown_ending_lists_what_there_is() -> None:
    with pytest.raises(DataFileError, match=r"a\.docx: .* Known: \.svm, .*\.pq; .*\.zst behind\.$"):
        format_of(Path("a.docx"))
    with pytest.raises(DataFileError, match=r"Known: \.csv, .*\.pq; .*\.zst behind; or a folder of text files\.$"):
        text_format_of(Path("a.docx"))
