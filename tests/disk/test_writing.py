"""One process at a time writes, a full disk loses nothing, and documents that are added are seen all or not at all."""

from __future__ import annotations

import errno
import os
import resource
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import fields, replace
from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest

from riffler.data import read_collection
from riffler.disk import (
    IndexOptions,
    VectoriserSettings,
    WantedColumns,
    index_collection,
    open_collection,
    reindex_collection,
)
from riffler.disk import files as disk_files
from riffler.disk.lock import locked
from riffler.disk.reading import Place, Reading
from riffler.disk.sources import Source, find_sources, survey
from riffler.errors import DataFileError, DiskFull, InputError, LabelError
from riffler.features.clusters import soft_clusters
from riffler.features.text import TextFeatures
from riffler.stopping import control_order
from tests.disk.documents import assert_same_rows, contents, documents, python, rows_of, write_parts

OPTIONS = IndexOptions(n_items=40, vectoriser=VectoriserSettings(n_bits=10))

HOLD = """
import sys, time
from pathlib import Path
from riffler.disk.lock import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(600)
"""

FILL = """
import resource, signal, sys
from riffler.cli import run
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY))
sys.exit(run(["index", sys.argv[2], "--out", sys.argv[3], "--partition", "500"]))
"""


def test_two_processes_do_not_index_into_one_folder(tmp_path: Path) -> None:
    documents(50).write_csv(tmp_path / "a.csv")
    (tmp_path / "c").mkdir()
    holder = python(HOLD, str(tmp_path / "c"))
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(InputError, match=f"another process \\(number {holder.pid}\\) is indexing into this folder"):
            index_collection(tmp_path / "a.csv", tmp_path / "c")
    finally:
        holder.kill()  # and its lock goes with it
        holder.communicate()
    index_collection(tmp_path / "a.csv", tmp_path / "c")
    with locked(tmp_path / "c"), pytest.raises(InputError, match=f"number {os.getpid()}"):
        reindex_collection(tmp_path / "c")
    assert open_collection(tmp_path / "c").n_items == 50


def test_a_full_disk_is_told_and_indexing_goes_on_when_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents(200).write_csv(tmp_path / "a.csv")
    index_collection(tmp_path / "a.csv", tmp_path / "whole", OPTIONS)
    real, left = disk_files._write_all, [0]
    told: list[str] = []
    for _ in range(40):
        left[0] = 12_000

        def write_all(stream, piece) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
            left[0] -= len(piece)
            if left[0] < 0:
                real(stream, piece[: len(piece) // 2])
                raise OSError(errno.ENOSPC, "No space left on device")
            real(stream, piece)

        monkeypatch.setattr(disk_files, "_write_all", write_all)
        try:
            index_collection(tmp_path / "a.csv", tmp_path / "c", OPTIONS, n_jobs=1)
        except DiskFull as error:
            told.append(str(error))
            continue
        break
    assert len(told) > 2
    assert all("What was finished stays; make room and start the same command again" in one for one in told)
    assert contents(tmp_path / "c") == contents(tmp_path / "whole")


def fail(number: int) -> Callable[..., NoReturn]:
    """What raises an error of the system, whatever it is called with."""

    def raise_it(*_: object) -> NoReturn:
        raise OSError(number, os.strerror(number))

    return raise_it


@pytest.mark.parametrize("name", ["open", "ftruncate", "pwrite"])
def test_a_disk_that_is_full_from_the_start_is_told(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    documents(5).write_csv(tmp_path / "a.csv")
    with monkeypatch.context() as patch:
        patch.setattr(f"riffler.disk.lock.os.{name}", fail(errno.ENOSPC))
        with pytest.raises(DiskFull, match=r"no room left on the disk .* make room and start the same command"):
            index_collection(tmp_path / "a.csv", tmp_path / "c")
    assert index_collection(tmp_path / "a.csv", tmp_path / "c").n_items == 5


@pytest.mark.parametrize(
    ("number", "told"),
    [
        (errno.EWOULDBLOCK, r"another process \(number unknown\) is indexing"),
        (errno.EACCES, r"another process \(number unknown\) is indexing"),
        (errno.ENOLCK, r"cannot be locked \(No locks available\).* Name a folder on another disk"),
    ],
)
def test_a_folder_that_cannot_be_locked_is_not_one_that_another_process_has(
    number: int, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fcntl.flock", fail(number))
    with pytest.raises(InputError, match=told), locked(tmp_path):
        pass


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES])
def test_a_folder_that_cannot_be_written_to_is_said(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("riffler.disk.lock.os.open", fail(number))
    with pytest.raises(InputError, match=r"cannot be written to \(.*\), and was not changed"), locked(tmp_path):
        pass


def test_a_limit_of_the_system_is_told_in_words(tmp_path: Path) -> None:
    documents(2_000).write_csv(tmp_path / "a.csv")
    assert resource.RLIMIT_FSIZE is not None
    process = python(FILL, "60000", str(tmp_path / "a.csv"), str(tmp_path / "c"))
    _, told = process.communicate(timeout=300)
    assert process.returncode == 2
    assert "riffler: error:" in told
    assert "no room left on the disk" in told
    index_collection(tmp_path / "a.csv", tmp_path / "d", IndexOptions(n_items=500))
    process = python(FILL, str(1 << 30), str(tmp_path / "a.csv"), str(tmp_path / "c"))
    _, told = process.communicate(timeout=300)
    assert process.returncode == 0, told
    assert contents(tmp_path / "c") == contents(tmp_path / "d")


def test_added_documents_are_weighed_as_those_that_are_there_and_stand_behind_them(tmp_path: Path) -> None:
    first, second = documents(90), documents(50, seed=7, prefix="e")
    first.write_csv(tmp_path / "a.csv")
    second.write_csv(tmp_path / "b.csv")
    index_collection(tmp_path / "a.csv", tmp_path / "c", OPTIONS)
    before = open_collection(tmp_path / "c")
    idf = before.vectoriser.idf_
    index_collection(tmp_path / "b.csv", tmp_path / "c", IndexOptions(n_items=30))
    after = open_collection(tmp_path / "c")
    assert after.generation == before.generation + 1
    assert [block.n_rows for block in after.blocks] == [40, 40, 10, 30, 20]
    np.testing.assert_array_equal(after.vectoriser.idf_, idf)
    texts = read_collection(tmp_path / "b.csv").texts
    features = TextFeatures(n_bits=10).use_idf(idf)
    assert_same_rows(after.rows(np.arange(90, 140)), features.transform(texts))
    assert_same_rows(rows_of(before), after.rows(np.arange(90)))  # one that is open goes on
    assert after.ids.row_of("e49") == 139
    assert after.ids.row_of("d3") == 3


def test_nothing_of_added_documents_is_seen_before_all_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    documents(90).write_csv(tmp_path / "a.csv")
    documents(90, prefix="e").write_csv(tmp_path / "b.csv")
    index_collection(tmp_path / "a.csv", tmp_path / "c", OPTIONS)
    with monkeypatch.context() as patch:
        patch.setattr("riffler.disk.publishing.Publisher.look_up", _interrupt)
        with pytest.raises(KeyboardInterrupt):
            index_collection(tmp_path / "b.csv", tmp_path / "c")
    seen = open_collection(tmp_path / "c")
    assert seen.n_items == 90
    seen.verify()
    index_collection(tmp_path / "b.csv", tmp_path / "c")
    assert open_collection(tmp_path / "c").n_items == 180


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def test_what_cannot_be_added_is_refused(tmp_path: Path) -> None:
    documents(90).write_csv(tmp_path / "a.csv")
    documents(9, prefix="e").write_csv(tmp_path / "b.csv")
    index_collection(tmp_path / "a.csv", tmp_path / "c", OPTIONS)
    with pytest.raises(InputError, match="made in one way, and this one has"):
        index_collection(tmp_path / "b.csv", tmp_path / "c", IndexOptions(vectoriser=VectoriserSettings(n_bits=11)))
    with pytest.raises(InputError, match="has 0 clusters; `riffler reindex --clusters` changes that"):
        index_collection(tmp_path / "b.csv", tmp_path / "c", IndexOptions(n_clusters=5))
    with pytest.raises(InputError, match="is a collection already"):
        index_collection(tmp_path / "c", tmp_path / "d")
    assert open_collection(tmp_path / "c").n_items == 90


def test_reindexing_gives_the_rows_of_an_index_made_at_once(tmp_path: Path) -> None:
    paths = write_parts(documents(140), tmp_path, 2)
    index_collection(paths, tmp_path / "once", OPTIONS)
    index_collection(paths[0], tmp_path / "c", OPTIONS)
    index_collection(paths[1], tmp_path / "c")
    stale = open_collection(tmp_path / "c")
    reindex_collection(tmp_path / "c")
    anew = open_collection(tmp_path / "c")
    assert anew.generation == 3
    assert_same_rows(rows_of(anew), rows_of(open_collection(tmp_path / "once")))
    assert list(anew.ids) == list(stale.ids)
    names = {path.name for path in (tmp_path / "c" / "partitions" / "00000").iterdir()}
    assert {"data.3.npy"} == {name for name in names if name.startswith("data")}
    with pytest.raises(InputError, match=r"was changed since it was opened \(generation 2, now 3\)"):
        _ = stale.blocks[0].rows


def test_clusters_are_those_of_all_rows_in_memory_and_of_documents_that_are_added(tmp_path: Path) -> None:
    documents(300).write_csv(tmp_path / "a.csv")
    documents(40, seed=3, prefix="e").write_csv(tmp_path / "b.csv")
    options = IndexOptions(n_items=70, n_clusters=6, vectoriser=VectoriserSettings(n_bits=10))
    index_collection(tmp_path / "a.csv", tmp_path / "c", options)
    disk = open_collection(tmp_path / "c")
    order = control_order(disk.ids, "clusters")  # in memory rows are taken in the order in which they stand
    expected = soft_clusters(rows_of(disk)[order], n_clusters=6).memberships[np.argsort(order)]
    found = np.concatenate([block.memberships.toarray() for block in disk.blocks if block.memberships is not None])
    assert found.shape == (300, 7)
    np.testing.assert_allclose(found[:, : expected.shape[1]], expected.toarray(), atol=1e-5)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-5)
    index_collection(tmp_path / "b.csv", tmp_path / "c")
    after = open_collection(tmp_path / "c")
    assert after.clusters is not None
    last = after.blocks[-1]
    assert last.memberships is not None
    np.testing.assert_array_equal(last.memberships.toarray(), after.clusters.assign(last.rows).toarray())
    reindex_collection(tmp_path / "c", n_clusters=3, seed=1)
    assert open_collection(tmp_path / "c").manifest.clusters == {"n_clusters": 3, "seed": 1}
    reindex_collection(tmp_path / "c", n_clusters=0)
    bare = open_collection(tmp_path / "c")
    assert bare.clusters is None
    assert bare.blocks[0].memberships is None
    bare.verify()


def test_reindexing_goes_on_after_an_end_and_the_old_rows_stay_until_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = write_parts(documents(200), tmp_path, 2)
    index_collection(paths[0], tmp_path / "c", OPTIONS)
    index_collection(paths[1], tmp_path / "c")
    before = contents(tmp_path / "c")
    with monkeypatch.context() as patch:
        patch.setattr("riffler.disk.publishing.Publisher.assign", _interrupt)
        with pytest.raises(KeyboardInterrupt):
            reindex_collection(tmp_path / "c", n_clusters=4)
    after = contents(tmp_path / "c")
    assert {name: after[name] for name in before} == before
    open_collection(tmp_path / "c").verify()
    with pytest.raises(InputError, match="a `riffler reindex` was begun here and is not finished"):
        index_collection(tmp_path / "part0.csv", tmp_path / "c")
    with pytest.raises(InputError, match="was begun here"):
        reindex_collection(tmp_path / "c", n_clusters=5)
    reindex_collection(tmp_path / "c", n_clusters=4)
    disk = open_collection(tmp_path / "c")
    disk.verify()
    assert disk.manifest.n_for_idf == 200
    assert not (tmp_path / "c" / "journal.jsonl").exists()


def test_labels_that_are_strange_only_later_are_refused_as_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("riffler.disk.chunks.MOST_RECORDS", 5)
    rows = "".join(f"d{n},gull,{'1' if n % 2 else '-1'}\n" for n in range(40))
    (tmp_path / "a.csv").write_text(f"id,title,included\n{rows}")
    with pytest.raises(LabelError, match="has 1 and -1 and no 0"):
        index_collection(tmp_path / "a.csv", tmp_path / "c")
    (tmp_path / "b.csv").write_text(f"id,title,included\n{rows}x,owl,0\n")
    assert index_collection(tmp_path / "b.csv", tmp_path / "d").has_labels
    (tmp_path / "e.csv").write_text(f"id,title,included\n{rows}x,owl,perhaps\n")
    with pytest.raises(LabelError, match="row 41 has 'perhaps'"):
        index_collection(tmp_path / "e.csv", tmp_path / "e")


def test_labels_are_judged_by_all_files_of_a_command(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,title,included\n1,gull,spam\n2,owl,ham\n")
    (tmp_path / "b.csv").write_text("id,title,included\n3,heron,ham\n")
    options = IndexOptions(columns=WantedColumns(positive=("spam",)))
    index_collection([tmp_path / "b.csv", tmp_path / "a.csv"], tmp_path / "c", options)
    labels = open_collection(tmp_path / "c").labels
    assert labels is not None
    assert labels.tolist() == [0, 1, 0]
    missing = IndexOptions(columns=WantedColumns(positive=("eggs",)))
    with pytest.raises(LabelError, match=r"b\.csv and 1 more: no value of column 'included' equals 'eggs'"):
        index_collection([tmp_path / "b.csv", tmp_path / "a.csv"], tmp_path / "d", missing)
    (tmp_path / "e.csv").write_text("id,title,included\n1,gull,1\n2,owl,-1\n")
    (tmp_path / "f.csv").write_text("id,title,included\n3,heron,0\n")
    index_collection([tmp_path / "e.csv", tmp_path / "f.csv"], tmp_path / "e")
    with pytest.raises(LabelError, match="has 1 and -1 and no 0"):
        index_collection(tmp_path / "e.csv", tmp_path / "g")


def test_thousands_of_small_files_are_not_gone_over_for_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    n_bytes = 0

    class Counted(Source):
        """A source that counts how often its size is asked for."""

        def __getattribute__(self, name: str) -> object:
            nonlocal n_bytes
            n_bytes += name == "n_bytes"
            return super().__getattribute__(name)

    paths = write_parts(documents(300), tmp_path, 100)
    found = survey(find_sources(paths), None, lambda share, doing: None)
    sources = [Counted(**{field.name: getattr(one, field.name) for field in fields(one)}) for one in found]
    reading = Reading(sources, WantedColumns(), 0, {})
    shares = [reading.share(place) for _, place in reading.pieces(Place())]
    assert shares == sorted(shares)
    assert n_bytes < 500
    n_asked = 0

    def done(future: Future[object]) -> bool:
        nonlocal n_asked
        n_asked += 1
        return future._state == "FINISHED"

    monkeypatch.setattr(Future, "done", done)
    index_collection(paths, tmp_path / "c")
    assert n_asked < 500


def test_progress_goes_from_nothing_to_all_and_never_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("riffler.disk.chunks.MOST_RECORDS", 17)
    paths = write_parts(documents(200), tmp_path, 3)
    documents(100, prefix="x").write_parquet(tmp_path / "x.parquet")
    documents(90, prefix="y").write_csv(tmp_path / "b.csv")
    told: list[tuple[float, str]] = []
    added: list[float] = []
    anew: list[float] = []
    options = replace(OPTIONS, n_clusters=3)
    index_collection(
        [*paths, tmp_path / "x.parquet"], tmp_path / "c", options, tell=lambda share, doing: told.append((share, doing))
    )
    index_collection(tmp_path / "b.csv", tmp_path / "c", tell=lambda share, doing: added.append(share))
    reindex_collection(tmp_path / "c", n_clusters=2, tell=lambda share, doing: anew.append(share))
    for shares in ([share for share, _ in told], added, anew):
        assert shares == sorted(shares)
        assert (shares[0], shares[-1]) == (0.0, 1.0)
        assert len(set(shares)) > 5
    assert any("300 documents" in doing for _, doing in told)


def test_a_file_without_rows_is_noted_and_nothing_at_all_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("title,abstract\n")
    documents(5).write_csv(tmp_path / "b.csv")
    with pytest.raises(DataFileError, match="there is nothing to index"):
        index_collection(tmp_path / "a.csv", tmp_path / "c")
    made = index_collection([tmp_path / "a.csv", tmp_path / "b.csv"], tmp_path / "d")
    assert [source["n_items"] for source in made.sources] == [0, 5]
