"""Columns are found wherever in a file they come, and are given back as they were, whatever the chunks made of them."""

from __future__ import annotations

import json
import shutil
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from riffler.data import read_collection
from riffler.data.text_columns import text_or_null
from riffler.disk import DiskCollection, IndexOptions, WantedColumns, index_collection, open_collection
from riffler.disk.parts import kept_words
from riffler.disk.reading import Place, Reading
from riffler.disk.sources import find_sources, survey
from riffler.errors import DataFileError
from tests.disk.documents import contents


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("riffler.disk.text_survey.BLOCK", 200)
    monkeypatch.setattr("riffler.disk.chunks.BLOCK", 200)
    monkeypatch.setattr("riffler.disk.chunks.MOST_RECORDS", 5)


def write_lines(path: Path, objects: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in objects), encoding="utf-8")
    return path


def indexed(path: Path | list[Path], columns: WantedColumns | None = None, n_items: int = 7) -> DiskCollection:
    first = path if isinstance(path, Path) else path[0]
    folder = first.parent / f"{first.name}.collection"
    index_collection(path, folder, IndexOptions(columns=columns or WantedColumns(), n_items=n_items), n_jobs=1)
    return open_collection(folder)


def assert_as_in_memory(path: Path, columns: WantedColumns | None = None) -> None:
    wanted = columns or WantedColumns()
    memory = read_collection(path, abstract=wanted.abstract, label=wanted.label)
    disk = indexed(path, wanted)
    assert tuple(disk.ids) == memory.ids
    assert list(disk.texts) == list(memory.texts)
    assert (disk.labels is None) == (memory.labels is None)
    if disk.labels is not None and memory.labels is not None:
        np.testing.assert_array_equal(disk.labels, memory.labels)
    together = disk.columns(np.arange(disk.n_items))
    assert together.select(memory.columns.columns).equals(memory.columns)
    for name in memory.columns.columns:
        assert disk.column(name).to_list() == text_or_null(memory.columns[name]).to_list()


@pytest.mark.usefixtures("small_chunks")
def test_columns_that_come_late_in_json_lines_are_taken_as_in_memory(tmp_path: Path) -> None:
    early = [{"id": f"a{n}", "title": f"On gull {n}", "year": 1990 + n} for n in range(20)]
    late = [{"id": f"b{n}", "abstract": f"Owl {n} flies", "included": n % 2, "title": None} for n in range(20)]
    assert_as_in_memory(write_lines(tmp_path / "a.jsonl", early + late))
    named = [{"What": one["abstract"], "Verdict": one["included"], "id": one["id"]} for one in late]
    columns = WantedColumns(abstract="what", label="verdict")
    assert_as_in_memory(write_lines(tmp_path / "b.jsonl", early + named), columns)


@pytest.mark.usefixtures("small_chunks")
def test_json_lines_may_begin_with_empty_objects(tmp_path: Path) -> None:
    filled: list[dict[str, Any]] = [{"title": f"On gull {n}", "included": n % 2} for n in range(10)]
    assert_as_in_memory(write_lines(tmp_path / "a.jsonl", [{}] * 200 + filled))


@pytest.mark.usefixtures("small_chunks")
def test_ids_that_come_late_are_missed_as_in_memory(tmp_path: Path) -> None:
    objects = [{"title": f"gull {n}"} for n in range(30)] + [{"title": "owl", "id": "x"}]
    path = write_lines(tmp_path / "a.jsonl", objects)
    for read in (read_collection, indexed):
        with pytest.raises(DataFileError, match="row 1 has no id in column 'id'"):
            read(path)


@pytest.mark.usefixtures("small_chunks")
def test_tags_that_come_late_are_taken_where_they_are_named(tmp_path: Path) -> None:
    path = tmp_path / "a.ris"
    early = "TY  - JOUR\nTI  - On gulls\nER  - \n" * 20
    path.write_text(early + "TY  - JOUR\nTI  - On owls\nC7  - They fly at night.\nER  - \n", encoding="utf-8")
    memory, disk = read_collection(path, abstract="c7"), indexed(path, WantedColumns(abstract="c7"))
    assert list(disk.texts) == list(memory.texts)
    assert disk.texts[20] == "On owls\nThey fly at night."
    with pytest.raises(DataFileError, match="no column 'C8' for the abstract"):
        index_collection(path, tmp_path / "d", IndexOptions(columns=WantedColumns(abstract="C8")))


def write_as(frame: pl.DataFrame, path: Path) -> Path:
    if path.suffix == ".csv":
        frame.write_csv(path)
    elif path.suffix == ".jsonl":
        frame.write_ndjson(path)
    else:
        frame.write_parquet(path)
    return path


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
@pytest.mark.parametrize(
    ("columns", "texts"),
    [
        ({"title": "On gulls", "text": "They fly"}, "On gulls\nThey fly"),
        ({"title": "not this", "BT": "On gulls", "abstract": "They fly"}, "On gulls\nThey fly"),
        ({"title": "On gulls", "abstract": "not this", "N2": "They fly"}, "On gulls\nThey fly"),
        ({"document title": "On gulls"}, "On gulls"),
    ],
)
def test_a_table_that_tells_the_tags_of_records_is_read_by_them_where_it_has_them(
    columns: dict[str, str], texts: str, ending: str, tmp_path: Path
) -> None:
    frame = pl.DataFrame({"record_tags": ["TY TI"], "id": ["7"], **{name: [text] for name, text in columns.items()}})
    path = write_as(frame, tmp_path / f"a.{ending}")
    assert_as_in_memory(path)
    assert read_collection(path).texts[0] == texts


UNREADABLE = {
    "bytes": pl.Series([b"gull", None]),
    "spans": pl.Series([timedelta(seconds=3), None]),
    "lists of lists": pl.Series([[[1]], None]),
    "lists of bytes": pl.Series([[b"gull"], None]),
    "records of bytes": pl.Series([{"deep": [b"gull"]}, None]),
    "arrays of lists": pl.Series([[[1]], None], dtype=pl.Array(pl.List(pl.Int64), 1)),
}


@pytest.mark.parametrize("what", UNREADABLE)
@pytest.mark.parametrize("name", ["title", "abstract", "id", "included"])
def test_a_column_that_holds_no_texts_is_named_with_its_file(what: str, name: str, tmp_path: Path) -> None:
    frame = pl.DataFrame({"id": ["a", "b"], "title": ["On gulls", "On owls"]})
    path = tmp_path / "a.parquet"
    frame.with_columns(UNREADABLE[what].alias(name)).write_parquet(path)
    for read in (read_collection, indexed):
        with pytest.raises(
            DataFileError, match=rf"^{path}: column '{name}' holds values of type .*, expected texts\. Name"
        ):
            read(path)


@pytest.mark.parametrize("what", UNREADABLE)
def test_what_is_no_text_is_no_doi_and_stops_nothing(what: str, tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    frame = pl.DataFrame({"title": ["On gulls", "On owls"], "DOI": ["10.1000/a", None]})
    frame.write_parquet(path)
    ids = read_collection(path).ids
    frame.with_columns(aid=UNREADABLE[what], raw=UNREADABLE[what]).write_parquet(path)
    assert tuple(indexed(path).ids) == read_collection(path).ids == ids


@pytest.mark.parametrize("fault", [pl.exceptions.PanicException, pl.exceptions.ComputeError])
def test_what_polars_cannot_take_is_told_with_the_file(
    fault: type[BaseException], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise fault("not yet implemented")

    pl.DataFrame({"title": ["On gulls"]}).write_parquet(tmp_path / "a.parquet")
    monkeypatch.setattr("riffler.disk.reading.piece_of", fail)
    with pytest.raises(
        DataFileError, match=r"a\.parquet: values from row 1 on are .*not yet implemented.* Write the file"
    ):
        indexed(tmp_path / "a.parquet")


def test_only_names_that_matter_are_held_of_a_file_with_many(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "a.jsonl", [{f"key {n}": 1, "title": "gull"} for n in range(3_000)])
    assert indexed(path, n_items=5_000).manifest.sources[0]["kinds"] == {"title": 8}


@pytest.mark.usefixtures("small_chunks")
def test_columns_are_whole_where_chunks_were_kept_in_different_ways(tmp_path: Path) -> None:
    numbers = [{"id": n, "title": n, "text": f"gull {n}"} for n in range(20)]
    words = [{"id": f"w{n}", "title": f"On owls {n}", "text": f"owl {n}"} for n in range(20)]
    path = write_lines(tmp_path / "a.jsonl", numbers + words)
    assert_as_in_memory(path)
    disk, memory = open_collection(tmp_path / "a.jsonl.collection"), read_collection(path)
    for rows in ([0, 39], [38, 1, 20], [25], [3]):
        taken = disk.take(rows).columns
        for name in ("id", "title", "text"):
            assert text_or_null(taken[name]).to_list() == memory.columns[rows][name].to_list()


@pytest.mark.usefixtures("small_chunks")
def test_numbers_are_texts_as_in_memory(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "title": [f"gull {n}" for n in range(20)],
            "whole": [float(n % 2) if n % 5 else None for n in range(20)],
            "part": [n / 2 for n in range(20)],
            "n": list(range(20)),
            "tags": [["a", "b"], []] * 10,
            "place": ["1.0"] * 20,
        }
    )
    frame.write_parquet(tmp_path / "a.parquet", row_group_size=4)
    assert_as_in_memory(tmp_path / "a.parquet")
    frame.drop("tags").write_csv(tmp_path / "b.csv")
    both = indexed([tmp_path / "b.csv", tmp_path / "a.parquet"])
    expected = [
        text_or_null(read_collection(tmp_path / name).columns["whole"]).to_list() for name in ("b.csv", "a.parquet")
    ]
    assert both.column("whole").to_list() == expected[0] + expected[1]
    assert "0.0" in expected[0]
    assert "0" in expected[1]


@pytest.mark.parametrize("name", ["a\\b", "it's", 'a"b', "$['x']", "a.b", "", "(x)"])
def test_a_column_is_found_whatever_its_name(name: str, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "a.jsonl", [{"title": f"gull {n}", name: f"v{n}"} for n in range(9)])
    assert indexed(path).column(name).to_list() == [f"v{n}" for n in range(9)]


def test_bytes_are_kept_as_text_however_deep_they_lie(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "title": ["gull", "owl"],
            "plain": [b"\xff", None],
            "listed": [[b"\xff", None], None],
            "struct": [{"a": b"\xff", "b": 1}, None],
            "deep": [[{"a": [b"\xff"]}], []],
            "array": pl.Series([[b"\xff"], None], dtype=pl.Array(pl.Binary, 1)),
        }
    )
    frame.write_parquet(tmp_path / "a.parquet")
    found = indexed(tmp_path / "a.parquet").columns([0, 1]).to_dicts()
    assert found[0]["plain"] == "/w=="
    assert found[0]["listed"] == ["/w==", None]
    assert found[0]["struct"] == {"a": "/w==", "b": 1}
    assert found[0]["deep"] == [{"a": ["/w=="]}]
    assert found[0]["array"] == ["/w=="]
    assert [found[1][name] for name in ("plain", "listed", "deep", "array")] == [None, None, [], None]


def test_rows_are_kept_a_few_at_a_time_where_the_names_of_columns_are_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = pl.DataFrame(
        {
            "title": [f"gull {n}" for n in range(60)],
            "x" * 500: ["1"] * 60,
            "nested": [{"y" * 500: n} for n in range(60)],
            "included": ["yes", "no"] * 30,
        }
    )
    frame.write_parquet(tmp_path / "a.parquet", row_group_size=23)
    whole = contents(Path(indexed(tmp_path / "a.parquet").folder))
    monkeypatch.setattr("riffler.disk.wide_rows.BYTES_OF_NAMES", 5_400)
    sources = survey(find_sources([tmp_path / "a.parquet"]), None, lambda share, doing: None)
    pieces = [piece for piece, _ in Reading(sources, WantedColumns(), 0, {}).pieces(Place())]
    assert [piece.n_items for piece in pieces[:6]] == [5, 5, 5, 5, 3, 5]
    shutil.rmtree(tmp_path / "a.parquet.collection")
    assert contents(Path(indexed(tmp_path / "a.parquet").folder)) == whole


def test_of_many_label_words_some_of_each_meaning_are_kept() -> None:
    spellings = {
        "".join(letters) for letters in np.array(np.meshgrid(*[["y", "Y"], ["e", "E"], ["s", "S"]])).T.reshape(-1, 3)
    }
    many = {f"{left}{word}{right}" for word in spellings for left in ("", " ", "  ") for right in ("", " ", "  ")}
    kept = kept_words(many, {"no", "-1", "?"}, None)
    assert {"no", "-1", "?"} < kept
    assert len(kept) < 30
    assert "spam" in kept_words({f"word {n}" for n in range(500)}, {"spam"}, ("spam",))
