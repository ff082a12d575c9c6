"""CoNLL files come back as they were written, and every malformed line is named."""

from __future__ import annotations

import gzip
import lzma
from pathlib import Path

import pytest

from riffler.data.conll import parse_conll, read_conll, write_conll
from riffler.errors import DataFileError, InputError

CHUNKS = "The DT B-NP\ngull NN I-NP\n\n-DOCSTART- -X- O\n\n# # O\ncries VBZ B-VP\n"


def write(folder: Path, data: bytes, name: str = "text.conll") -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def test_sentences_columns_and_tags_of_a_file(tmp_path: Path) -> None:
    found = read_conll(write(tmp_path, CHUNKS.encode()))
    assert found.columns == ("word", "pos")
    assert found.sentences == [[("The", "DT"), ("gull", "NN")], [("#", "#"), ("cries", "VBZ")]]
    assert found.tags == [["B-NP", "I-NP"], ["O", "B-VP"]]
    assert found.n_tokens == 4


@pytest.mark.parametrize(("ending", "press"), [(".gz", gzip.compress), (".xz", lzma.compress)])
def test_compressed_files(tmp_path: Path, ending: str, press: object) -> None:
    assert callable(press)
    found = read_conll(write(tmp_path, press(CHUNKS.encode()), f"text.conll{ending}"))
    assert found.tags == parse_conll(CHUNKS, "toy").tags


def test_tabs_keep_blanks_in_words_and_lines_of_white_space_end_sentences() -> None:
    found = parse_conll("New York\tB-loc\r\n\t\r\n\r\n \xa0x\tO\r\n", "toy")
    assert found.sentences == [[("New York",)], [("\xa0x",)]]


@pytest.mark.parametrize("first", ["the\tDT B-NP", "the DT B-NP\t", "the\tDT\t B-NP", " the\tDT\tB-NP \t "])
def test_tabs_and_blanks_may_be_mixed(first: str) -> None:
    found = parse_conll(f"{first}\n{first.replace('the', 'a')}\n", "toy")
    assert (found.columns, found.sentences) == (("word", "pos"), [[("the", "DT"), ("a", "DT")]])
    assert found.tags == [["B-NP", "B-NP"]]


def test_a_no_break_space_is_part_of_a_word() -> None:
    assert parse_conll("1\xa0000   CD\tO", "toy", ["word"]).sentences == [[("1\xa0000   CD",)]]
    assert parse_conll("1\xa0000   CD O", "toy").sentences == [[("1\xa0000", "CD")]]


def test_names_of_columns_say_whether_there_are_tags() -> None:
    tagged = parse_conll("a DT O\n", "toy", ["word", "pos"])
    plain = parse_conll("a DT O\n", "toy", ["word", "pos", "chunk"])
    assert (tagged.sentences, tagged.tags) == ([[("a", "DT")]], [["O"]])
    assert (plain.sentences, plain.tags) == ([[("a", "DT", "O")]], None)
    assert parse_conll("a\nb\n", "toy").tags is None
    assert parse_conll("a b c d e f\n", "toy").columns == ("word", "pos", "chunk", "column3", "column4")


def test_comments_only_before_a_sentence() -> None:
    text = "# id 1\n# O\n\n# x\n"
    assert parse_conll("# id 1\na O\n# O\n", "toy", comment="# ").sentences == [[("a",), ("#",)]]
    with pytest.raises(DataFileError, match="line 2: expected 3 columns"):
        parse_conll(text, "toy")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a DT O\n\nb O\n", r"toy, line 3: expected 3 columns apart by blanks, as in line 1, got 2: 'b O'"),
        ("a\tO\nb\tO\tx\n", r"toy, line 2: expected 2 columns apart by tabs, as in line 1, got 3"),
        ("a\tO\nb\t\n", r"toy, line 2: expected 2 columns apart by tabs, as in line 1, got 1"),
        ("a\tDT\tO\nb\t \tO\n", r"toy, line 2: column 2 is empty"),
        ("a\tO\n\nb\tNN O\n", r"toy, line 3: the tag 'NN O' has a blank in it"),
        ("a O\n#text\n", r"line 2.*pass comment='#'"),
        ("\n \n", r"toy: no token in 3 lines"),
    ],
)
def test_malformed_lines_are_named(text: str, message: str) -> None:
    with pytest.raises(DataFileError, match=message):
        parse_conll(text, "toy")


def test_columns_that_do_not_fit() -> None:
    with pytest.raises(DataFileError, match="line 1: 4 columns; word, pos are 2"):
        parse_conll("a b c d\n", "toy", ["word", "pos"])
    with pytest.raises(InputError, match="different names"):
        parse_conll("a b\n", "toy", ["word", "word"])


def test_missing_empty_cut_and_badly_encoded_files(tmp_path: Path) -> None:
    with pytest.raises(DataFileError, match="no such file"):
        read_conll(tmp_path / "absent.conll")
    with pytest.raises(DataFileError, match="empty"):
        read_conll(write(tmp_path, b""))
    with pytest.raises(DataFileError, match="cannot be read to its end"):
        read_conll(write(tmp_path, gzip.compress(CHUNKS.encode() * 50)[:-20], "cut.conll.gz"))
    with pytest.raises(DataFileError, match=r"line 2: .*0xff"):
        read_conll(write(tmp_path, "Bücher O\nf\xff O\nBüro für O\n".encode("latin-1").replace(b"\xfc", "ü".encode())))


@pytest.mark.parametrize("name", ["out.conll", "out.conll.xz", "out.conll.zst"])
def test_tags_are_written_behind_those_that_are_there(tmp_path: Path, name: str) -> None:
    text = parse_conll(CHUNKS, "toy")
    write_conll(tmp_path / name, text, [["O", "B-X"], ["O", "O"]])
    back = read_conll(tmp_path / name)
    assert back.sentences[0] == [("The", "DT", "B-NP"), ("gull", "NN", "I-NP")]
    assert back.tags == [["O", "B-X"], ["O", "O"]]


def test_tags_that_do_not_fit_are_refused_and_nothing_is_written(tmp_path: Path) -> None:
    text = parse_conll(CHUNKS, "toy")
    with pytest.raises(InputError, match="Sentences: 2, sequences of tags: 1"):
        write_conll(tmp_path / "out.conll", text, [["O", "O"]])
    with pytest.raises(InputError, match="Sentence 1 has 2 tokens and 1 tags"):
        write_conll(tmp_path / "out.conll", text, [["O", "O"], ["O"]])
    for tag in ("", "B NP", "B\tNP", "O\n"):
        with pytest.raises(InputError, match=r"Sentence 1 has the tag .* could not be read back"):
            write_conll(tmp_path / "out.conll", text, [["O", "O"], ["O", tag]])
    assert list(tmp_path.iterdir()) == []


def test_public_files_have_the_counts_they_are_known_for(data_folder: Path) -> None:
    found = read_conll(data_folder / "conll2000" / "test.txt.xz")
    assert (len(found.sentences), found.n_tokens, found.columns) == (2012, 47377, ("word", "pos"))
    found = read_conll(data_folder / "wnut17" / "train.conll.xz")
    assert (len(found.sentences), found.n_tokens, found.separator) == (3394, 62730, "\t")
