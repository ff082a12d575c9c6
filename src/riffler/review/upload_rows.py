"""How many rows a text has, counted piece by piece while it is unpacked: rows cost far more memory than their bytes."""

from __future__ import annotations

import codecs
import re

import numpy as np

from riffler.data.encodings import MARKS

OPENING = re.compile(rb"(?<![^\r\n])(?:TY {0,2}-|PMID- )")
CLOSING = re.compile(rb"(?<![^\r\n])ER {0,2}-")
QUOTE, FEED, RETURN = b'"\n\r'


class RowCount:
    r"""Counts what is between line ends; blank lines count for nothing.

    n_lines : all lines
    n_unquoted : lines that do not end between quotation marks: the rows of a table, with its header
    n_records : records of RIS or PubMed, by the tags that open or close them, whichever are more

    >>> count = RowCount()
    >>> count.take(b'id,title\r\n1,"On\ngulls"\n\n2,On owls\n')
    >>> count.n_lines, count.n_unquoted, count.n_records
    (4, 3, 0)
    """

    def __init__(self) -> None:
        self.n_lines = self.n_unquoted = self._n_open = self._n_closed = 0
        self._wide: codecs.IncrementalDecoder | None = None
        self._is_first, self._is_quoted, self._is_at_end = True, 0, True

    @property
    def n_records(self) -> int:
        """How many records there are."""
        return max(self._n_open, self._n_closed)

    def take(self, piece: bytes) -> None:
        """Count one more piece."""
        text = self._narrow(piece)
        if not text:
            return
        codes = np.frombuffer(text, dtype=np.uint8)
        quoted = (np.cumsum(codes == QUOTE, dtype=np.uint8) + self._is_quoted) % 2  # odd stays odd where it overflows
        at_end = (codes == FEED) | (codes == RETURN)
        before = np.concatenate([[self._is_at_end], at_end[:-1]])
        ends = at_end & ~before
        self.n_lines += int(ends.sum())
        self.n_unquoted += int(np.sum(ends & (quoted == 0)))
        self._is_quoted, self._is_at_end = int(quoted[-1]), bool(at_end[-1])
        self._n_open += len(OPENING.findall(text))
        self._n_closed += len(CLOSING.findall(text))

    def _narrow(self, piece: bytes) -> bytes:
        """Return one byte a character where the mark at the beginning says that there are several."""
        if self._is_first:
            self._is_first = False
            name = next((name for mark, name in MARKS if piece.startswith(mark)), "")
            if name in ("utf-16", "utf-32"):
                self._wide = codecs.getincrementaldecoder(name)("replace")
        return piece if self._wide is None else self._wide.decode(piece).encode("ascii", "replace")
