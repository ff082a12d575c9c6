"""No id comes twice, however many files and partitions there are, and equal contents are numbered as in one file."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riffler.data.item_ids import content_ids, content_key
from riffler.disk import IndexOptions, WantedColumns, index_collection, open_collection
from riffler.disk import id_book as books
from riffler.disk.id_book import IdBook
from riffler.disk.packed_ids import PackedIds
from riffler.errors import DataFileError

IDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=4)


def anywhere(row: int) -> str:
    return f"row {row + 1}"


@given(ids=st.lists(IDS, max_size=40))
def test_packed_ids_give_back_what_was_packed(ids: list[str]) -> None:
    packed = PackedIds.of(ids)
    assert packed.series().to_list() == ids
    assert [packed[row] for row in range(len(ids))] == ids
    assert packed.series(2, 5).to_list() == ids[2:5]
    assert len(set(packed.hashes().tolist())) == len(set(ids))


@given(ids=st.lists(IDS, min_size=1, max_size=60), cuts=st.lists(st.integers(0, 60), max_size=4))
def test_a_given_id_is_refused_exactly_when_it_came_before(ids: list[str], cuts: list[int]) -> None:
    book = IdBook()
    bounds = sorted({0, len(ids), *(cut for cut in cuts if cut < len(ids))})
    seen: set[str] = set()
    for start, stop in pairwise(bounds):
        part = ids[start:stop]
        if len(set(part)) < len(part) or seen & set(part):
            with pytest.raises(DataFileError, match="has the same id"):
                book.add_given(pl.Series(part, dtype=pl.String), anywhere)
            return
        book.add_given(pl.Series(part, dtype=pl.String), anywhere)
        seen |= set(part)
    assert book.n_ids == len(ids)


@given(contents=st.lists(st.sampled_from(["a", "b", "c", "d"]), min_size=1, max_size=60), cut=st.integers(0, 60))
def test_equal_contents_are_numbered_as_in_one_file_wherever_it_is_cut(contents: list[str], cut: int) -> None:
    expected = content_ids((one,) for one in contents)
    digits = [content_key((one,)) for one in contents]
    book = IdBook()
    parts = [part for part in (digits[:cut], digits[cut:]) if part]
    found = [id for part in parts for id in book.add_contents(part, anywhere).series()]
    assert tuple(found) == expected
    again = IdBook()  # as after a kill, with the first part on disk
    again.restore(PackedIds.of(list(expected[:cut])), anywhere, digits[:cut])
    assert tuple(again.add_contents(digits[cut:], anywhere).series() if digits[cut:] else ()) == expected[cut:]


def test_an_id_made_of_the_content_passes_over_one_that_a_column_gave() -> None:
    book = IdBook()
    key = content_key(("a",))
    book.add_given(pl.Series([key, f"{key}-2"]), anywhere)
    assert book.add_contents([key, key], anywhere).series().to_list() == [f"{key}-3", f"{key}-4"]


def test_ids_of_equal_hashes_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def all_alike(self: PackedIds) -> object:
        import numpy as np

        return np.full(len(self), 7, dtype=np.uint64)

    monkeypatch.setattr(PackedIds, "hashes", all_alike)
    pl.DataFrame({"id": ["a", "b", "c"], "title": ["x1", "x2", "x3"]}).write_csv(tmp_path / "a.csv")
    index_collection(tmp_path / "a.csv", tmp_path / "c", IndexOptions(n_items=2))
    ids = open_collection(tmp_path / "c").ids
    assert [ids.row_of(id) for id in "abc"] == [0, 1, 2]
    assert "d" not in ids


def test_the_table_of_ids_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(books, "FIRST_SLOTS", 4)
    book = IdBook()
    for start in range(0, 500, 50):
        book.add_given(pl.Series([f"d{row}" for row in range(start, start + 50)]), anywhere)
    with pytest.raises(DataFileError, match="row 1 has the same id 'd490' as row 41"):
        book.add_given(pl.Series(["d490"]), anywhere)


def test_an_id_in_two_files_is_refused_with_both_places(tmp_path: Path) -> None:
    first = pl.DataFrame({"id": [f"p{n}" for n in range(30)], "title": ["gull"] * 30})
    first.write_csv(tmp_path / "first.csv")
    pl.DataFrame({"id": ["q1", "p17"], "title": ["owl", "owl"]}).write_csv(tmp_path / "second.csv")
    options = IndexOptions(n_items=10)
    with pytest.raises(DataFileError, match=r"second\.csv: row 2 has the same id 'p17' as .*first\.csv: row 18"):
        index_collection([tmp_path / "first.csv", tmp_path / "second.csv"], tmp_path / "c", options)
    index_collection(tmp_path / "first.csv", tmp_path / "d", options)
    told = r"second\.csv: row 2 has the same id 'p17' as .*first\.csv, as it was indexed before: row 18"
    with pytest.raises(DataFileError, match=told):
        index_collection(tmp_path / "second.csv", tmp_path / "d", options)
    assert open_collection(tmp_path / "d").n_items == 30


def test_ids_of_the_content_are_asked_for_by_name(tmp_path: Path) -> None:
    pl.DataFrame({"id": ["a", "a"], "title": ["gull", "gull"]}).write_csv(tmp_path / "a.csv")
    index_collection(tmp_path / "a.csv", tmp_path / "c", IndexOptions(columns=WantedColumns(id="content"), n_items=1))
    assert tuple(open_collection(tmp_path / "c").ids) == content_ids([("gull", "", "")] * 2)
    pl.DataFrame({"id": [" ", "b"], "title": ["gull", "owl"]}).write_csv(tmp_path / "b.csv")
    with pytest.raises(DataFileError, match="row 1 has no id in column 'id'"):
        index_collection(tmp_path / "b.csv", tmp_path / "d")
