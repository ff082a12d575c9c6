"""Encodings are found a piece at a time, with the result of looking at all bytes at once."""

from __future__ import annotations

import re
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from riffler.data.encodings import find_encoding
from riffler.errors import DataFileError


def found_at_once(data: bytes) -> str:
    """The encoding of bytes that are not UTF-8, or what is said of them."""
    try:
        data.decode("utf-8")
        return "utf-8"
    except UnicodeDecodeError as error:
        fault = f"Byte {error.start:,} "
    spelled = data.decode("utf-8", "replace")
    n_bad = spelled.count("\ufffd")
    n_good = sum(letter > "\x7f" for letter in spelled) - n_bad
    if n_good >= n_bad:
        return f"{fault}.*though {n_good:,} other characters are"
    try:
        data.decode("cp1252")
    except UnicodeDecodeError as error:
        return f"{fault}.*byte {error.start:,} .* is not Windows-1252"
    n_high = sum(byte > 127 for byte in data)
    if 2 * sum(map(len, re.findall(rb"[\x80-\xff]{4,}", data))) > n_high:
        return f"{fault}.*most words would be accents only"
    return "cp1252"


BYTES = st.lists(st.sampled_from([b"a", b" ", b"\xe9", b"\xe9\xe8\xf9\xf0", b"\x81", "é".encode(), "海".encode()]))


@given(data=BYTES.map(b"".join), n_bytes=st.integers(1, 5))
def test_pieces_make_no_difference(data: bytes, n_bytes: int) -> None:
    expected = found_at_once(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("riffler.data.encodings.PIECE", n_bytes)
        if expected in ("utf-8", "cp1252"):
            assert find_encoding(data, "toy") == expected
        else:
            with pytest.raises(DataFileError, match=expected):
                find_encoding(data, "toy")


def test_a_long_text_is_not_held_once_more(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CHUNK", "PIECE"):
        monkeypatch.setattr(f"riffler.data.encodings.{name}", 1 << 14)
    data = "Été – neu, ".encode("cp1252") * 100_000
    tracemalloc.start()
    try:
        assert find_encoding(data, "toy") == "cp1252"
        assert tracemalloc.get_traced_memory()[1] < len(data) / 2
    finally:
        tracemalloc.stop()
