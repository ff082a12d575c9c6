"""Files that are not what they should be: each is refused with the place and what to do, or read as meant."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from riffler.data import read_collection
from riffler.data.encodings import decode, find_encoding
from riffler.errors import DataFileError, InputError

RUSSIAN = "Чайки летают над морем, и совы молчат в лесу. " * 3
JAPANESE = "かもめは海の上を飛び、ふくろうは森で黙っている。" * 3
CHINESE = "海鸥在海上飞翔，猫头鹰在森林里沉默。" * 3


def write(folder: Path, data: bytes | str, name: str = "data.csv") -> Path:
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


@pytest.mark.parametrize("name", ["a.csv", "a.ris", "a.jsonl", "a.xlsx", "a.parquet", "a.txt"])
def test_an_empty_file_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(DataFileError, match="the file is empty"):
        read_collection(write(tmp_path, "", name))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "title,abstract\n", "a header but no rows"),
        ("a.csv", "\n\n", "first line is empty"),
        ("a.csv", "sep=§\nid§title\n1§gull\n", "says that '§' separates the columns"),
        ("a.csv", "title,abstract\na,b\nc\n", "line 3: 1 fields, the header has 2"),
        ("a.csv", "title,abstract\na,b,c\nd,e\n", "line 2: 3 fields, the header has 2"),
        ("a.csv", "title,abstract\n,\n , \n", "every text is empty in all 1 rows"),
        ("a.csv", 'title,abstract\na,"b\nc,d\n', "line 2: a quotation mark is left open"),
        ("a.csv", 'title\na\n"b', "line 3: a quotation mark is left open"),
        ("a.csv", "title,abstract\n,\n,\n", "no rows, or none that have anything in them"),
        ("a.csv", "a,b\nc,d\n", "no column is called title, abstract or text. Columns: a, b"),
        ("a.jsonl", '{"title": "a"}\n{"title": \n', "line 2: not JSON"),
        ("a.jsonl", '{"title": "a"}\n[1]\n', "line 2: one JSON object a line was expected, list came"),
        ("a.jsonl", "\n\n", "no objects"),
        ("a.docx", "x", "the ending tells no known format. Known: .csv"),
        ("a.xlsx", "not a spreadsheet", "not readable as a spreadsheet"),
        ("a.parquet", "not a parquet file", "not a whole Parquet file"),
    ],
)
def test_faults_are_named(tmp_path: Path, name: str, text: str, message: str) -> None:
    with pytest.raises(DataFileError) as caught:
        read_collection(write(tmp_path, text, name))
    assert message in str(caught.value)
    assert name in str(caught.value)


def test_missing_files_and_empty_folders(tmp_path: Path) -> None:
    with pytest.raises(DataFileError, match="no such file"):
        read_collection(tmp_path / "nowhere.csv")
    with pytest.raises(DataFileError, match="no text files in this folder"):
        read_collection(tmp_path)
    write(tmp_path, " \n", "a.txt")
    with pytest.raises(DataFileError, match="every text is empty"):
        read_collection(tmp_path)


def test_a_sheet_without_rows_is_refused(tmp_path: Path) -> None:
    pl.DataFrame({"title": []}, schema={"title": pl.String}).write_excel(tmp_path / "a.xlsx")
    with pytest.raises(DataFileError, match="no rows below a header"):
        read_collection(tmp_path / "a.xlsx")


@pytest.mark.parametrize(
    "text",
    [
        "title,abstract\r\na,b\r\n\r\nc,d\r\n",
        "title,abstract\ra,b\rc,d\r",
        "sep=;\ntitle;abstract\na;b\nc;d\n",
        "\ufefftitle,abstract\na,b\nc,d",
        '"title","abstract"\n"a","b"\n"c","d"\n',
    ],
)
def test_unusual_tables_are_read_as_meant(tmp_path: Path, text: str) -> None:
    items = read_collection(write(tmp_path, text))
    assert items.titles == ("a", "c")
    assert items.abstracts == ("b", "d")


def test_loose_quotation_marks_are_kept(tmp_path: Path) -> None:
    items = read_collection(write(tmp_path, 'title,abstract\nA 5" gauge,b\nc,"d, e"\n'))
    assert items.titles == ('A 5" gauge', "c")
    assert items.abstracts == ("b", "d, e")


def test_a_field_may_be_a_book(tmp_path: Path) -> None:
    book = "word " * 100_000
    items = read_collection(write(tmp_path, f'title,abstract,x\na,"{book}",\n'))
    assert items.abstracts[0] == book


@pytest.mark.parametrize(
    ("text", "encoding"), [(RUSSIAN, "cp1251"), (RUSSIAN, "koi8-r"), (JAPANESE, "shift_jis"), (CHINESE, "gb18030")]
)
def test_other_encodings_are_refused_until_named(tmp_path: Path, text: str, encoding: str) -> None:
    path = write(tmp_path, f'title\n"{text}"\n'.encode(encoding))
    with pytest.raises(DataFileError, match=r"Byte 7 \(0x..\) is not UTF-8.*Tried: UTF-8, UTF-16.*encoding="):
        read_collection(path)
    assert read_collection(path, encoding=encoding).titles == (text,)


def test_a_damaged_unicode_file_is_not_taken_for_western(tmp_path: Path) -> None:
    data = "title\nÜber schöne Bücher und Vögel\n".encode()
    path = write(tmp_path, data[:-1] + b"\xff\n")
    with pytest.raises(
        DataFileError, match=rf"Byte {len(data) - 1} \(0xff\) is not UTF-8, though 4 other characters are"
    ):
        read_collection(path)


def test_western_text_is_windows_1252() -> None:
    assert find_encoding("“Über” – café".encode("cp1252"), "toy") == "cp1252"
    assert find_encoding(b"plain", "toy") == "utf-8"
    with pytest.raises(DataFileError, match=r"byte 4 \(0x81\) is not Windows-1252"):
        find_encoding(b"caf\xe9\x81 bar", "toy")


def test_a_named_encoding_must_exist_and_fit() -> None:
    with pytest.raises(InputError, match="No encoding called 'klingon'"):
        decode(b"x", "toy", "klingon")
    with pytest.raises(DataFileError, match=r"byte 3 \(0xe9\) is not utf-8"):
        decode(b"caf\xe9 bar", "toy", "utf-8")
    with pytest.raises(DataFileError, match="is not utf-16"):
        decode(b"\xff\xfea\x00b", "toy")
