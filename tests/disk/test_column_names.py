"""The columns of a collection are those of all its documents, wherever in the sources one first appears."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from riffler.disk import DiskCollection, IndexOptions, chunks, index_collection, open_collection
from riffler.disk.column_names import column_names


def indexed(sources: list[Path], folder: Path, n_items: int) -> DiskCollection:
    index_collection(sources, folder, IndexOptions(n_items=n_items, n_clusters=0))
    return open_collection(folder)


def names_of_all(collection: DiskCollection) -> set[str]:
    """Every column of every document, all read at once."""
    return set(collection.columns(np.arange(collection.n_items)).columns)


def test_a_record_of_json_lines_may_bring_a_column(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "MOST_RECORDS", 7)
    records = [{"id": f"d{n}", "title": f"about {n}", "year": 1990 + n} for n in range(100)]
    records[36] |= {"funder": "a bank"}
    records[99] |= {"doi": "10.1/x", "authors": [{"name": "Ng"}]}
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, records)))
    collection = indexed([tmp_path / "a.jsonl"], tmp_path / "out", 10)
    assert len(collection.blocks) == 10
    assert set(column_names(collection)) == names_of_all(collection) == {"funder", "doi", "authors", *records[0]}


def test_columns_of_all_sources_come_in_their_order(tmp_path: Path) -> None:
    pl.DataFrame({"id": ["a", "b"], "title": ["one", "two"], "year": [1, 2]}).write_csv(tmp_path / "a.csv")
    pl.DataFrame({"title": ["three"], "journal": ["J"]}).write_parquet(tmp_path / "b.parquet")
    (tmp_path / "c.ris").write_text("TY  - JOUR\nTI  - four\nER  -\n\nTY  - JOUR\nTI  - five\nPY  - 2001\nER  -\n")
    sources = [tmp_path / name for name in ("a.csv", "b.parquet", "c.ris")]
    collection = indexed(sources, tmp_path / "out", 2)
    names = column_names(collection)
    assert names[:5] == ["id", "title", "year", "riffler_id", "journal"]
    assert set(names) == names_of_all(collection)
    assert len(set(names)) == len(names)
