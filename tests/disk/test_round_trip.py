"""A collection on disk holds what the same files give in memory, however they are cut."""

from __future__ import annotations

import gzip
import lzma
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riffler.data import read_collection
from riffler.data.ris import write_records
from riffler.disk import (
    DiskCollection,
    IndexOptions,
    VectoriserSettings,
    WantedColumns,
    index_collection,
    open_collection,
)
from riffler.errors import InputError, UnknownName
from riffler.features.text import TextFeatures
from tests.data.ris_records import to_records
from tests.disk.documents import assert_same_rows, documents, rows_of, write_parts


def indexed(paths: Path | str | list[Path], folder: Path, options: IndexOptions | None = None) -> DiskCollection:
    index_collection(paths, folder, options, n_jobs=2)
    return open_collection(folder)


@settings(max_examples=8)
@given(n=st.integers(1, 60), n_items=st.integers(1, 70), n_bytes=st.integers(1, 3000), n_files=st.integers(1, 4))
def test_rows_ids_texts_and_labels_are_those_in_memory(
    tmp_path_factory: pytest.TempPathFactory, n: int, n_items: int, n_bytes: int, n_files: int
) -> None:
    where = tmp_path_factory.mktemp("round")
    frame = documents(n)
    frame.write_csv(where / "all.csv")
    memory = read_collection(where / "all.csv")
    options = IndexOptions(n_items=n_items, n_bytes=n_bytes, vectoriser=VectoriserSettings(n_bits=10))
    disk = indexed(write_parts(frame, where, min(n, n_files)), where / "collection", options)
    features = TextFeatures(n_bits=10)
    assert_same_rows(rows_of(disk), features.fit_transform(memory.texts))
    np.testing.assert_array_equal(disk.vectoriser.idf_, features.idf_)
    assert all(block.n_rows <= n_items for block in disk.blocks)
    assert tuple(disk.ids) == memory.ids
    assert list(disk.texts) == list(memory.texts)
    assert list(disk.titles) == list(memory.titles)
    assert disk.labels is not None
    assert memory.labels is not None
    np.testing.assert_array_equal(disk.labels, memory.labels)
    rows = np.random.default_rng(n).permutation(n)[:7]
    assert disk.columns(rows).select(memory.columns.columns).equals(memory.columns[rows])
    assert_same_rows(disk.rows(rows), rows_of(disk)[rows])
    disk.verify()


def test_pairs_and_stop_words_are_those_in_memory(tmp_path: Path) -> None:
    documents(50).write_csv(tmp_path / "all.csv")
    settings = VectoriserSettings(n_bits=12, with_pairs=True, stop_words="none")
    disk = indexed(tmp_path / "all.csv", tmp_path / "c", IndexOptions(n_items=13, vectoriser=settings))
    features = TextFeatures(n_bits=12, ngram_range=(1, 2), stop_words=None)
    texts = read_collection(tmp_path / "all.csv").texts
    assert_same_rows(rows_of(disk), features.fit_transform(texts))
    assert_same_rows(disk.vectoriser.transform(texts), rows_of(disk))


def as_csv(frame: pl.DataFrame, where: Path) -> Path:
    frame.write_csv(where / "docs.csv")
    return where / "docs.csv"


def as_old_semicolons(frame: pl.DataFrame, where: Path) -> Path:
    path = where / "docs.csv"
    text = "sep=;\n" + frame.write_csv(separator=";")
    path.write_bytes(text.encode("utf-16"))
    return path


def as_tsv_gz(frame: pl.DataFrame, where: Path) -> Path:
    path = where / "docs.tsv.gz"
    path.write_bytes(gzip.compress(frame.write_csv(separator="\t").encode()))
    return path


def as_jsonl_xz(frame: pl.DataFrame, where: Path) -> Path:
    path = where / "docs.jsonl.xz"
    path.write_bytes(lzma.compress(frame.write_ndjson().encode()))
    return path


def as_parquet(frame: pl.DataFrame, where: Path) -> Path:
    frame.write_parquet(where / "docs.parquet", row_group_size=17)
    return where / "docs.parquet"


def as_xlsx(frame: pl.DataFrame, where: Path) -> Path:
    frame.write_excel(where / "docs.xlsx")
    return where / "docs.xlsx"


def as_ris(frame: pl.DataFrame, where: Path) -> Path:
    records = [
        [("TY", "JOUR"), ("TI", row["title"]), ("AU", "Ng"), ("AU", "Oz"), ("AB", row["abstract"] or "")]
        for row in frame.iter_rows(named=True)
    ]
    (where / "docs.ris").write_text(write_records(records), encoding="utf-8")
    return where / "docs.ris"


def as_pubmed_txt(frame: pl.DataFrame, where: Path) -> Path:
    records = [
        [("PMID", str(number)), ("TI", row["title"]), ("AB", (row["abstract"] or "").replace(" ", "\n", 1))]
        for number, row in enumerate(frame.iter_rows(named=True))
    ]
    (where / "docs.txt").write_text(write_records(records), encoding="utf-8", newline="\r\n")
    return where / "docs.txt"


def as_folder(frame: pl.DataFrame, where: Path) -> Path:
    for row in frame.iter_rows(named=True):
        path = where / "docs" / row["year"] / f"{row['id']}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{row['title']}\n{row['abstract'] or ''}", encoding="utf-8")
    (where / "docs" / "1991.txt").write_text("beside a folder", encoding="utf-8")
    return where / "docs"


FORMS = (as_csv, as_old_semicolons, as_tsv_gz, as_jsonl_xz, as_parquet, as_xlsx, as_ris, as_pubmed_txt, as_folder)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
def test_every_format_gives_what_it_gives_in_memory(
    form: Callable[[pl.DataFrame, Path], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("riffler.disk.text_survey.BLOCK", 700)
    monkeypatch.setattr("riffler.disk.chunks.BLOCK", 700)
    monkeypatch.setattr("riffler.disk.chunks.MOST_RECORDS", 9)
    path = form(documents(80), tmp_path)
    memory = read_collection(path)
    disk = indexed(path, tmp_path / "collection", IndexOptions(n_items=23))
    assert tuple(disk.ids) == memory.ids
    assert list(disk.texts) == list(memory.texts)
    assert (disk.labels is None) == (memory.labels is None)
    together = disk.columns(np.arange(disk.n_items))
    if "record_tags" in memory.columns.columns:
        assert to_records(together) == to_records(memory.columns)
    else:
        assert together.select(memory.columns.columns).equals(memory.columns)


def test_ids_are_found_and_missing_ones_named(tmp_path: Path) -> None:
    documents(300).write_csv(tmp_path / "all.csv")
    disk = indexed(tmp_path / "all.csv", tmp_path / "c", IndexOptions(n_items=70))
    assert disk.ids.row_of("d211") == 211
    assert disk.ids.rows_of(["d5", "d299", "d70"]).tolist() == [5, 299, 70]
    assert "d12" in disk.ids
    assert "D12" not in disk.ids
    assert disk.ids[-1] == "d299"
    assert disk.ids[68:72] == ("d68", "d69", "d70", "d71")
    assert disk.ids.block(69, 71).to_list() == ["d69", "d70"]
    with pytest.raises(UnknownName, match="no document has the id 'owl'"):
        disk.ids.row_of("owl")
    with pytest.raises(InputError, match="Rows are 0 to 299"):
        disk.texts.take(np.array([300]))


def test_part_of_a_collection_is_one_in_memory(tmp_path: Path) -> None:
    documents(90).write_csv(tmp_path / "all.csv")
    memory = read_collection(tmp_path / "all.csv")
    disk = indexed(tmp_path / "all.csv", tmp_path / "c", IndexOptions(n_items=20))
    rows = [85, 3, 40, 3]
    part, expected = disk.take(rows), memory.take(rows)
    assert part.ids == expected.ids
    assert part.texts == expected.texts
    assert disk.column("year").to_list() == memory.columns["year"].to_list()
    assert disk.column("Title").to_list() == memory.columns["title"].to_list()


def test_a_block_can_be_sent_to_another_process(tmp_path: Path) -> None:
    documents(50).write_csv(tmp_path / "all.csv")
    disk = indexed(tmp_path / "all.csv", tmp_path / "c", IndexOptions(n_items=20))
    sent = pickle.loads(pickle.dumps(disk.blocks[1]))
    assert_same_rows(sent.rows, disk.blocks[1].rows)
    assert (sent.first_row, sent.n_rows, sent.name) == (20, 20, "partition 00001")
    assert len(pickle.dumps(disk.blocks[1])) < 2_000  # names and checksums of its files, whatever is open
    base: Any = disk.blocks[1].rows.data
    while not isinstance(base, np.memmap):
        base = base.base
    assert base.filename is not None  # the rows are mapped, not read


def test_columns_are_chosen_by_name(tmp_path: Path) -> None:
    pl.DataFrame({"what": ["On gulls", "On owls"], "key2": ["b", "a"], "y": ["3", "7"]}).write_csv(tmp_path / "a.csv")
    columns = WantedColumns(text="What", id="key2", label="y", positive=("7",))
    disk = indexed(tmp_path / "a.csv", tmp_path / "c", IndexOptions(columns=columns))
    assert tuple(disk.ids) == ("b", "a")
    assert list(disk.abstracts) == ["On gulls", "On owls"]
    assert disk.labels is not None
    assert disk.labels.tolist() == [0, 1]


def test_a_pattern_names_all_files_it_matches_in_order(tmp_path: Path) -> None:
    write_parts(documents(40), tmp_path, 3)
    disk = indexed(str(tmp_path / "part*.csv"), tmp_path / "c")
    assert list(disk.ids) == [f"d{number}" for number in range(40)]
    assert [source["n_items"] for source in disk.manifest.sources] == [13, 13, 14]
