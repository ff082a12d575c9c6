"""What has grown since it was indexed gives its new documents; those that it had are not taken a second time."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from riffler.cli import run
from riffler.data import read_collection
from riffler.disk import IndexOptions, WantedColumns, index_collection, open_collection
from riffler.disk.manifest import JOURNAL
from riffler.errors import DataFileError, InputError
from tests.disk.documents import contents, documents

OPTIONS = IndexOptions(n_items=30)


def write(path: Path, frame: pl.DataFrame, has_ids: bool) -> None:
    (frame if has_ids else frame.drop("id")).write_csv(path)


@pytest.mark.parametrize("has_ids", [True, False])
def test_a_file_that_grows_gives_its_new_documents_each_time(has_ids: bool, tmp_path: Path) -> None:
    frame = documents(140)
    path = tmp_path / "a.csv"
    for number, n in enumerate((90, 100, 140)):
        write(path, frame[:n], has_ids)
        made = index_collection(path, tmp_path / "c", OPTIONS)
        assert made.sources[-1]["n_known"] == (0, 90, 100)[number]
        disk, memory = open_collection(tmp_path / "c"), read_collection(path)
        assert tuple(disk.ids) == memory.ids
        assert list(disk.texts) == list(memory.texts)
        np.testing.assert_array_equal(disk.labels, memory.labels)


def test_equal_new_documents_are_numbered_as_in_one_file(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    for n in (3, 5):
        pl.DataFrame({"title": ["gull"] * n}).write_csv(path)
        index_collection(path, tmp_path / "c")
    assert tuple(open_collection(tmp_path / "c").ids) == read_collection(path).ids


@pytest.mark.parametrize("has_ids", [True, False])
def test_a_file_that_was_touched_or_cut_has_nothing_new(has_ids: bool, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    write(path, documents(90), has_ids)
    index_collection(path, tmp_path / "c", OPTIONS)
    before = contents(tmp_path / "c")
    os.utime(path, ns=(0, 0))
    assert index_collection(path, tmp_path / "c").generation == 1
    write(path, documents(90)[:60], has_ids)
    assert index_collection(path, tmp_path / "c").n_items == 90
    assert contents(tmp_path / "c") == before


@pytest.mark.parametrize("has_ids", [True, False])
def test_documents_that_moved_within_their_file_are_refused(has_ids: bool, tmp_path: Path) -> None:
    path, frame = tmp_path / "a.csv", documents(90).with_columns(title=pl.int_range(90).cast(pl.String) + " gulls")
    write(path, frame, has_ids)
    index_collection(path, tmp_path / "c", OPTIONS)
    new = documents(1, seed=1, prefix="e")
    for changed, row in ((pl.concat([frame[:40], new, frame[40:]]), 42), (frame[1:], 1), (frame[::-1], 1)):
        write(path, changed, has_ids)
        with pytest.raises(InputError, match=rf"row {row} is a document that .* has from this file already"):
            index_collection(path, tmp_path / "c")
    assert open_collection(tmp_path / "c").n_items == 90


@pytest.mark.parametrize("has_ids", [True, False])
def test_a_file_that_was_replaced_is_new_as_far_as_it_is(has_ids: bool, tmp_path: Path) -> None:
    path, frame = tmp_path / "a.csv", documents(90).with_columns(title=pl.int_range(90).cast(pl.String) + " gulls")
    other = documents(100, prefix="e").with_columns(title=pl.int_range(100).cast(pl.String) + " owls")
    write(path, frame, has_ids)
    index_collection(path, tmp_path / "c", OPTIONS)
    write(path, pl.concat([frame[:40], other[40:41], frame[41:], other[90:95]]), has_ids)
    assert index_collection(path, tmp_path / "c", OPTIONS).sources[-1]["n_known"] == 89
    assert list(open_collection(tmp_path / "c").titles)[90:] == ["40 owls", *(f"{n} owls" for n in range(90, 95))]
    os.utime(path, ns=(0, 0))
    assert index_collection(path, tmp_path / "c").generation == 2
    write(path, other[:30], has_ids)
    index_collection(path, tmp_path / "c", OPTIONS)
    assert list(open_collection(tmp_path / "c").titles)[96:] == [f"{n} owls" for n in range(30)]


def test_growth_goes_on_after_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.csv"
    for name in ("c", "d"):
        write(path, documents(200)[:50], has_ids=False)
        os.utime(path, ns=(0, 0))
        index_collection(path, tmp_path / name, OPTIONS)
        write(path, documents(200), has_ids=False)
        os.utime(path, ns=(1, 1))
        if name == "d":
            with monkeypatch.context() as patch:
                patch.setattr("riffler.disk.publishing.Publisher.weigh", _interrupt)
                with pytest.raises(KeyboardInterrupt):
                    index_collection(path, tmp_path / "d", OPTIONS)
        index_collection(path, tmp_path / name, OPTIONS)
    assert contents(tmp_path / "c") == contents(tmp_path / "d")


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def test_a_folder_that_grows_gives_its_new_texts_wherever_they_stand(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    for turn, names in enumerate((["b", "sub/d"], ["a", "c", "sub/e"], ["sub/a"])):
        for name in names:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / f"{name}.txt").write_text(f"Gull {name}\nIt flies.", encoding="utf-8")
        made = index_collection(folder, tmp_path / "c", OPTIONS)
        assert (made.sources[-1]["n_items"], made.sources[-1]["n_known"]) == (len(names), (0, 2, 5)[turn])
    disk, memory = open_collection(tmp_path / "c"), read_collection(folder)
    assert [id for id in disk.ids if "/" not in id] == ["b.txt", "a.txt", "c.txt"]
    assert dict(zip(disk.ids, disk.texts, strict=True)) == dict(zip(memory.ids, memory.texts, strict=True))
    (folder / "a.txt").write_text("An edited text stays as it was.", encoding="utf-8")
    assert index_collection(folder, tmp_path / "c").generation == 3


@pytest.mark.parametrize(
    ("before", "now"), [("content", "content"), ("content", None), (None, "title"), ("title", "title")]
)
def test_texts_that_have_grown_are_refused_where_names_are_not_their_ids(
    before: str | None, now: str | None, tmp_path: Path
) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.txt").write_text("Gull\nIt flies.", encoding="utf-8")
    index_collection(folder, tmp_path / "c", replace(OPTIONS, columns=WantedColumns(id=before)))
    (folder / "b.txt").write_text("Owl\nIt flies.", encoding="utf-8")
    told = "known by their names" if before == now else "ids were made of"
    with pytest.raises(InputError, match=told):
        index_collection(folder, tmp_path / "c", replace(OPTIONS, columns=WantedColumns(id=now)))
    assert open_collection(tmp_path / "c").n_items == 1
    assert not (tmp_path / "c" / JOURNAL).exists()


def test_a_file_whose_ids_would_come_from_elsewhere_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    write(path, documents(50), has_ids=True)
    index_collection(path, tmp_path / "c", OPTIONS)
    write(path, documents(60), has_ids=True)
    with pytest.raises(InputError, match=r"made of the column 'id' when .* made of the contents now"):
        index_collection(path, tmp_path / "c", replace(OPTIONS, columns=WantedColumns(id="content")))


def test_many_texts_between_those_that_are_there(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    for start in (0, 1, 2):
        for number in range(start, 1200, 3):
            (folder / f"{number:04}.txt").write_text(f"Gull {number}\nIt flies.", encoding="utf-8")
        index_collection(folder, tmp_path / "c", replace(OPTIONS, n_items=100_000))
    disk = open_collection(tmp_path / "c")
    assert sorted(disk.ids) == [f"{number:04}.txt" for number in range(1200)]
    assert all(title == f"Gull {int(id[:4])}" for id, title in zip(disk.ids, disk.titles, strict=True))


def test_the_command_says_how_many_were_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, folder = tmp_path / "a.csv", tmp_path / "c"
    for n in (50, 60):
        write(path, documents(60)[:n], has_ids=False)
        assert run(["index", str(path), "--out", str(folder)]) == 0
    assert "documents that were there before and stay as they were: 50" in capsys.readouterr().out
    write(tmp_path / "b.csv", documents(9, prefix="e").with_columns(title=pl.lit("owl")), has_ids=False)
    for told in ("9 documents are new", "Nothing is new: all documents of what was named are there already"):
        assert run(["index", str(tmp_path / "b.csv"), str(path), "--out", str(folder)]) == 0
        printed = capsys.readouterr().out
        assert told in printed
        assert "there before" not in printed  # that was another time


def test_the_same_pattern_with_more_files_adds_those(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pattern, whole = str(tmp_path / "m*.csv"), documents(300)
    for turn in range(3):
        whole[100 * turn : 100 * (turn + 1)].write_csv(tmp_path / f"m{turn}.csv")
        if turn == 2:  # ended, and begun again
            with monkeypatch.context() as patch:
                patch.setattr("riffler.disk.indexing.put_in_place", _interrupt)
                with pytest.raises(KeyboardInterrupt):
                    index_collection(pattern, tmp_path / "c", OPTIONS)
        made = index_collection(pattern, tmp_path / "c", OPTIONS)
        assert (made.generation, made.n_items, len(made.sources)) == (turn + 1, 100 * (turn + 1), turn + 1)
    before = contents(tmp_path / "c")
    assert index_collection(pattern, tmp_path / "c", OPTIONS).generation == 3
    assert contents(tmp_path / "c") == before
    with pytest.raises(InputError, match="has 0 clusters"):
        index_collection(pattern, tmp_path / "c", IndexOptions(n_clusters=5))


def test_an_id_of_another_file_is_said_to_be_of_what_was_indexed_before(tmp_path: Path) -> None:
    documents(9).write_csv(tmp_path / "a.csv")
    index_collection(tmp_path / "a.csv", tmp_path / "c", OPTIONS)
    documents(20)[8:].write_csv(tmp_path / "b.csv")
    with pytest.raises(
        DataFileError, match=r"b\.csv: row 1 has the same id 'd8' as .*a\.csv, as it was indexed before: row 9"
    ):
        index_collection(tmp_path / "b.csv", tmp_path / "c", OPTIONS)
