"""Files are read in chunks with the result of reading them whole, from any chunk on, and faults are named by line."""

from __future__ import annotations

import bz2
import codecs
import csv
import gzip
import io
import lzma
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riffler._fast.csv_records import scan_records
from riffler.data.collection_reading import read_frame
from riffler.data.opening import zstd
from riffler.disk import text_survey
from riffler.disk.chunks import Chunk, read_chunks
from riffler.disk.sources import Source, find_sources, survey
from riffler.errors import DataFileError, InputError
from tests.disk.documents import documents


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("riffler.disk.text_survey.BLOCK", 64)
    monkeypatch.setattr("riffler.disk.chunks.BLOCK", 64)
    monkeypatch.setattr("riffler.disk.chunks.MOST_RECORDS", 3)


def source_of(path: Path, encoding: str | None = None) -> Source:
    return survey(find_sources([path]), encoding, lambda share, doing: None)[0]


def read_all(path: Path, encoding: str | None = None) -> pl.DataFrame:
    return pl.concat([chunk.frame for chunk in read_chunks(source_of(path, encoding))])


CELLS = st.text(st.sampled_from('ab",;\n é'), max_size=6)


@given(rows=st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=12), is_quoted=st.booleans())
def test_csv_in_chunks_is_csv_read_whole(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str, str]], is_quoted: bool
) -> None:
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, quoting=csv.QUOTE_ALL if is_quoted else csv.QUOTE_MINIMAL, lineterminator="\n")
        writer.writerow(["title", "abstract", "note"])
        writer.writerows(rows)
    try:
        whole = read_frame(path)
    except DataFileError:  # every field of every row is empty
        assert sum(chunk.frame.height for chunk in read_chunks(source_of(path))) == 0
        return
    chunks = list(read_chunks(source_of(path)))
    assert pl.concat([chunk.frame for chunk in chunks]).equals(whole)
    for number, chunk in enumerate(chunks):
        rest = pl.concat([later.frame for later in read_chunks(source_of(path), chunk.at)])
        assert rest.equals(pl.concat([later.frame for later in chunks[number:]]))


LOOSE = [
    '""',
    "",
    " ",
    '12" disc',
    '"12"" disc"',
    '"12" disc',
    '"a" b "c"',
    'a"b"c',
    "x\ry",
    "\r",
    '"\r\n"',
    '"x\n"',
    '""x',
]
ENDINGS = st.sampled_from(["\n", "\r\n", "\n\n", "\n\r\n"])


@given(
    names=st.sampled_from([["title", "abstract"], ["title"], ["title", '"a" b "c"', "title"]]),
    records=st.lists(st.tuples(st.lists(st.sampled_from(LOOSE), min_size=3, max_size=3), ENDINGS), max_size=12),
    cuts=st.tuples(st.integers(1, 4), st.integers(1, 80)),
)
def test_documents_are_the_same_wherever_chunks_of_loose_records_are_cut(
    tmp_path_factory: pytest.TempPathFactory,
    names: list[str],
    records: list[tuple[list[str], str]],
    cuts: tuple[int, int],
) -> None:
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    lines = [",".join(cells[: len(names)]) + ending for cells, ending in [(names, "\n"), *records]]
    path.write_bytes("".join(lines).encode())
    one_by_one = cut_frames(path, 1, 1 << 20)
    chunks = cut_frames(path, *cuts)
    assert rows_of(chunks) == rows_of(one_by_one) == rows_of(cut_frames(path, 1000, 1 << 20))
    for number, chunk in enumerate(chunks):
        assert rows_of(cut_frames(path, *cuts, at=chunk.at)) == rows_of(chunks[number:])
        assert rows_of(cut_frames(path, 1000, 1 << 20, at=chunk.at)) == rows_of(chunks[number:])


@pytest.mark.parametrize("header", ['"is it ""in""?",b', '"a" x,b', 'a "x" y,b', "a,a", ",b", " a ,b"])
def test_columns_have_the_names_that_they_have_in_memory(header: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(f'{header}\nowl,"gull"\nheron,stone 12" wide\n')
    (chunk,) = cut_frames(tmp_path / "a.csv", 1000, 1 << 20)
    (first, *_) = cut_frames(tmp_path / "a.csv", 1, 8)
    assert chunk.frame.columns == first.frame.columns == read_frame(tmp_path / "a.csv").columns
    assert chunk.frame.rows() == read_frame(tmp_path / "a.csv").rows()
    assert "is it" not in header or chunk.frame.columns[0] == 'is it "in"?'


def cut_frames(path: Path, most: int, n_bytes: int, at: int = 0) -> list[Chunk]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("riffler.disk.text_survey.BLOCK", n_bytes)
        patch.setattr("riffler.disk.chunks.MOST_RECORDS", most)
        return list(read_chunks(source_of(path), at))


def rows_of(chunks: list[Chunk]) -> list[dict[str, Any]]:
    return [row for chunk in chunks for row in chunk.frame.to_dicts()]


@given(data=st.text(st.sampled_from('ab",\n\r'), max_size=40))
def test_records_end_where_pythons_reader_ends_them(data: str) -> None:
    text = data.replace("\r", "\r\n") + "\n"
    found = []
    rest = np.frombuffer(text.encode(), dtype=np.uint8)
    at = 0
    while at < len(rest):
        for n_fields in range(1, 50):
            end, n_records, _, _, bad, _ = scan_records(rest[at:], ord(","), n_fields, 1)
            if bad < 0:
                break
        if end == 0:
            break
        if n_records:
            found.append(text[at : at + int(end)])
        at += int(end)
    expected = [row for row in csv.reader(io.StringIO(text[:at], newline="")) if row]
    assert [next(row for row in csv.reader(io.StringIO(one, newline="")) if row) for one in found] == expected


def test_loose_quotation_marks_are_read_as_in_memory(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('title,note\na 5" pipe,x\n"two\nlines",""\n\nlast one,"a ""b"" c"\n' * 1, encoding="utf-8")
    assert read_all(path).equals(read_frame(path))


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32", "cp1252"])
def test_encodings_are_found_as_in_memory(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(("title,abstract\n" + "Bücher – neu,Große Vögel\n" * 20).encode(encoding))
    assert read_all(path).equals(read_frame(path))


def test_an_encoding_is_used_if_named_and_refused_where_it_does_not_fit(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes('{"title": "чайка"}\n{"title": "сова"}\n'.encode("cp1251"))
    assert read_all(path, "cp1251")["title"].to_list() == ["чайка", "сова"]
    with pytest.raises(DataFileError, match="encoding was not found"):
        read_all(path)
    with pytest.raises(DataFileError, match="is not utf-8"):
        read_all(path, "utf8")
    with pytest.raises(InputError, match="No encoding called"):
        read_all(path, "owl")


def test_a_late_fault_in_a_long_utf8_text_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_survey, "LOOKED_AT_WHOLE", 50)
    path = tmp_path / "a.csv"
    path.write_bytes(b"title\n" + b"gull\n" * 50 + b"\xe9t\xe9\n")
    with pytest.raises(DataFileError, match="not UTF-8 from about byte"):
        source_of(path)


@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".ris"])
@pytest.mark.parametrize(("fault", "told"), [(b"\xe9 gull\n", "invalid"), ("é".encode()[:1], "unexpected end of data")])
def test_a_bad_byte_behind_a_mark_is_named(ending: str, fault: bytes, told: str, tmp_path: Path) -> None:
    path = tmp_path / f"a{ending}"
    path.write_bytes(codecs.BOM_UTF8 + b"title\n" + b"gull\n" * 50 + fault)
    with pytest.raises(DataFileError, match=rf"about byte 25\d is not utf-8: {told}"):
        source_of(path)
    with pytest.raises(DataFileError, match=r"byte 25\d .* is not utf-8"):
        read_frame(path)


def test_lines_that_end_in_a_return_alone_are_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"title,note\rgull,a\rowl,b\r" * 1)
    assert read_all(path).equals(read_frame(path))


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("a.csv", "title,note\n" + "a,b\n" * 70 + "a,b,c\n", "line 72: 3 fields, the header has 2"),
        ("a.csv", "title,note\n" + "a,b\n" * 70 + 'a,"b\nc', "line 72: a quotation mark is left open"),
        ("a.jsonl", '{"title": "a"}\n' * 70 + "owl\n", "line 71: not JSON"),
        ("a.jsonl", '{"title": "a"}\n' * 70 + "[1]\n", "line 71: one JSON object a line was expected, list came"),
        ("a.ris", "nothing of the kind\n" * 70, "no RIS record"),
        ("a.csv", "\n", "first line is empty"),
        ("a.csv", "sep=§\nid§title\n1§gull\n", "says that '§' separates the columns"),
    ],
)
def test_faults_are_named_by_their_line(name: str, content: str, told: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    with pytest.raises(DataFileError, match=told):
        list(read_chunks(source_of(path)))


@pytest.mark.parametrize("n_columns", [30, 20_000])
def test_a_header_of_any_length_is_read_as_in_memory(
    n_columns: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("riffler.disk.text_survey.BLOCK", 100_000 if n_columns > 30 else 64)
    names = ["title", '"a note\nof two lines"', *(f"column {n}" for n in range(n_columns))]
    row = ",".join(["gull", "x", *("" for _ in range(n_columns))])
    path = tmp_path / "a.csv"
    path.write_text(",".join(names) + f"\n{row}\n{row}\n", encoding="utf-8")
    assert (path.stat().st_size > 1 << 16) == (n_columns > 30)
    found = read_all(path)
    assert found.shape == (2, n_columns + 2)
    assert found.equals(read_frame(path))


@pytest.mark.parametrize("header", ['title,"note', '"title\nnote'])
def test_a_header_that_does_not_end_is_refused(header: str, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(header + "\n" + "gull,x\n" * 50, encoding="utf-8")
    with pytest.raises(DataFileError, match="cannot be read as names of columns"):
        read_all(path)


@pytest.mark.parametrize("n_bytes", [64, 5000])
def test_a_first_line_of_very_many_bytes_is_refused(
    n_bytes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("riffler.disk.text_survey.BLOCK", n_bytes)
    monkeypatch.setattr("riffler.disk.chunks.LONGEST_HEADER", 1000)
    path = tmp_path / "a.csv"
    path.write_text("title," + "x" * 993 + "\ngull,y\n", encoding="utf-8")
    assert read_all(path).rows() == [("gull", "y")]
    for line in ("title," + "x" * 1000, "title;" * 500, '"title' + "\ngull,y" * 500):
        path.write_text(line + "\ngull,y\n", encoding="utf-8")
        with pytest.raises(DataFileError, match=r"first line has more than 1,000 bytes, .* Is this a table\?"):
            read_all(path)


def test_a_table_of_very_many_columns_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("riffler.disk.chunks.MOST_COLUMNS", 20)
    (tmp_path / "a.csv").write_text("title" + ";" * 20 + "\ngull" + ";" * 20 + "\n", encoding="utf-8")
    with pytest.raises(DataFileError, match="cut into 21 names of columns by ';'; at most 20 are read"):
        read_all(tmp_path / "a.csv")


def test_a_header_without_a_line_end_has_no_records(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("title,note", encoding="utf-8")
    assert list(read_chunks(source_of(tmp_path / "a.csv"))) == []


def test_a_record_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("riffler.disk.chunks.LONGEST_RECORD", 1000)
    references = "TY  - JOUR\nTI  - On gulls\nER  - \n\n" * 50
    for name, content, line in (
        ("a.csv", 'title\ngull\n"' + "x\n" * 2000, 3),
        ("a.jsonl", '{"title": "' + "x" * 3000, 1),
        ("a.ris", references + "TY  - JOUR\n" + "AB  - été\n" * 200, 199),
        ("b.ris", references + "TY  - JOUR\nAB  - " + "gulls " * 200, 199),
        ("a.nbib", "PMID- 1\nTI  - On gulls\n\n" * 50 + "PMID- 2\nTI  - " + "owls\r\n" * 200, 151),
    ):
        (tmp_path / name).write_text(content, encoding="utf-8")
        with pytest.raises(DataFileError, match=f"line {line}: a record of more than 1,000 bytes"):
            list(read_chunks(source_of(tmp_path / name)))


def test_a_record_of_very_many_lines_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("riffler.disk.tagged_lines.MOST_LINES", 100)
    path = tmp_path / "a.ris"
    path.write_text("TY  - JOUR\nTI  - On gulls\nER  - \n" * 200 + "TY  - JOUR\n" + "AU  - Ng\n" * 101)
    with pytest.raises(DataFileError, match=r"line 600: a record of more than .* or 100 lines"):
        list(read_chunks(source_of(path)))


def test_very_many_different_tags_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("riffler.disk.chunks.BLOCK", 1 << 20)
    monkeypatch.setattr("riffler.disk.chunks.MOST_RECORDS", 1000)
    monkeypatch.setattr("riffler.data.ris.MANY_CELLS", 10_000)
    path = tmp_path / "a.ris"
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    path.write_text("".join(f"TY  - JOUR\n{one}{two}  - x\nER  - \n" for one in letters for two in letters))
    with pytest.raises(DataFileError, match=r"records with .* different tags"):
        list(read_chunks(source_of(path)))


def test_lines_are_the_same_wherever_blocks_end(tmp_path: Path) -> None:
    text = "TY  - JOUR\r\nTI  - Été\rAB  - gulls\n\n \nand owls\r\n\r\nER  - \nTY  - JOUR\nTI  - 海鳥"
    path = tmp_path / "a.ris"
    path.write_bytes(text.encode())
    for n_bytes in range(1, 40):
        assert pl.concat([chunk.frame for chunk in cut_frames(path, 1, n_bytes)], how="diagonal").equals(
            read_frame(path)
        )


PACKERS: dict[str, Any] = {".gz": gzip, ".bz2": bz2, ".xz": lzma, ".zst": zstd()}


@pytest.mark.parametrize("ending", PACKERS)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_compressed_files_are_read_as_plain_ones_from_any_chunk_on(ending: str, encoding: str, tmp_path: Path) -> None:
    plain, packed = tmp_path / "a.csv", tmp_path / f"a.csv{ending}"
    plain.write_bytes(documents(40).write_csv().encode(encoding))
    packed.write_bytes(PACKERS[ending].compress(plain.read_bytes()))
    whole = read_all(plain)
    assert read_all(packed).equals(whole)
    chunks = list(read_chunks(source_of(packed)))
    rest = pl.concat([chunk.frame for chunk in read_chunks(source_of(packed), chunks[5].at)])
    assert rest.equals(whole[sum(chunk.frame.height for chunk in chunks[:5]) :])


@pytest.mark.parametrize("ending", PACKERS)
def test_a_cut_compressed_file_is_found_before_the_work(ending: str, tmp_path: Path) -> None:
    data = PACKERS[ending].compress(documents(200).write_csv().encode())
    (tmp_path / f"a.csv{ending}").write_bytes(data[: len(data) // 2])
    with pytest.raises(DataFileError, match="cannot be read to its end"):
        source_of(tmp_path / f"a.csv{ending}")


def test_a_cut_parquet_file_is_found_before_the_work(tmp_path: Path) -> None:
    frame = documents(50)
    frame.write_parquet(tmp_path / "a.parquet")
    data = (tmp_path / "a.parquet").read_bytes()
    (tmp_path / "b.parquet").write_bytes(data[:-20])
    with pytest.raises(DataFileError, match="not a whole Parquet file"):
        source_of(tmp_path / "b.parquet")


@pytest.mark.parametrize("group", [1, 7, 50])
def test_parquet_is_read_in_slices_from_any_row_on(group: int, tmp_path: Path) -> None:
    frame = documents(50)
    frame.write_parquet(tmp_path / "a.parquet", row_group_size=group)
    source = source_of(tmp_path / "a.parquet")
    for at in (0, 1, 20, 49, 50):
        chunks = list(read_chunks(source, at))
        assert pl.concat([frame.clear(), *(chunk.frame for chunk in chunks)]).equals(frame[at:])
        assert [chunk.at for chunk in chunks] == np.cumsum([at, *(chunk.frame.height for chunk in chunks)])[
            :-1
        ].tolist()


def test_large_groups_of_rows_are_warned_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("riffler.disk.sources.LARGE_GROUP", 100)
    documents(50).write_parquet(tmp_path / "a.parquet")
    with pytest.warns(UserWarning, match="a group of rows has .* write the file again with smaller groups"):
        source_of(tmp_path / "a.parquet")


def test_what_cannot_be_a_source_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    documents(3).write_csv(tmp_path / "a.csv")
    (tmp_path / "empty").mkdir()
    (tmp_path / "a.bin").write_bytes(b"x")
    for named, told in (
        ([], "nothing to index"),
        ([tmp_path / "a.csv"] * 2, "named twice"),
        ([tmp_path / "*.owl"], "no file matches"),
        ([tmp_path / "b.csv"], "no such file"),
        ([tmp_path / "empty"], "no text files in this folder"),
        ([tmp_path / "a.bin"], "the ending tells no known format"),
    ):
        with pytest.raises(InputError, match=told):
            find_sources(named)
    monkeypatch.setattr("riffler.disk.sources.LARGEST_SPREADSHEET", 10)
    documents(3).write_excel(tmp_path / "a.xlsx")
    with pytest.raises(DataFileError, match="Save it as CSV"):
        find_sources([tmp_path / "a.xlsx"])
