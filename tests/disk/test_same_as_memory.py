"""What is refused, and which column plays a part, is the same on disk and in memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from riffler.data import read_collection
from riffler.disk import index_collection, open_collection
from riffler.errors import DataFileError


@pytest.mark.parametrize(
    "text",
    [
        '{"Title": "q"}\n{"title": "z", "Title": "q"}\n',
        '{"title": "p", "Title": "q"}\n{"x": 1, "Title": "z"}\n',
        '{"x": 1}\n{" title": "a", "y": 2, "Title": "b", "TITLE": 3}\n{"title": "c"}\n',
    ],
)
def test_of_keys_that_differ_in_their_capitals_the_first_that_comes_counts(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(text)
    index_collection(tmp_path / "a.jsonl", tmp_path / "c")
    disk, memory = open_collection(tmp_path / "c"), read_collection(tmp_path / "a.jsonl")
    assert list(disk.titles) == list(memory.titles)
    assert list(disk.ids) == list(memory.ids)


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("a.csv", "title,abstract\n,\n,\n", "no rows, or none that have anything in them"),
        ("a.csv", 'title\na\n"open', "a quotation mark is left open to the end of the file"),
        ("a.csv", 'title\na\n"open""\n', "a quotation mark is left open to the end of the file"),
    ],
)
def test_texts_that_are_none_are_refused(name: str, text: str, told: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    for read in (read_collection, lambda path: index_collection(path, tmp_path / "c")):
        with pytest.raises(DataFileError, match=told):
            read(tmp_path / name)
    (tmp_path / "b.csv").write_text("title\ngull\n")
    assert index_collection(tmp_path / "b.csv", tmp_path / "c").n_items == 1


def test_words_that_do_not_count_are_texts(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("title\nthe of\n")
    index_collection(tmp_path / "a.csv", tmp_path / "c")
    assert list(open_collection(tmp_path / "c").texts) == list(read_collection(tmp_path / "a.csv").texts)
