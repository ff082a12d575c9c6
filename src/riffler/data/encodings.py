"""Which encoding a text file is in: by its first bytes, else UTF-8 if it is valid, else Windows-1252 if it looks so."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from riffler.data.opening import COMPRESSIONS, open_bytes
from riffler.errors import DataFileError, InputError

MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark is the beginning of this one
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
CHUNK = PIECE = 1 << 20
ASCII = re.compile(rb"[\x00-\x7f]")
HOW_TO_SAY = (
    "Name it with encoding= or --encoding (such as 'cp1251', 'gb18030' or 'shift_jis'), or save the file as UTF-8."
)


def read_text(path: Path, encoding: str | None = None) -> str:
    """The whole text of a file, decompressed by its ending and decoded."""
    with open_bytes(path) as stream:
        data = stream.read()
    return decode(data, str(path), encoding)


def utf8_source(path: Path, encoding: str | None = None) -> Path | bytes:
    """The file as UTF-8: its path where it already is (and plain), so that no copy is made, else its bytes."""
    if encoding is None and _is_plain_utf8(path):
        return path
    return read_text(path, encoding).encode("utf-8")


def decode(data: bytes, source: str, encoding: str | None = None) -> str:
    """Turn bytes into text in the encoding given or found; bytes that do not fit are an error that names the first.

    >>> decode("Bücher – “neu”".encode("cp1252"), "toy"), decode("Bücher".encode("utf-16"), "toy")
    ('Bücher – “neu”', 'Bücher')
    """
    chosen = find_encoding(data, source) if encoding is None else known_encoding(encoding)
    try:
        return data.decode(chosen).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise DataFileError(
            f"{source}: byte {error.start:,} (0x{data[error.start]:02x}) is not {chosen}: {error.reason}. "
            "The file is damaged there or in another encoding; name that with encoding= or --encoding."
        ) from error


def find_encoding(data: bytes, source: str) -> str:
    """Name the encoding of a text.

    A mark at the beginning decides. Without one, zeros in every second byte mean UTF-16, and valid UTF-8 is UTF-8:
    other texts are practically never valid by chance. What is left is Windows-1252 (which contains the letters of
    Latin-1) if it looks like a Western European text; a UTF-8 text with a few bad bytes is damaged, not Windows-1252.
    """
    for mark, name in MARKS:
        if data.startswith(mark):
            return name
    if (wide := wide_encoding(data[:CHUNK])) is not None:
        return wide
    fault = _fault(data, "utf-8")
    return "utf-8" if fault is None else _western(data, fault, source)


def _western(data: bytes, fault: int, source: str) -> str:
    """Windows-1252, for a text that is not valid UTF-8 from byte ``fault`` on; an error if it does not look like it."""
    n_good = n_bad = n_high = n_in_runs = 0
    for piece in _pieces(data):
        spelled = piece.decode("utf-8", "replace")
        n_bad_here = spelled.count("\ufffd")
        n_bad += n_bad_here
        n_good += len(spelled) - len(spelled.encode("ascii", "ignore")) - n_bad_here
        n_high += sum(map(len, re.findall(rb"[\x80-\xff]+", piece)))
        n_in_runs += sum(map(len, re.findall(rb"[\x80-\xff]{4,}", piece)))
    if n_good >= n_bad:
        _refuse(data, fault, source, f"though {n_good:,} other characters are: the file is damaged or of mixed origin")
    other = _fault(data, "cp1252")
    if other is not None:
        _refuse(data, fault, source, f"and byte {other:,} (0x{data[other]:02x}) is not Windows-1252")
    if 2 * n_in_runs > n_high:  # Western words have one or two accents, not words made of them
        _refuse(data, fault, source, "and as Windows-1252 most words would be accents only")
    return "cp1252"


def _pieces(data: bytes) -> Iterator[bytes]:
    """Some of the bytes at a time, each piece up to a byte of ASCII, so that no letter and no run of others is cut."""
    start = 0
    while start < len(data):
        found = ASCII.search(data, start + PIECE)
        stop = len(data) if found is None else found.end()
        yield data[start:stop]
        start = stop


def _fault(data: bytes, encoding: str) -> int | None:
    """The first byte that is not in an encoding, None if all are; the text, which may be far larger, is not held."""
    start = 0
    for piece in _pieces(data):
        try:
            piece.decode(encoding)
        except UnicodeDecodeError as error:
            return start + error.start
        start += len(piece)
    return None


def _refuse(data: bytes, fault: int, source: str, why: str) -> NoReturn:
    raise DataFileError(
        f"{source}: the encoding was not found. Byte {fault:,} (0x{data[fault]:02x}) is not UTF-8, {why}. "
        f"Tried: UTF-8, UTF-16, UTF-32, Windows-1252. {HOW_TO_SAY}"
    )


def wide_encoding(head: bytes) -> str | None:
    """UTF-16 without a mark: in most texts every second byte is zero, and hardly any of the others."""
    n_pairs = len(head) // 2
    first, second = head[0::2].count(0), head[1::2].count(0)
    if n_pairs and second > 0.3 * n_pairs and first < 0.05 * n_pairs:
        return "utf-16-le"
    if n_pairs and first > 0.3 * n_pairs and second < 0.05 * n_pairs:
        return "utf-16-be"
    return None


def known_encoding(encoding: str) -> str:
    """The name of an encoding that Python knows."""
    try:
        return codecs.lookup(encoding).name
    except LookupError as error:
        raise InputError(
            f"No encoding called {encoding!r}. Use a name such as utf-8, cp1252, cp1251, gb18030."
        ) from error


def _is_plain_utf8(path: Path) -> bool:
    """Whether the file is uncompressed UTF-8 without a mark, looked at a chunk at a time."""
    if path.suffix.lower() in COMPRESSIONS:
        return False
    decoder = codecs.getincrementaldecoder("utf-8")()
    with open_bytes(path) as stream:
        head = stream.read(CHUNK)
        if wide_encoding(head) is not None or any(head.startswith(mark) for mark, _ in MARKS):
            return False
        try:
            while head:
                decoder.decode(head)
                head = stream.read(CHUNK)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return False
    return True
