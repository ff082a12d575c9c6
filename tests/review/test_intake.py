"""Uploads: looked at before they are imported, refused before they cost memory, recognised where they are known."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from riffler import InputError, collection_from_frame
from riffler.data.parquet_footer import read_footer
from riffler.review import intake
from riffler.review.export import FORMATS, write_export
from riffler.review.intake import (
    Limits,
    Mapping,
    add_upload,
    arrival_of,
    preview_upload,
    read_upload,
    upload_ending,
)
from tests.review.reviews import SETTINGS, create_review, library, new_review, say

pytestmark = pytest.mark.usefixtures("each_database")

FRAME = pl.DataFrame(
    {
        "Title": ["On gulls", "On owls", "On stones"],
        "Abstract": ["They fly.", "They hoot.", None],
        "Key": ["a", "b", "c"],
        "included": ["yes", "no", None],
        "Year": [1999, 2000, 2001],
    }
)
RECORDS = "TY  - JOUR\nTI  - On gulls\nAB  - They fly.\nER  - \n\nTY  - JOUR\nTI  - On owls\nER  - \n"


def write(folder: Path, ending: str) -> Path:
    path = folder / f"0123{ending}"
    if ending == ".parquet":
        FRAME.write_parquet(path)
    elif ending == ".xlsx":
        FRAME.write_excel(path)
    elif ending == ".jsonl":
        FRAME.write_ndjson(path)
    elif ending == ".csv.gz":
        path.write_bytes(gzip.compress(FRAME.write_csv().encode()))
    else:
        FRAME.write_csv(path, separator="\t" if ending == ".tsv" else ",")
    return path


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".csv.gz", ".xlsx", ".parquet", ".jsonl"])
def test_a_preview_shows_what_an_import_would_do(tmp_path: Path, ending: str) -> None:
    preview = preview_upload(write(tmp_path, ending), name=f"my papers{ending}")
    assert preview.columns == tuple(FRAME.columns)
    assert preview.n_rows == 3
    assert preview.name == f"my papers{ending}"
    assert preview.mapping == Mapping(title="Title", abstract="Abstract", id="Key", label="included")
    assert preview.sample[0] == {
        "Title": "On gulls", "Abstract": "They fly.", "Key": "a", "included": "yes", "Year": "1999"
    }  # fmt: skip
    assert preview.sample[2]["Abstract"] == ""
    assert preview.problem == ""
    collection = read_upload(write(tmp_path, ending), preview.mapping, name=preview.name)
    assert (collection.ids, collection.source) == (("a", "b", "c"), preview.name)
    assert collection.labels is not None
    assert collection.labels.tolist() == [1, 0, -1]


def test_records_are_previewed_by_their_tags(tmp_path: Path) -> None:
    path = tmp_path / "0123.ris"
    path.write_text(RECORDS)
    preview = preview_upload(path, name="papers.ris")
    assert preview.mapping == Mapping()
    assert preview.sample[0]["TI"] == "On gulls"
    assert read_upload(path, preview.mapping).titles == ("On gulls", "On owls")


def test_a_file_without_known_columns_can_still_be_mapped(tmp_path: Path) -> None:
    path = tmp_path / "0123.csv"
    path.write_text("Kop,Tekst,beslissing\nOver meeuwen,Ze vliegen,ja\nOver uilen,Ze roepen,nee\n")
    preview = preview_upload(path, name="papieren.csv")
    assert preview.problem.startswith("papieren.csv: no column is called title")
    chosen = Mapping(title="Kop", text="Tekst", label="beslissing", positive=("ja",))
    collection = read_upload(path, chosen, name="papieren.csv")
    assert collection.titles == ("Over meeuwen", "Over uilen")
    assert collection.labels is not None
    assert collection.labels.tolist() == [1, 0]


def test_labels_are_left_alone_when_nobody_wants_them(tmp_path: Path) -> None:
    path = tmp_path / "odd.csv"
    FRAME.with_columns(included=pl.Series(["perhaps", "see above", "no idea"])).write_csv(path)
    with pytest.raises(InputError, match="perhaps"):
        read_upload(path)
    collection = read_upload(path, Mapping(label=""))
    assert collection.labels is None
    assert collection.columns["included"].to_list() == ["perhaps", "see above", "no idea"]


def test_the_columns_of_an_export_are_offered(tmp_path: Path) -> None:
    with new_review(tmp_path, n=4) as review:
        review.answer([say("d0", "relevant"), say("d1", "irrelevant")])
        for format in ("csv", "xlsx", "parquet", "jsonl"):
            path = tmp_path / f"out{FORMATS[format].ending}"
            write_export(review, path, format)
            mapping = preview_upload(path).mapping
            assert (mapping.id, mapping.label) == ("riffler_id", "riffler_label")


def test_names_are_never_paths(tmp_path: Path) -> None:
    assert upload_ending("../../etc/passwd.csv") == ".csv"
    assert upload_ending("C:\\evil\\x.RIS.GZ") == ".ris.gz"
    for name in ("x.zip", "x.exe", "", "csv", "x.csv.zip", "x.parquet.gz"):
        with pytest.raises(InputError):
            upload_ending(name)
    path = tmp_path / "0123.csv"
    path.write_text("a,b\n1,2\n")
    preview = preview_upload(path, name="../../\x1b[31mroot/evil.csv")
    assert preview.name == "evil.csv"
    assert str(tmp_path) not in preview.problem
    path.write_text("")
    with pytest.raises(InputError, match=r"^evil\.csv: the file is empty"):
        preview_upload(path, name="../evil.csv")


def refused(path: Path, words: str, limits: Limits = Limits()) -> None:  # noqa: B008 - frozen
    start = time.monotonic()
    with pytest.raises(InputError, match=words):
        preview_upload(path, limits)
    assert time.monotonic() - start < 30


def test_sizes_are_limited(tmp_path: Path) -> None:
    path = write(tmp_path, ".csv")
    refused(path, "more than 10 bytes", Limits(n_bytes=10))
    refused(path, "more than 2 rows", Limits(n_rows=2))
    assert preview_upload(path, Limits(n_rows=3)).n_rows == 3
    refused(write(tmp_path, ".parquet"), "3 rows, at most 2", Limits(n_rows=2))
    refused(write(tmp_path, ".parquet"), "unpacked", Limits(n_unpacked=100))
    refused(write(tmp_path, ".xlsx"), "unpacked", Limits(n_unpacked=1000))
    refused(write(tmp_path, ".csv.gz"), "unpacked", Limits(n_unpacked=50))


def test_a_small_file_that_unpacks_to_a_large_one_is_refused(tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.csv.gz"
    with gzip.open(bomb, "wb") as stream:
        for _ in range(60):
            stream.write(b"x" * 1_000_000)
    assert bomb.stat().st_size < 100_000
    refused(bomb, "unpacked it has more than 50 MB", Limits(n_unpacked=50_000_000))
    book = tmp_path / "bomb.xlsx"
    with zipfile.ZipFile(book, "w", zipfile.ZIP_DEFLATED) as parts:
        parts.writestr("xl/worksheets/sheet1.xml", b"x" * 60_000_000)
    refused(book, "unpacked it has more than 50 MB", Limits(n_unpacked=50_000_000))


@pytest.mark.parametrize(
    ("name", "head", "row"),
    [
        ("bomb.csv.gz", b"id,title\n", b"1,a\n"),
        ("bomb.csv.bz2", b"id\ttitle\r\n", b'1\t"a\r\nb"\r\n'),
        ("quoted.csv.gz", b'id,title\n1,"', b"1,a\n"),
        ("bomb.ris.xz", b"", b"TY  - J\nTI  - a\nER  - \n"),
        ("bomb.txt.gz", b"", b"PMID- 1\nTI  - a\n\n"),
        ("unopened.ris.gz", b"", b"TI  - a\nER  - \n"),
        ("bomb.jsonl.gz", b"", b'{"title": "a"}\n'),
        ("bomb.txt.xz", b"id,title\n", b"1,a\n"),
    ],
)
def test_many_rows_are_refused_before_they_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, head: bytes, row: bytes
) -> None:
    packers: dict[str, Callable[[bytes], bytes]] = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
    (tmp_path / name).write_bytes(packers[Path(name).suffix](head + row * 300_000))
    monkeypatch.setattr(intake, "read_frame", lambda path: pytest.fail("it was read"))
    refused(tmp_path / name, "more than [0-9,]+ (rows|lines)", Limits(n_rows=50_000))


def test_lines_of_a_text_are_no_rows(tmp_path: Path) -> None:
    path = tmp_path / "papers.csv"
    rows = "".join(f'd{row},Birds {row},"one\n\ntwo ""three""\nfour"\n\n' for row in range(10))
    for encoding in ("utf-8", "utf-16"):
        path.write_text(f"id,title,abstract\n{rows}", encoding=encoding)
        assert preview_upload(path, Limits(n_rows=10)).n_rows == 10
    path.write_text("id,title\n" + "d1,\u0a0a\u0d0a\u0a0d\u0a05\u0a0a\u0a05\n", encoding="utf-16")
    assert preview_upload(path, Limits(n_rows=1)).n_rows == 1


def test_a_json_line_without_end_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "line.jsonl"
    path.write_text('{"title": "a"}\n{"title": "' + "x" * 2000 + '"}\n')
    refused(path, "line 2: longer than 1,000 bytes", Limits(n_line=1000))


def test_a_zip_that_lies_about_its_sizes_is_refused(tmp_path: Path) -> None:
    book = tmp_path / "lie.xlsx"
    with zipfile.ZipFile(book, "w", zipfile.ZIP_DEFLATED) as parts:
        parts.writestr("xl/worksheets/sheet1.xml", b"x" * 3_000_000)
    data = book.read_bytes().replace((3_000_000).to_bytes(4, "little"), (30).to_bytes(4, "little"))
    book.write_bytes(data)
    refused(book, "Bad CRC")


def test_sheets_of_far_corners_are_refused_before_they_are_read(tmp_path: Path) -> None:
    small = tmp_path / "small.xlsx"
    FRAME.write_excel(small)
    book = tmp_path / "corner.xlsx"
    with zipfile.ZipFile(small) as source, zipfile.ZipFile(book, "w") as target:
        for part in source.infolist():
            data = source.read(part)
            if part.filename == "xl/worksheets/sheet1.xml":
                far = b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>'
                data = data.replace(b"</sheetData>", far)
            target.writestr(part, data)
    refused(book, "reaches over more than")
    sheet = tmp_path / "corner.ods"
    cell = '<table:table-cell table:number-columns-repeated="16384" office:value-type="float" office:value="1"/>'
    with zipfile.ZipFile(sheet, "w") as target:
        target.writestr(
            "content.xml", f'<table:table-row table:number-rows-repeated="1048576">{cell}</table:table-row>'
        )
    refused(sheet, "reaches over more than")


def test_tables_that_would_be_filled_up_are_refused_before_they_are_read(tmp_path: Path) -> None:
    wide = tmp_path / "wide.csv"
    wide.write_text(",".join(["title", *map(str, range(20_000))]) + "\n" + "x\n" * 100_000)
    refused(wide, "fields, the header has")
    keys = tmp_path / "keys.jsonl"
    keys.write_text("".join(json.dumps({"title": "x", f"k{row}": row}) + "\n" for row in range(20_000)))
    refused(keys, "different keys")
    deep = tmp_path / "deep.jsonl"
    deep.write_text('{"title": ' + "[" * 200_000 + "]" * 200_000 + "}\n")
    refused(deep, "nested too deeply")
    tags = tmp_path / "tags.ris"
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    names = [a + b for a in letters for b in letters if a + b not in ("TY", "ER")]
    first = "TY  - JOUR\n" + "".join(f"{name}  - x\n" for name in names) + "ER  - \n"
    tags.write_text(first + "TY  - JOUR\nTI  - x\nER  - \n" * 60_000)
    refused(tags, "different tags")


def test_the_footer_of_a_parquet_file_says_what_polars_reads(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    frame = pl.DataFrame({f"c{at}": [[f"{row}" * 3, "y"] for row in range(1000)] for at in range(20)})
    frame.write_parquet(path, row_group_size=100)
    footer = read_footer(path)
    assert (footer.n_rows, footer.n_columns) == (1000, 20)
    assert 20_000 < footer.n_unpacked < 10_000_000


def test_what_the_review_has_is_recognised(tmp_path: Path) -> None:
    long = "Gulls fly over the sea and cry, which they have done since before there were boats to follow home at night."
    start = pl.DataFrame({"id": ["a", "b"], "title": ["On gulls", "On owls"], "abstract": [long, "They hoot."]})
    later = pl.DataFrame(
        {
            "id": ["b", "c", "d", "e", "f"],
            "title": ["On owls", "ON GULLS!", "On stones", "On Stones", "On snow"],
            "abstract": ["They hoot.", long, "Hard.", "hard", "It melts."],
            "included": ["no", "no", "yes", "", ""],
            "doi": [None, None, None, None, "10.1000/x"],
        }
    )
    with create_review(tmp_path / "r.riffler", collection_from_frame(start), SETTINGS) as review:
        review.answer([say("a", "relevant")])
        arrival = arrival_of(review, collection_from_frame(later, source="later.csv"))
        assert (arrival.n_known, arrival.twins, arrival.n_repeated, arrival.n_new) == (1, {"c": "a"}, 1, 2)
        assert arrival.sentence == (
            "2 new documents to read; 1 left out, as the review has their ids; 1 duplicates of documents in the "
            "review, shown with them; 1 duplicates of each other, shown together; 1 labels taken for documents in the "
            "review that nobody answered; 1 labels left out, as their documents in the review are answered or shown."
        )
        add_upload(review, collection_from_frame(later, source="later.csv"))
        assert review.collection().ids == ("a", "b", "d", "f")
        assert review.collection().twins == {"a": ("c",), "d": ("e",)}
        assert [twin.document for twin in review.whole_documents(["a"])[0].twins] == ["c"]
        # a label does not overrule what a person said, and is not lost where nobody said anything
        assert {name: one.verdict for name, one in review.standings().items()} == {
            "a": "relevant",
            "d": "relevant",
            "b": "irrelevant",
        }
        assert review.counts() == {"relevant": 2, "irrelevant": 1, "maybe": 0, "skip": 0, "unread": 1}
        assert [one.n for one in review.imports()] == [2, 2]
        with pytest.raises(InputError, match="has all 5 documents already"):
            add_upload(review, collection_from_frame(later, source="later.csv"))


def test_an_upload_of_duplicates_only_leaves_the_search_running(tmp_path: Path) -> None:
    with new_review(tmp_path, n=20) as review:
        again = collection_from_frame(
            library(20).columns.with_columns(id=pl.lit("x") + pl.col("id"), title=pl.col("title").str.to_uppercase())
        )
        arrival = add_upload(review, again)
        assert (arrival.n_new, len(arrival.twins)) == (0, 20)
        assert review.collection().n_items == 20
        assert review.counts()["unread"] == 20


@pytest.mark.parametrize("format", FORMATS)
def test_an_export_brought_back_brings_nothing_new(tmp_path: Path, format: str) -> None:
    with new_review(tmp_path, n=10) as review:
        path = tmp_path / f"out{FORMATS[format].ending}"
        write_export(review, path, format)
        arrival = arrival_of(review, read_upload(path))
        assert (arrival.n_known, arrival.collection.n_items) == (10, 0)
