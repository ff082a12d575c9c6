"""Lines of tagged records as they come from a file, with an end to how long one of them or one record may be."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterable, Iterator

from riffler.data.json_members import LIST, TEXT
from riffler.data.ris import LOOSE_RIS, PUBMED, RIS, Layout, Record, records_of_lines
from riffler.errors import DataFileError

LAYOUTS = {"RIS": RIS, "LOOSE_RIS": LOOSE_RIS, "PUBMED": PUBMED}
LONGEST_RECORD = 1 << 28
MOST_LINES = 1_000_000
"""Lines of a record, at most: each takes some room by itself, however short it is."""


class TaggedLines:
    """The lines of blocks of UTF-8, each without its end, and the records in them.

    More than ``longest`` bytes of one record, or very many lines, are an error: they would all be in memory.
    """

    def __init__(self, blocks: Iterable[bytes], path: str, longest: int) -> None:
        self._blocks, self._path, self._longest = blocks, path, longest
        self._n_lines, self._n_before, self._n_bytes = 0, 0, 0

    def records(self, layout: Layout) -> Iterator[Record]:
        """Records one after the other."""
        for record in records_of_lines(self, layout):
            self._n_before, self._n_bytes = self._n_lines, 0
            yield record

    def __iter__(self) -> Iterator[str]:
        decoder = io.IncrementalNewlineDecoder(codecs.getincrementaldecoder("utf-8")(), translate=True)
        parts: list[str] = []  # of a line that goes on in the next block
        n_open = 0
        for block in self._blocks:
            first, *others = decoder.decode(block).split("\n")
            parts.append(first)
            for end in others:
                yield self._counted("".join(parts))
                parts = [end]
            n_open = _n_bytes(parts[0]) if others else n_open + len(block)
            self._check(n_open)
        for line in ("".join(parts) + decoder.decode(b"", final=True)).split("\n"):
            yield self._counted(line)

    def _counted(self, line: str) -> str:
        self._n_lines += 1
        self._n_bytes += _n_bytes(line) + 1
        self._check(0)
        return line

    def _check(self, n_open: int) -> None:
        if self._n_bytes + n_open > self._longest or self._n_lines - self._n_before > MOST_LINES:
            raise DataFileError(
                f"{self._path}, line {max(1, self._n_before)}: a record of more than {self._longest:,} bytes or "
                f"{MOST_LINES:,} lines begins about here. See that the file is what its ending says."
            )


def tag_kinds(records: Iterable[Record]) -> dict[str, int]:
    """All tags in the order of first sight: a text each, or a list of texts where any record repeats it.

    >>> tag_kinds([[("TY", "JOUR"), ("AU", "Ng")], [("AU", "Ng"), ("AU", "Oz")]]) == {"TY": TEXT, "AU": LIST}
    True
    """
    kinds: dict[str, int] = {}
    for record in records:
        seen: set[str] = set()
        for tag, _ in record:
            if tag in seen:
                kinds[tag] = LIST
            else:
                kinds.setdefault(tag, TEXT)
                seen.add(tag)
    return kinds


def _n_bytes(line: str) -> int:
    return len(line) if line.isascii() else len(line.encode())
