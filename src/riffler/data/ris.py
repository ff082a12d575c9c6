"""RIS and PubMed records: tagged lines, every tag kept in its order, so that they can be written back as they were.

A frame of records has one column a tag (a list of texts where a record repeats it) and ``record_tags``, the tags of
each record in their order.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from riffler.errors import DataFileError

if TYPE_CHECKING:
    import polars as pl

TAGS_COLUMN = "record_tags"
MANY_TAGS, MANY_CELLS = 200, 30_000_000
Record = list[tuple[str, str]]
"""Tags and values in the order of the file; lines that continue a value are part of it, after a line feed."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How a kind of file writes tags, and the tags that open and close a record."""

    name: str
    tag: re.Pattern[str]
    opening: str
    closing: str | None
    margin: str
    """What stands before a line that continues a value."""

    def line(self, tag: str, value: str) -> str:
        """A tag and its value as lines of a file."""
        first, *others = value.split("\n")
        # a continuation that looks like a tag is moved in, lest it be read as one
        kept = [f" {other}" if not self.margin and ANY_TAG.match(other) else self.margin + other for other in others]
        return "\n".join([f"{tag:<4}- {first}", *kept])


RIS = Layout("RIS", re.compile(r"([A-Z][A-Z0-9])  -(?: (.*))?$"), "TY", "ER", "")
ANY_TAG = re.compile(r"([A-Z][A-Z0-9]) {0,2}-(?: +(.*))?$")
LOOSE_RIS = Layout("RIS", ANY_TAG, "TY", "ER", "")
PUBMED = Layout("PubMed", re.compile(r"(?=.{4}-)([A-Z][A-Z0-9]{1,3}) *-(?: (.*))?$"), "PMID", None, "      ")
FIRST_TAG = re.compile(r"^(TY {0,2}-|PMID- )", re.MULTILINE)


def looks_tagged(text: str) -> bool:
    """Whether a text has the line that opens a RIS or PubMed record."""
    return FIRST_TAG.search(text) is not None


def read_records(text: str, source: str) -> pl.DataFrame:
    r"""Read RIS (exports of EndNote, Zotero, Scopus, ...) or PubMed (.nbib) text into a frame of records.

    >>> frame = read_records("TY  - JOUR\nTI  - On gulls\nAU  - Ng, A\nAU  - Oz, B\nER  - \n", "toy")
    >>> frame["TI"].to_list(), frame["AU"].to_list(), frame["record_tags"].to_list()
    (['On gulls'], [['Ng, A', 'Oz, B']], ['TY TI AU AU'])
    """
    layout = layout_of(text)
    records = list(split_records(text, layout))
    if not records:
        first = next((line for line in text.splitlines() if line.strip()), "")
        raise DataFileError(
            f"{source}: no RIS record; a line 'TY  - ...' was expected, the file begins {first[:60]!r}."
        )
    check_tags(records, source)
    return to_frame(records)


def check_tags(records: list[Record], source: str) -> None:
    """Refuse records with so many different tags that a column for each would take all memory."""
    n_tags = len({tag for record in records for tag, _ in record})
    if n_tags > MANY_TAGS and n_tags * len(records) > MANY_CELLS:
        raise DataFileError(
            f"{source}: {len(records):,} records with {n_tags:,} different tags; a reference file has some dozens. "
            "See that it is one, or split it."
        )


def layout_of(text: str) -> Layout:
    """The layout by the tags that open records; dashes with one blank or none before them are met too, or a mixture."""
    if re.search(r"^TY  -", text, re.MULTILINE) and not re.search(r"^TY ?-", text, re.MULTILINE):
        return RIS
    return PUBMED if re.search(r"^PMID- ", text, re.MULTILINE) else LOOSE_RIS


def split_records(text: str, layout: Layout) -> Iterator[Record]:
    """Records one after the other; one without its closing tag ends where the next one opens or the file ends.

    Lines outside of records, such as the head that some databases write, are passed over.
    """
    return records_of_lines(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), layout)


def records_of_lines(all_lines: Iterable[str], layout: Layout) -> Iterator[Record]:
    """Records of lines that come one after the other, such as those of a file that is not held in memory."""
    record: Record = []
    lines: list[str] = []  # of the last value, put together when it ends: adding to a long text again and again is slow
    n_blank = 0
    is_open = False
    for line in all_lines:
        found = layout.tag.match(line)
        if found is None:
            if not line.strip():
                n_blank += 1
            elif record:
                lines += [""] * n_blank
                lines.append(line.removeprefix(layout.margin).rstrip())
                n_blank = 0
            continue
        n_blank = 0
        _end_value(record, lines)
        tag = found[1]
        if record and (tag == layout.closing or (tag == layout.opening and is_open)):
            yield record
            record, is_open = [], False
        is_open = is_open or tag == layout.opening
        if tag != layout.closing:
            lines = [(found[2] or "").rstrip()]
            record.append((tag, lines[0]))
    if record:
        _end_value(record, lines)
        yield record


def _end_value(record: Record, lines: list[str]) -> None:
    if record:
        record[-1] = (record[-1][0], "\n".join(lines))


def to_frame(records: list[Record], lists: Collection[str] = ()) -> pl.DataFrame:
    """One row a record, one column a tag in the order of first sight; ``lists`` are tags that others repeat."""
    import polars as pl

    columns: dict[str, list[list[str] | None]] = {}
    for row, record in enumerate(records):
        for tag, value in record:
            if tag not in columns:
                columns[tag] = [None] * len(records)
            if (cell := columns[tag][row]) is None:
                columns[tag][row] = [value]
            else:
                cell.append(value)
    frame = {TAGS_COLUMN: pl.Series([" ".join(tag for tag, _ in record) for record in records], dtype=pl.String)}
    for tag, cells in columns.items():
        if tag in lists or any(cell is not None and len(cell) > 1 for cell in cells):
            frame[tag] = pl.Series(cells, dtype=pl.List(pl.String))
        else:
            frame[tag] = pl.Series([None if cell is None else cell[0] for cell in cells], dtype=pl.String)
    return pl.DataFrame(frame)


def record_of(row: Mapping[str, Any]) -> Record | None:
    """The record of a row by the names of its columns; None where they do not hold one, as in a table made of records.

    >>> record_of({"record_tags": "TY AU AU", "TY": "JOUR", "AU": ["Ng", "Oz"]})
    [('TY', 'JOUR'), ('AU', 'Ng'), ('AU', 'Oz')]
    >>> record_of({"record_tags": "TY AU AU", "TY": "JOUR", "AU": "Ng; Oz"}) is None
    True
    """
    tags = str(row.get(TAGS_COLUMN) or "").split()
    values = {tag: cell if isinstance(cell := row.get(tag), list) else [cell] for tag in tags}
    if not tags or any(len(values[tag]) != n or None in values[tag] for tag, n in Counter(tags).items()):
        return None
    waiting = {tag: iter(cells) for tag, cells in values.items()}
    return [(tag, str(next(waiting[tag]))) for tag in tags]


def write_records(records: list[Record]) -> str:
    r"""Records as the text of a file, RIS or PubMed by their tags.

    >>> write_records([[("TY", "JOUR"), ("TI", "On gulls")]])
    'TY  - JOUR\nTI  - On gulls\nER  - \n\n'
    """
    return "".join(write_record(record) for record in records)


def write_record(record: Record) -> str:
    """One record as lines of a file, with the blank line behind it."""
    layout = PUBMED if any(tag == PUBMED.opening for tag, _ in record) else RIS
    lines = [layout.line(tag, value) for tag, value in record]
    end = [] if layout.closing is None else [layout.line(layout.closing, "")]
    return "\n".join([*lines, *end]) + "\n\n"
