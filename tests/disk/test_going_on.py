"""Indexing goes on after a kill at any moment, and ends with the files of a run that nothing ended."""

from __future__ import annotations

import shutil
import signal
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from riffler.data import read_collection
from riffler.data.atomic import atomic_write as whole_write
from riffler.disk import (
    IndexOptions,
    VectoriserSettings,
    WantedColumns,
    index_collection,
    is_collection,
    open_collection,
    reindex_collection,
)
from riffler.disk.manifest import Manifest, write_manifest
from riffler.disk.sources import Source, survey
from riffler.errors import DataFileError, InputError, LabelError
from riffler.features.text import TextFeatures
from tests.disk.documents import assert_same_rows, contents, documents, python, rows_of, write_parts

OPTIONS = IndexOptions(n_items=40, n_clusters=4, vectoriser=VectoriserSettings(n_bits=10))

KILLED = """
import os, signal, sys
from pathlib import Path
from riffler.disk import IndexOptions, VectoriserSettings, index_collection
left = int(sys.argv[1])
real = os.fsync
def fsync(handle):
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    real(handle)
os.fsync = fsync
options = IndexOptions(n_items=40, n_clusters=4, vectoriser=VectoriserSettings(n_bits=10))
index_collection(sys.argv[3:], sys.argv[2], options, n_jobs=2)
"""


class Ended(BaseException):
    """What ends a run in these tests."""


def end_at(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the nth file that is written from now on end the run, before it is there."""
    left = [n]

    def atomic_write(path: Path) -> object:
        left[0] -= 1
        if left[0] == 0:
            raise Ended
        return whole_write(path)

    monkeypatch.setattr("riffler.disk.files.atomic_write", atomic_write)
    monkeypatch.setattr("riffler.disk.manifest.atomic_write", atomic_write)


def end_early(paths: Path | list[Path], folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Begin to index, and end after the first partition."""
    with monkeypatch.context() as patch:
        end_at(12, patch)
        with pytest.raises(Ended):
            index_collection(paths, folder, OPTIONS, n_jobs=1)


def write_and_end(folder: Path, manifest: Manifest) -> None:
    write_manifest(folder, manifest)
    raise Ended


def end(*_: object) -> None:
    raise Ended


def index_until_done(run: Callable[[], object], monkeypatch: pytest.MonkeyPatch, step: int) -> int:
    """Run again and again, each time ended after some files more; return how often."""
    for n_times in range(1, 200):
        with monkeypatch.context() as patch:
            end_at(step, patch)
            try:
                run()
            except Ended:
                continue
            return n_times
    raise AssertionError("it does not go on")


@pytest.mark.parametrize("step", [9, 17])
def test_a_run_that_is_ended_again_and_again_makes_the_same_files(
    step: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("riffler.disk.chunks.MOST_RECORDS", 17)
    paths = write_parts(documents(150), tmp_path, 3)
    index_collection(paths, tmp_path / "whole", OPTIONS, n_jobs=1)
    monkeypatch.setattr("riffler.disk.wide_rows.BYTES_OF_NAMES", 300)  # some rows of a chunk at a time
    n_times = index_until_done(
        lambda: index_collection(paths, tmp_path / "ended", OPTIONS, n_jobs=1), monkeypatch, step
    )
    assert n_times > 2
    assert contents(tmp_path / "ended") == contents(tmp_path / "whole")


def test_an_empty_record_and_a_loose_quotation_mark_lose_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("riffler.disk.text_survey.BLOCK", 3100)
    path = tmp_path / "a.csv"
    lines = [f'"doc {number}","gulls, ""owls"" and {number} herons"\n' for number in range(150)]
    lines[45] = f'"doc 45","{"gull " * 300}"\n'  # a run that goes on cuts what follows elsewhere
    lines[60] = '"",""\n' + lines[60]
    lines[95] = 'doc 95,12" disc\n'
    path.write_text('"title","abstract"\n' + "".join(lines), encoding="utf-8")
    index_collection(path, tmp_path / "whole", OPTIONS, n_jobs=1)
    n_times = index_until_done(lambda: index_collection(path, tmp_path / "ended", OPTIONS, n_jobs=1), monkeypatch, 9)
    assert n_times > 2
    assert contents(tmp_path / "ended") == contents(tmp_path / "whole")
    assert open_collection(tmp_path / "ended").n_items == len(read_collection(path).ids) == 151


def test_a_kill_at_a_random_moment_loses_nothing(tmp_path: Path) -> None:
    paths = [str(path) for path in write_parts(documents(200), tmp_path, 2)]
    index_collection(paths, tmp_path / "whole", OPTIONS, n_jobs=2)
    rng = np.random.default_rng(5)
    n_kills = 0
    while True:
        process = python(KILLED, str(int(rng.integers(10, 60))), str(tmp_path / "killed"), *paths)
        _, told = process.communicate(timeout=300)
        if process.returncode == 0:
            break
        assert process.returncode == -signal.SIGKILL, told
        n_kills += 1
        assert is_collection(tmp_path / "killed")
        assert n_kills < 30
    assert n_kills > 0
    assert contents(tmp_path / "killed") == contents(tmp_path / "whole")
    open_collection(tmp_path / "killed").verify()


def test_what_is_not_finished_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    documents(100).write_csv(tmp_path / "a.csv")
    end_early(tmp_path / "a.csv", tmp_path / "c", monkeypatch)
    with pytest.raises(DataFileError, match=r"not finished\. Start the same `riffler index` again"):
        open_collection(tmp_path / "c")


def test_another_command_is_refused_and_what_was_begun_can_be_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents(100).write_csv(tmp_path / "a.csv")
    documents(9, prefix="e").write_csv(tmp_path / "b.csv")
    end_early(tmp_path / "a.csv", tmp_path / "c", monkeypatch)
    with pytest.raises(InputError, match=r"another `riffler index` \(of .*a\.csv, or with other options\) was begun"):
        index_collection(tmp_path / "b.csv", tmp_path / "c", OPTIONS)
    with pytest.raises(InputError, match="was begun here and is not finished"):
        index_collection(tmp_path / "a.csv", tmp_path / "c", IndexOptions(n_items=41))
    (tmp_path / "c" / "journal.jsonl").unlink()
    index_collection(tmp_path / "b.csv", tmp_path / "c", IndexOptions())
    assert open_collection(tmp_path / "c").n_items == 9


def test_a_file_that_changed_while_it_was_read_is_refused_and_a_later_one_may(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = write_parts(documents(150), tmp_path, 3)
    end_early(paths, tmp_path / "c", monkeypatch)
    documents(60, prefix="x").write_csv(paths[2])
    shutil.copytree(tmp_path / "c", tmp_path / "d")
    index_collection(paths, tmp_path / "c", OPTIONS)
    assert open_collection(tmp_path / "c").n_items == 160
    documents(150, seed=9).write_csv(paths[0])
    with pytest.raises(InputError, match=r"part0\.csv has changed since a part of it was indexed"):
        index_collection(paths, tmp_path / "d", OPTIONS)


def test_labels_of_files_that_were_read_before_an_end_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, word in (("a", "spam"), ("b", "ham")):
        documents(70, prefix=name).with_columns(included=pl.lit(word)).write_csv(tmp_path / f"{name}.csv")
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    options = replace(OPTIONS, columns=WantedColumns(positive=("spam",)))
    for word, is_there in (("spam", True), ("eggs", False)):
        options = replace(OPTIONS, columns=WantedColumns(positive=(word,)))
        n_times = 0
        with nullcontext() if is_there else pytest.raises(LabelError, match="no value of column 'included' equals"):
            n_times = index_until_done(
                partial(index_collection, paths, tmp_path / word, options, n_jobs=1), monkeypatch, 10
            )
        assert is_there == (n_times > 2)
    labels = open_collection(tmp_path / "spam").labels
    assert labels is not None
    assert labels.tolist() == [1] * 70 + [0] * 70


def test_the_end_of_a_line_that_was_being_written_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    documents(100).write_csv(tmp_path / "a.csv")
    index_collection(tmp_path / "a.csv", tmp_path / "whole", OPTIONS)
    end_early(tmp_path / "a.csv", tmp_path / "c", monkeypatch)
    with (tmp_path / "c" / "journal.jsonl").open("ab") as stream:
        stream.write(b'{"step": "parti')
    index_collection(tmp_path / "a.csv", tmp_path / "c", OPTIONS)
    assert contents(tmp_path / "c") == contents(tmp_path / "whole")


def test_a_command_that_was_killed_behind_its_last_moment_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents(50).write_csv(tmp_path / "a.csv")
    documents(9, prefix="e").write_csv(tmp_path / "b.csv")

    runs: list[Callable[[], Manifest]] = [
        lambda: index_collection(tmp_path / "a.csv", tmp_path / "c", OPTIONS),
        lambda: index_collection(tmp_path / "b.csv", tmp_path / "c"),
        lambda: reindex_collection(tmp_path / "c", n_clusters=3),
    ]
    for run in runs:
        journal = tmp_path / "c" / "journal.jsonl"
        with monkeypatch.context() as patch:
            patch.setattr("riffler.disk.commands.remove_strays", lambda *_: None)
            patch.setattr("riffler.disk.commands.write_manifest", write_and_end)
            with pytest.raises(Ended):
                run()
        assert journal.exists()
        before = open_collection(tmp_path / "c")
        assert run().generation == before.generation
        assert not journal.exists()
    assert open_collection(tmp_path / "c").n_items == 59


def test_frames_of_a_resumed_run_are_the_same_in_every_format(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("riffler.disk.text_survey.BLOCK", 900)
    monkeypatch.setattr("riffler.disk.chunks.BLOCK", 900)
    frame = documents(120)
    frame.write_ndjson(tmp_path / "a.jsonl")
    frame.with_columns(id=pl.concat_str(pl.lit("p"), "id")).write_parquet(tmp_path / "b.parquet", row_group_size=7)
    records = "".join(f"TY  - JOUR\nTI  - gull {n}\nAB  - swims\nER  - \n\n" for n in range(70))
    (tmp_path / "c.ris").write_text(records)
    (tmp_path / "d").mkdir()
    for n in range(30):
        (tmp_path / "d" / f"{n}.txt").write_text(f"owl {n}\nflies")
    paths = [tmp_path / name for name in ("a.jsonl", "b.parquet", "c.ris", "d")]
    options = IndexOptions(n_items=35, vectoriser=VectoriserSettings(n_bits=8))
    index_collection(paths, tmp_path / "whole", options)
    index_until_done(lambda: index_collection(paths, tmp_path / "ended", options), monkeypatch, 10)
    assert contents(tmp_path / "ended") == contents(tmp_path / "whole")


def test_a_file_that_is_replaced_behind_the_last_moment_of_a_command_is_not_taken_for_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents(50).write_csv(tmp_path / "a.csv")
    with monkeypatch.context() as patch:
        patch.setattr("riffler.disk.commands.write_manifest", write_and_end)
        with pytest.raises(Ended):
            index_collection(tmp_path / "a.csv", tmp_path / "c", OPTIONS)
    documents(9, prefix="e").write_csv(tmp_path / "a.csv")
    assert index_collection(tmp_path / "a.csv", tmp_path / "c", OPTIONS).n_items == 59
    assert "e8" in open_collection(tmp_path / "c").ids


def test_rows_that_come_late_are_weighed_and_found_like_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents(90).write_csv(tmp_path / "a.csv")
    (tmp_path / "b.csv").write_text("id,title,abstract\n")
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    with monkeypatch.context() as patch:
        patch.setattr("riffler.disk.commands.write_manifest", end)
        with pytest.raises(Ended):
            index_collection(paths, tmp_path / "c", OPTIONS)
    documents(9, prefix="e").write_csv(tmp_path / "b.csv")
    index_collection(paths, tmp_path / "c", OPTIONS)
    collection = open_collection(tmp_path / "c")
    assert collection.ids.row_of("e8") == 98
    collection.verify()
    assert [source["n_items"] for source in collection.manifest.sources] == [90, 9]
    texts = read_collection(tmp_path / "a.csv").texts[:] + read_collection(tmp_path / "b.csv").texts[:]
    np.testing.assert_array_equal(collection.vectoriser.idf_, TextFeatures(n_bits=10).fit(texts).idf_)
    assert_same_rows(rows_of(collection), collection.vectoriser.transform(texts))


def test_a_later_file_that_changed_is_known_as_what_a_part_of_it_was_indexed_as(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = write_parts(documents(150), tmp_path, 3)
    old = paths[1].with_name("old.csv")
    shutil.copy2(paths[1], old)
    end_early(paths, tmp_path / "c", monkeypatch)
    documents(90, prefix="x").write_csv(paths[1])
    new = paths[1].with_name("new.csv")
    shutil.copy2(paths[1], new)
    end_early(paths, tmp_path / "c", monkeypatch)  # now a part of the new one is indexed
    shutil.copy2(old, paths[1])
    with pytest.raises(InputError, match=r"part1\.csv has changed since a part of it was indexed"):
        index_collection(paths, tmp_path / "c", OPTIONS)
    shutil.copy2(new, paths[1])
    index_collection(paths, tmp_path / "c", OPTIONS)
    assert open_collection(tmp_path / "c").n_items == 190


@pytest.mark.parametrize("n_files", [1, 2])
def test_a_file_that_is_cut_between_two_looks_is_refused(
    n_files: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = write_parts(documents(90), tmp_path, n_files)

    def look_and_cut(*arguments: Any) -> list[Source]:  # noqa: ANN401 - whatever the real one takes
        looked_at = survey(*arguments)
        lines = paths[0].read_text().splitlines(keepends=True)
        paths[0].write_text("".join(lines[:20]))
        return looked_at

    with monkeypatch.context() as patch:
        patch.setattr("riffler.disk.indexing.survey", look_and_cut)
        with pytest.raises(DataFileError, match=r"part0\.csv was changed while it was indexed"):
            index_collection(paths, tmp_path / "c", OPTIONS)
    assert not (tmp_path / "c" / "manifest.json").exists()
    assert not (tmp_path / "c" / "journal.jsonl").exists()
    assert index_collection(paths, tmp_path / "c", OPTIONS).n_items == 19 + (45 if n_files == 2 else 0)
