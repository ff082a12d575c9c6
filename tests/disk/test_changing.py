"""What changes or goes while it is indexed is told as such, whatever the reader makes of it."""

from __future__ import annotations

import gzip
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from riffler.disk import IndexOptions, VectoriserSettings, index_collection
from riffler.errors import DataFileError, InputError
from tests.disk.documents import documents

OPTIONS = IndexOptions(n_items=20, vectoriser=VectoriserSettings(n_bits=10))


class Once:
    """Told how far the work is, it does something when the first documents are there."""

    def __init__(self, act: Callable[[], object]) -> None:
        self._act: Callable[[], object] | None = act

    def __call__(self, share: float, doing: str) -> None:
        if doing.startswith("indexing") and self._act is not None:
            act, self._act = self._act, None
            act()


def write(path: Path) -> Path:
    frame = documents(300).with_columns(pl.lit(["a", "b"]).alias("more") if path.suffix == ".jsonl" else pl.lit("a"))
    if path.suffix == ".parquet":
        frame.write_parquet(path, row_group_size=10)
    elif path.suffix == ".jsonl":
        frame.write_ndjson(path)
    elif path.suffix == ".gz":
        path.write_bytes(gzip.compress(frame.write_csv().encode()))
    else:
        frame.write_csv(path)
    return path


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.csv.gz", "a.parquet"])
@pytest.mark.parametrize("how", ["cut", "emptied", "removed", "a folder now"])
def test_a_file_that_is_changed_while_it_is_read_is_told_as_such(
    name: str, how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("riffler.disk.text_survey.BLOCK", 900)
    monkeypatch.setattr("riffler.disk.chunks.BLOCK", 900)
    path = write(tmp_path / name)

    def change() -> None:
        if how == "cut":
            os.truncate(path, path.stat().st_size // 2)
        elif how == "emptied":
            os.truncate(path, 0)
        else:
            path.unlink()
            if how == "a folder now":
                path.mkdir()

    with pytest.raises(DataFileError, match=rf"{name} was (changed|removed) while it was indexed\. Begin again"):
        index_collection(path, tmp_path / "c", OPTIONS, tell=Once(change))
    assert "panic" not in capfd.readouterr().err


def test_a_file_that_goes_while_it_is_looked_at_is_told_as_such(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "a.csv")

    def gone(path: Path, encoding: str | None) -> None:
        path.unlink()
        raise DataFileError("something else")

    monkeypatch.setattr("riffler.disk.sources.look_at_text", gone)
    with pytest.raises(DataFileError, match=r"a\.csv was removed while it was indexed"):
        index_collection(path, tmp_path / "c", OPTIONS)


@pytest.mark.parametrize("what", ["", "partitions"])
def test_a_collection_that_is_removed_while_it_is_made_is_told_as_such(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("riffler.disk.text_survey.BLOCK", 900)
    path = write(tmp_path / "a.csv")

    def remove() -> None:
        (tmp_path / "c" / what).rename(tmp_path / "moved")
        shutil.rmtree(tmp_path / "moved")

    with pytest.raises(InputError, match="or files in it, were removed while it was written to"):
        index_collection(path, tmp_path / "c", OPTIONS, tell=Once(remove))


def test_a_parquet_file_that_is_damaged_is_told_without_what_the_reader_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "a.parquet")

    def panic(*_: object) -> None:
        raise pl.exceptions.PanicException("a page of Rust")

    monkeypatch.setattr("riffler.disk.chunks.refuse_changed", panic)
    with pytest.raises(DataFileError, match=r"a\.parquet: not a whole Parquet file\. Copy or make it again\."):
        index_collection(path, tmp_path / "c", OPTIONS)
