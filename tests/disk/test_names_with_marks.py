"""Names that look like patterns are names where they are there: no other file is read in their place."""

from __future__ import annotations

import io
from pathlib import Path

import polars as pl

from riffler.disk import index_collection, open_collection


def write_parquet(frame: pl.DataFrame, path: Path) -> None:
    packed = io.BytesIO()
    frame.write_parquet(packed)
    path.write_bytes(packed.getvalue())


def test_a_file_with_brackets_is_read_and_not_the_one_they_would_match(tmp_path: Path) -> None:
    write_parquet(pl.DataFrame({"id": ["p"], "title": ["gull"]}), tmp_path / "a[1].parquet")
    write_parquet(pl.DataFrame({"id": ["q"], "title": ["owl"]}), tmp_path / "a1.parquet")
    index_collection(tmp_path / "a[1].parquet", tmp_path / "c")
    collection = open_collection(tmp_path / "c")
    assert (list(collection.ids), list(collection.texts)) == (["p"], ["gull"])


def test_a_collection_with_brackets_shows_its_own_texts(tmp_path: Path) -> None:
    for name, title in (("a[1]", "gull"), ("a1", "owl"), ("b*", "heron"), ("bb", "egg")):
        (tmp_path / f"{title}.csv").write_text(f"id,title\n{title},{title}\n")
        index_collection(tmp_path / f"{title}.csv", tmp_path / name)
        assert list(open_collection(tmp_path / name).texts) == [title]
    assert list(open_collection(tmp_path / "a[1]").texts) == ["gull"]
    assert list(open_collection(tmp_path / "b*").texts) == ["heron"]
