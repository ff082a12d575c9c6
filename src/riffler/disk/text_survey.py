"""A look at a text file from its beginning to its end, a block at a time: its encoding, its lines, its tags."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from riffler.data.encodings import CHUNK, HOW_TO_SAY, MARKS, find_encoding, known_encoding, wide_encoding
from riffler.data.json_members import JsonMembers, n_members
from riffler.data.opening import open_bytes
from riffler.errors import DataFileError

BLOCK = 1 << 23
LOOKED_AT_WHOLE = 1 << 28
"""A text that is not UTF-8 is judged by so many of its bytes."""

TAGS = {
    "RIS": re.compile(rb"^TY  -", re.MULTILINE),
    "LOOSE_RIS": re.compile(rb"^TY ?-", re.MULTILINE),
    "PUBMED": re.compile(rb"^PMID- ", re.MULTILINE),
}
"""How records open: two blanks before the dash, one or none, or PubMed's."""

LONGEST_TAG = 100

MOST_KEYS = 1_000_000
"""Keys of one JSON object: of each there is a note, some times as long as the key."""


@dataclass(frozen=True, slots=True)
class TextLook:
    """What a look at a text tells: its encoding, its bytes as UTF-8, and whether lines end in a return alone."""

    encoding: str
    n_bytes: int
    is_old: bool


def look_at_text(path: Path, encoding: str | None) -> TextLook:
    """Read a text once; bytes that fit no encoding are an error, as is a compressed file that is cut short."""
    chosen = known_encoding(encoding) if encoding is not None else stream_encoding(path)
    is_found = encoding is None and chosen != "utf-8-sig"  # by all bytes, not by a name or a mark alone
    n_bytes, has_feed, has_return = 0, False, False
    checker = codecs.getincrementaldecoder("utf-8")()
    for block in chain(utf8_blocks(path, chosen), [b""]):
        n_bytes += len(block)
        if not is_found:
            _decoded(checker, block, path, "utf-8", n_bytes)
        has_feed = has_feed or b"\n" in block
        has_return = has_return or b"\r" in block
    if n_bytes == 0:
        raise DataFileError(f"{path}: the file holds no text.")
    return TextLook(chosen, n_bytes, has_return and not has_feed)


def stream_encoding(path: Path) -> str:
    """Name the encoding of a text without holding it, by the rules of ``riffler.data.encodings``."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    with open_bytes(path) as stream:
        head = stream.read(CHUNK)
        for mark, name in MARKS:
            if head.startswith(mark):
                return name
        if (wide := wide_encoding(head)) is not None:
            return wide
        at = 0
        try:
            while head:
                decoder.decode(head)
                at += len(head)
                head = stream.read(CHUNK)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return _other_encoding(path, at)
    return "utf-8"


def _other_encoding(path: Path, fault: int) -> str:
    with open_bytes(path) as stream:
        data = stream.read(LOOKED_AT_WHOLE)
    found = find_encoding(data, str(path))
    if found == "utf-8":
        raise DataFileError(
            f"{path}: the encoding was not found. The text is not UTF-8 from about byte {fault:,} on, though the "
            f"{len(data):,} bytes before could be. {HOW_TO_SAY}"
        )
    return found


def utf8_blocks(path: Path, encoding: str, start: int = 0) -> Iterator[bytes]:
    """The text as blocks of UTF-8 without a mark, from byte ``start`` of it on; they end anywhere."""
    if encoding in ("utf-8", "utf-8-sig"):
        with open_bytes(path) as stream:
            n_mark = len(codecs.BOM_UTF8) if stream.read(3) == codecs.BOM_UTF8 else 0
            stream.seek(n_mark + start)
            while block := stream.read(BLOCK):
                yield block
        return
    decoder = codecs.getincrementaldecoder(encoding)()
    passed = 0
    with open_bytes(path) as stream:
        more = True
        while more:
            data = stream.read(BLOCK)
            more = bool(data)
            text = _decoded(decoder, data, path, encoding, stream.tell())
            block = (text if passed else text.removeprefix("\ufeff")).encode("utf-8")
            passed += len(block)
            if passed > start and block:
                yield block[max(0, len(block) - (passed - start)) :]


def _decoded(decoder: codecs.IncrementalDecoder, data: bytes, path: Path, encoding: str, end: int) -> str:
    try:
        return decoder.decode(data, final=not data)
    except UnicodeDecodeError as error:
        raise DataFileError(
            f"{path}: about byte {max(0, end - len(data) + error.start):,} is not {encoding}: {error.reason}. "
            "The file is damaged there or in another encoding; name that with encoding= or --encoding."
        ) from error


def tags_of(path: Path, encoding: str) -> str | None:
    """The layout of tagged records (RIS, LOOSE_RIS or PUBMED), None where no line opens a record."""
    found = dict.fromkeys(TAGS, False)
    rest = b""
    for block in chain(utf8_blocks(path, encoding), [b"\n"]):
        lines, feed, rest = (rest + block).replace(b"\r", b"\n").rpartition(b"\n")
        rest = rest[:LONGEST_TAG]  # a tag stands at the beginning of its line
        for name, tag in TAGS.items():
            found[name] = found[name] or tag.search(lines + feed) is not None
    if found["RIS"] and not found["LOOSE_RIS"]:
        return "RIS"
    return "PUBMED" if found["PUBMED"] else ("LOOSE_RIS" if found["RIS"] or found["LOOSE_RIS"] else None)


def json_kinds(path: Path, encoding: str, is_old: bool, is_wanted: Callable[[str], bool]) -> dict[str, int]:
    """Keys that are wanted among those of all JSON lines, in the order of first sight, and the kinds of their values.

    Lines that are not JSON are left to whoever reads them, who can name them.
    """
    found: dict[str, int] = {}
    rest = b""
    n_lines = 0
    for block in chain(utf8_blocks(path, encoding), [b"\n"]):
        lines, feed, rest = (rest + (block.replace(b"\r", b"\n") if is_old else block)).rpartition(b"\n")
        _refuse_crowded(lines, path, n_lines + 1)
        n_lines += (lines + feed).count(b"\n")
        for key, kind in JsonMembers.of(lines).kinds_of_keys(is_wanted).items():
            found[key] = found.get(key, 0) | kind
        if len(rest) > LOOKED_AT_WHOLE:  # no record is so long: this is refused when it is read
            break
    return found


def _refuse_crowded(lines: bytes, path: Path, first_line: int) -> None:
    if lines.count(b",") < MOST_KEYS:
        return
    for number, line in enumerate(lines.split(b"\n"), start=first_line):
        if line.count(b",") >= MOST_KEYS and (n_keys := n_members(line)) > MOST_KEYS:
            raise DataFileError(
                f"{path}, line {number}: an object of {n_keys:,} keys, at most {MOST_KEYS:,} are read. See that each "
                "line is one document; what is known of many may be a list, or an object within it."
            )
