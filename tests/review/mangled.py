"""Files that people and attackers upload: good ones, and what cutting, flipping, mixing and lying makes of them.

``mangled(seed)`` gives the same file for the same seed, so that a case that fails can be looked at again.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import stat
import warnings
import zipfile
from collections.abc import Callable
from dataclasses import dataclass

import polars as pl

LONG_LINE = 1_000_000


@dataclass(frozen=True, slots=True)
class Mangled:
    """A file under the name that its owner gives it, and how it was made."""

    name: str
    data: bytes
    how: str


def frame(draw: random.Random) -> pl.DataFrame:
    n = draw.randint(1, 12)
    return pl.DataFrame(
        {
            "Title": [f"On gulls {row} – “neu” 鳥" for row in range(n)],
            "Abstract": ['They "fly", \n and cry;' if row % 2 else None for row in range(n)],
            "Authors": [["Ng, A", "Öz, B"][: row % 3] for row in range(n)],
            "Year": [1900 + row for row in range(n)],
            "included": [draw.choice(["yes", "no", ""]) for _ in range(n)],
        }
    )


def as_csv(draw: random.Random) -> bytes:
    separator = draw.choice([",", ";", "\t", "|"])
    return frame(draw).drop("Authors").write_csv(separator=separator).encode()


def as_ris(draw: random.Random) -> bytes:
    rows = frame(draw).iter_rows(named=True)
    authors = [(row, "".join(f"AU  - {name}\n" for name in row["Authors"])) for row in rows]
    return "".join(
        f"TY  - JOUR\nTI  - {row['Title']}\nAB  - {row['Abstract'] or ''}\n{names}N1  - ASReview_relevant\nER  - \n\n"
        for row, names in authors
    ).encode()


def as_pubmed(draw: random.Random) -> bytes:
    rows = frame(draw)["Title"]
    return "".join(f"PMID- {at}\nTI  - {title}\n      goes on\nAB  - x\n\n" for at, title in enumerate(rows)).encode()


def as_jsonl(draw: random.Random) -> bytes:
    return frame(draw).write_ndjson().encode()


def as_parquet(draw: random.Random) -> bytes:
    target = io.BytesIO()
    frame(draw).write_parquet(target, compression=draw.choice(["zstd", "snappy", "uncompressed"]))
    return target.getvalue()


def as_xlsx(draw: random.Random) -> bytes:
    target = io.BytesIO()
    frame(draw).drop("Authors").write_excel(target)
    return target.getvalue()


GOOD: dict[str, Callable[[random.Random], bytes]] = {
    ".csv": as_csv,
    ".tsv": as_csv,
    ".ris": as_ris,
    ".txt": as_ris,
    ".nbib": as_pubmed,
    ".jsonl": as_jsonl,
    ".parquet": as_parquet,
    ".xlsx": as_xlsx,
}


def cut_short(data: bytes, draw: random.Random) -> bytes:
    return data[: draw.randint(0, len(data))]


def cut_the_beginning(data: bytes, draw: random.Random) -> bytes:
    return data[draw.randint(0, len(data)) :]


def flipped(data: bytes, draw: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(draw.choice([1, 5, 50])):
        changed[draw.randrange(len(changed))] ^= 1 << draw.randrange(8)
    return bytes(changed)


def noise_inside(data: bytes, draw: random.Random) -> bytes:
    at = draw.randint(0, len(data))
    return data[:at] + draw.randbytes(draw.choice([1, 16, 4000])) + data[at:]


def nothing_but_noise(data: bytes, draw: random.Random) -> bytes:
    return draw.randbytes(draw.choice([1, 7, 100, 5000]))


def zeros_inside(data: bytes, draw: random.Random) -> bytes:
    at = draw.randint(0, len(data))
    return data[:at] + bytes(draw.choice([1, 2, 1000])) + data[at:]


def another_encoding(data: bytes, draw: random.Random) -> bytes:
    text = data.decode("utf-8", "replace")
    name = draw.choice(["utf-16", "utf-16-le", "utf-32", "cp1252", "latin-1", "shift_jis", "koi8-r", "utf-7", "cp037"])
    return text.encode(name, "replace")


def one_long_line(data: bytes, draw: random.Random) -> bytes:
    at = draw.randint(0, len(data))
    return data[:at] + draw.choice([b"x", b'"', b",", b"[", b"TY  - ", b"\r"]) * (LONG_LINE // 2) + data[at:]


def quotes_inside(data: bytes, draw: random.Random) -> bytes:
    at = draw.randint(0, len(data))
    return (
        data[:at]
        + draw.choice([b'"', b'""', b'"""', b"'", b'"\n"', b'\\"', b'{"a":']) * draw.randint(1, 99)
        + data[at:]
    )


def other_line_ends(data: bytes, draw: random.Random) -> bytes:
    return data.replace(b"\n", draw.choice([b"\r", b"\r\n", b"\n\r", b"\x85", b"\xe2\x80\xa8", b"\x0b", b""]))


def twice(data: bytes, draw: random.Random) -> bytes:
    return data + data


def as_it_was(data: bytes, draw: random.Random) -> bytes:
    return data


def strange_zip(data: bytes, draw: random.Random) -> bytes:
    """Make a zip of it: names that climb out or repeat, links, marks of encryption, parts that are large."""
    target = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as book:
        warnings.simplefilter("ignore")  # Python's own about repeated names
        for _ in range(draw.randint(1, 3)):
            book.writestr(_strange_part(draw), draw.choice([data, b"<x/>", bytes(3_000_000), b"../../etc/passwd"]))
    made = target.getvalue()
    if draw.random() < 0.2:  # says that its parts are encrypted
        made = made.replace(b"PK\x01\x02\x14\x03\x14\x00\x00\x00", b"PK\x01\x02\x14\x03\x14\x00\x01\x00")
    return made


def _strange_part(draw: random.Random) -> zipfile.ZipInfo:
    names = [
        "../../evil",
        "/etc/evil",
        "xl/workbook.xml",
        "a" * 500,
        "..\\evil",
        "xl/worksheets/sheet1.xml",
        "content.xml",
    ]
    part = zipfile.ZipInfo(f"{draw.choice(names)}{draw.randint(0, 9) or ''}")
    part.compress_type = zipfile.ZIP_DEFLATED
    part.external_attr = draw.choice([0, (stat.S_IFLNK | 0o777) << 16, 0o100644 << 16])
    return part


def book_with_other_sheet(data: bytes, draw: random.Random) -> bytes:
    """Make a workbook whose sheet says strange things: far cells, formulas, cut XML, entities."""
    inside = [
        b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>',
        b'<row r="99999999999"><c r="A99999999999"><v>1</v></c></row></sheetData>',
        b'<row r="3"><c r="ZZZZZZ3"><v>1</v></c></row></sheetData>',
        b'<row r="0"><c r="A0" t="s"><v>999999</v></c></row></sheetData>',
        b'<row r="9"><c r="A9"><f>HYPERLINK("http://example.org")</f><v>x</v></c></row></sheetData>',
        b'<row r="9"><c r="B9" t="e"><v>#REF!</v></c><c r="B9" t="b"><v>7</v></c></row></sheetData>',
        b'<row r="9"><c r="A9" t="d"><v>2020-99-99</v></c></row></sheetData>',
        b"<!DOCTYPE x [<!ENTITY a 'aaaaaaaaaa'>]>&a;</sheetData>",
        b"</sheet",
        b"",
    ]
    small, target = as_xlsx(draw), io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(small)) as book, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as other:
        for part in book.infolist():
            content = book.read(part)
            if part.filename == "xl/worksheets/sheet1.xml":
                content = content.replace(b"</sheetData>", draw.choice(inside))
            other.writestr(part.filename, content)
    return target.getvalue()


HARMS: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    cut_short,
    cut_the_beginning,
    flipped,
    noise_inside,
    nothing_but_noise,
    zeros_inside,
    another_encoding,
    one_long_line,
    quotes_inside,
    other_line_ends,
    twice,
    as_it_was,
    strange_zip,
    book_with_other_sheet,
)
PACKED: dict[str, Callable[[bytes], bytes]] = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
NAMES = (
    "papers{}",
    "../../evil{}",
    "/etc/evil{}",
    "C:\\evil{}",
    "\x00evil{}",
    "a" * 300 + "{}",
    "пример{}",
    "x.csv{}",
    "{}",
)


def mangled(seed: int) -> Mangled:
    """Make one file: a good one of some format, harmed, perhaps packed, under some name and ending."""
    draw = random.Random(seed)
    ending = draw.choice(list(GOOD))
    harm = HARMS[seed % len(HARMS)]  # in turn, so that a few cases have all of them
    data = harm(GOOD[ending](draw), draw)
    how = f"{ending} {harm.__name__}"
    if harm in (strange_zip, book_with_other_sheet):
        ending = draw.choice([".xlsx", ".xlsx", ".ods", ".xls"])
    elif draw.random() < 0.15:
        ending = draw.choice([*GOOD, ".zip", ".exe", "", ".xls", ".ods"])
    if draw.random() < 0.15:
        packing = draw.choice(list(PACKED))
        data, ending = PACKED[packing](data), ending + packing
        if draw.random() < 0.4:
            data = cut_short(data, draw)
    return Mangled(draw.choice(NAMES).format(ending), data, f"{how} as {ending}, seed {seed}")
