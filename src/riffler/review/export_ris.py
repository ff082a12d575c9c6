"""Exports for reference managers: RIS records with every tag they came with, and what the review found as notes.

A record of a RIS file comes out as it went in. Any other document becomes a record: what RIS has a tag for is written
under that tag, every other column as a note "column: value", so that nothing is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from riffler.data.ris import RIS, TAGS_COLUMN, Record, record_of, write_record
from riffler.data.ris_marks import NOT_SEEN, PREFIX
from riffler.data.text_columns import find_column
from riffler.review.export_table import Block, ExportTable
from riffler.review.export_tabular import as_cells

NOTE = "N1"
TAGS = {"authors": "AU", "year": "PY", "journal": "T2", "doi": "DO", "url": "UR", "keywords": "KW"}
REPEATED = ("authors", "keywords")
"""Parts whose values, joined by semicolons, line feeds or bars, are a tag each."""

MARKS = {
    "riffler_id": "id",
    "riffler_duplicate_of": "duplicate_of",
    "riffler_origin": "origin",
    "riffler_rank": "rank",
    "riffler_score": "score",
    "riffler_answered_at": "answered_at",
    "riffler_seconds": "seconds",
    "riffler_reviewer": "reviewer",
    "riffler_note": "note",
}


def write_ris(table: ExportTable, target: Path) -> None:
    """Write the records in UTF-8, the verdict as the last note of each."""
    with target.open("w", encoding="utf-8", newline="\n") as stream:
        for block in table.blocks():
            for record, found in zip(_records(block), block.found.iter_rows(named=True), strict=True):
                stream.write(write_record([*record, *marks_of(found)]))


def marks_of(found: Mapping[str, Any]) -> Record:
    """Write what was found out about a document as notes; the last one is the verdict, which reading takes as label."""
    marks = [(NOTE, f"{PREFIX}{word}: {found[name]}") for name, word in MARKS.items() if found[name] is not None]
    tags = [(NOTE, f"{PREFIX}tag: {tag}") for tag in found["riffler_tags"] or ()]
    verdict = (NOTE, f"{PREFIX}{found['riffler_verdict'] or NOT_SEEN}")
    return [(tag, _lines(value)) for tag, value in (*marks, *tags, verdict)]


def _records(block: Block) -> Iterator[Record]:
    """Give the records of a block: their own where they came as RIS, else made of the columns."""
    known = {part: name for part in TAGS if (name := find_column(block.columns, part)) is not None}
    texts = block.columns.with_columns(as_cells(column) for column in block.columns)
    rows = zip(block.columns.iter_rows(named=True), texts.iter_rows(named=True), block.texts, strict=True)
    for row, cells, (title, abstract) in rows:
        own = record_of(row)
        if own is not None and any(tag == RIS.opening for tag, _ in own):
            yield own
        else:
            yield _made_record(cells, known, title, abstract)


def _made_record(cells: Mapping[str, str | None], known: Mapping[str, str], title: str, abstract: str) -> Record:
    record = [(RIS.opening, "JOUR" if cells.get(known.get("journal", "")) else "GEN"), ("TI", title)]
    for part, name in known.items():
        record += [(TAGS[part], value) for value in _values(part, cells[name] or "")]
    record.append(("AB", abstract))
    told = {title, abstract, "", None}
    rest = [name for name in cells if name not in (*known.values(), TAGS_COLUMN) and cells[name] not in told]
    record += [(NOTE, f"{name}: {cells[name]}") for name in rest]
    return [(tag, _lines(value)) for tag, value in record if value]


def _values(part: str, cell: str) -> list[str]:
    """Cut a cell into the values of its tag.

    >>> _values("authors", "Ng, A.; Oz, B."), _values("journal", "A; B")
    (['Ng, A.', 'Oz, B.'], ['A; B'])
    """
    return [value.strip() for value in re.split(r"[;\n|]", cell)] if part in REPEATED else [cell]


def _lines(value: str) -> str:
    """Write line ends as our reader gives them: line feeds, nothing blank before them or at the end."""
    return re.sub(r"[^\S\n]+(?=\n|$)", "", value.replace("\r\n", "\n").replace("\r", "\n")).rstrip()
