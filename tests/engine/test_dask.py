"""The engine on Dask gives what the local one gives, bit for bit, whatever the partitioning and whoever dies."""

from __future__ import annotations

import shutil
import threading
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from pathlib import Path
from time import sleep
from typing import Any

import numpy as np
import psutil
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from riffler.engine import DaskEngine, LocalEngine, TlsFiles, at_worker, check_engine, engine_from
from riffler.engine.at_worker import Share
from riffler.engine.dask import settled, shares_of
from riffler.engine.mapped import MappedArray, mapped_block
from riffler.engine.products import pulled_back
from riffler.engine.tls import need_trusted
from riffler.errors import DataFileError, EngineError, InputError, UnknownName
from riffler.features.blocked_rows import BlockedRows
from riffler.records import FloatArray, is_sparse
from tests.engine.clusters import kill_one, new_cluster
from tests.engine.partitions import cut, hessian_times, matrix, on_disk, sums_of_a_worker_that_is_killed
from tests.waiting import wait_until

distributed: Any = pytest.importorskip("distributed")


@given(data=st.data())
@settings(max_examples=12, phases=[Phase.generate])
def test_answers_are_those_of_the_local_engine_for_any_partitions(cluster: Any, data: st.DataObject) -> None:  # noqa: ANN401
    n_rows = data.draw(st.integers(1, 40))
    kind = data.draw(st.sampled_from(["dense", "csr"]))
    seed = data.draw(st.integers(0, 99))
    X = matrix(kind, n_rows, seed=seed)
    rng = np.random.default_rng(seed)
    w, ties = rng.integers(-1, 2, 7).astype(float), rng.permutation(n_rows)  # many equal scores
    excluded = rng.random(n_rows) < data.draw(st.sampled_from([0.0, 0.2, 0.9, 1.0]))
    blocks = cut(X, data.draw(st.lists(st.integers(0, n_rows), max_size=4)))
    other = LocalEngine(cut(X, data.draw(st.lists(st.integers(0, n_rows), max_size=4))))
    same = LocalEngine(blocks, threads=2)
    with DaskEngine(blocks, cluster) as engine:
        np.testing.assert_array_equal(engine.scores(w, 0.3), other.scores(w, 0.3))
        for order in (None, ties):
            n = data.draw(st.sampled_from([1, 5, n_rows]))
            left_out = data.draw(st.sampled_from([excluded, np.flatnonzero(excluded), None]))
            found, wanted = (one.best(w, n, left_out, 0.3, order) for one in (engine, other))
            np.testing.assert_array_equal(found.rows, wanted.rows)
            np.testing.assert_array_equal(found.scores, wanted.scores)
        weight = rng.random(n_rows)
        total = engine.sum(pulled_back, weight)
        np.testing.assert_array_equal(total, same.sum(pulled_back, weight))
        np.testing.assert_allclose(total, other.sum(pulled_back, weight), rtol=1e-6, atol=1e-12)
        turned = partial(hessian_times, direction=w)
        np.testing.assert_array_equal(engine.sum(turned, weight), same.sum(turned, weight))
        assert engine.map(_n_rows) == same.map(_n_rows)
        some = rng.integers(0, n_rows, data.draw(st.integers(0, 9)))
        rows, wanted_rows = (one.rows(some) for one in (engine, same))
        assert type(rows) is type(wanted_rows)
        assert rows.dtype == wanted_rows.dtype
        np.testing.assert_array_equal(dense(rows), dense(wanted_rows))


def dense(rows: Any) -> Any:  # noqa: ANN401 - matrices
    return rows.toarray() if is_sparse(rows) else rows


def _n_rows(block: Any) -> int:  # noqa: ANN401 - a matrix
    return int(block.shape[0])


def test_a_new_order_of_ties_is_sent_and_the_old_one_forgotten(cluster: Any) -> None:  # noqa: ANN401
    X = np.zeros((10, 2))
    with DaskEngine(cut(X, [4]), cluster) as engine:
        for order in (np.arange(10), np.arange(10)[::-1].copy(), np.roll(np.arange(10), 3)):
            wanted = np.argsort(order)[:3]
            assert engine.best(np.ones(2), 3, ties=order).rows.tolist() == wanted.tolist()
            assert engine.best(np.ones(2), 3, ties=order).rows.tolist() == wanted.tolist()
            assert engine.best(np.ones(2), 3).rows.tolist() == [0, 1, 2]


@pytest.mark.parametrize("kind", ["dense", "csr"])
def test_mapped_blocks_are_opened_by_the_workers(cluster: Any, kind: str, tmp_path: Path) -> None:  # noqa: ANN401
    parts = cut(matrix(kind, 90), [20, 20, 50])
    blocks = [on_disk(part, tmp_path, str(at)) for at, part in enumerate(parts)]
    assert all(mapped_block(block) is not None for block in blocks if block.shape[0])
    assert mapped_block(parts[0]) is None
    w = np.random.default_rng(1).normal(size=7)
    excluded, ties, local = np.arange(0, 90, 7), np.random.default_rng(2).permutation(90), LocalEngine(parts)
    with DaskEngine(BlockedRows(blocks), cluster) as engine:
        for weights in (w, np.zeros(7), w[::-1]):
            np.testing.assert_array_equal(engine.scores(weights), local.scores(weights))
            for order in (ties, None):
                found, wanted = (one.best(weights, 20, excluded, ties=order) for one in (engine, local))
                np.testing.assert_array_equal(found.rows, wanted.rows)
                np.testing.assert_array_equal(found.scores, wanted.scores)


@pytest.mark.parametrize("longest", [0, 100_000])
def test_workers_of_its_own_draw_what_the_local_engine_finds(
    longest: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blocks that are files, among them an empty one, of some stretches each; whatever is asked, by several at once.

    Weights and excluded rows are told by files, or sent, as they are longer than something or not.
    """
    monkeypatch.setattr("riffler.engine.drawing.LONG", longest)
    parts = cut(matrix("csr", 90_000), [20_000, 20_000, 50_000])
    blocks = [on_disk(part, tmp_path, str(at)) for at, part in enumerate(parts)]
    rng, local = np.random.default_rng(1), LocalEngine(parts)
    orders = [rng.permutation(90_000), None, rng.permutation(90_000).astype(np.int32), None]
    with DaskEngine(blocks, n_workers=2) as engine, ThreadPoolExecutor(3) as pool:
        assert engine._drawing is not None
        folder = engine._drawing._scratch.folder
        for order in orders:
            for share in (0.0, 0.001, 0.5, 1.0):
                w, excluded = rng.integers(-1, 2, 7).astype(float), rng.random(90_000) < share  # many equal scores
                for n in (1, 30, 100_000):
                    found, wanted = (one.best(w, n, excluded, 0.2, order) for one in (engine, local))
                    np.testing.assert_array_equal(found.rows, wanted.rows)
                    np.testing.assert_array_equal(found.scores, wanted.scores)
        weights = rng.normal(size=(12, 7))
        for found, w in zip(pool.map(lambda w: engine.best(w, 9), weights), weights, strict=True):
            np.testing.assert_array_equal(found.rows, local.best(w, 9).rows)
        np.testing.assert_array_equal(engine.scores(w), local.scores(w))
        told = {"told 0", "told 3"} if longest == 0 else set()
        assert {file.name for file in folder.iterdir()} == {"lock", "taken", "ties 2", *told}
    assert not folder.exists()
    engine.close()


@pytest.mark.parametrize("lost", [["told 0"], ["taken"], ["ties 1"], ["told 0", "taken", "ties 1"]])
def test_tidying_up_among_temporary_files_costs_a_second_try_at_most(
    lost: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between two steps the weights alone are removed; within one, files that the workers are just told of."""
    monkeypatch.setattr("riffler.engine.drawing.LONG", 0)
    block = on_disk(matrix("csr", 900), tmp_path, "a")
    w, ties, local = np.random.default_rng(0).normal(size=(3, 7)), np.arange(900)[::-1].copy(), LocalEngine([block])
    with DaskEngine([block], n_workers=2) as engine:
        engine.best(w[0], 9)
        assert engine._drawing is not None
        folder, call, tidied = engine._drawing._scratch.folder, engine._call, list[str]()
        (folder / "told 0").unlink()
        np.testing.assert_array_equal(engine.best(w[2], 9).rows, local.best(w[2], 9).rows)

        def tidy_and_call(*what: Any) -> dict[str, Any]:  # noqa: ANN401
            if not tidied:
                tidied.extend(file.name for file in folder.iterdir() if file.name in lost)
                for name in tidied:
                    (folder / name).unlink()
            return call(*what)

        monkeypatch.setattr(engine, "_call", tidy_and_call)
        np.testing.assert_array_equal(engine.best(w[1], 9, ties=ties).rows, local.best(w[1], 9, ties=ties).rows)
        assert sorted(tidied) == sorted(lost)


def test_a_folder_that_is_tidied_up_within_a_step_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    block = on_disk(matrix("csr", 900), tmp_path, "a")
    w, ties, local = np.random.default_rng(0).normal(size=7), np.arange(900)[::-1].copy(), LocalEngine([block])
    with DaskEngine([block], n_workers=2) as engine:
        assert engine._drawing is not None
        folder, call = engine._drawing._scratch.folder, engine._call

        def tidy_and_call(*what: Any) -> dict[str, Any]:  # noqa: ANN401
            shutil.rmtree(folder, ignore_errors=True)
            return call(*what)

        monkeypatch.setattr(engine, "_call", tidy_and_call)
        np.testing.assert_array_equal(engine.best(w, 9, ties=ties).rows, local.best(w, 9, ties=ties).rows)
        assert engine._drawing._scratch.folder != folder


def test_blocks_in_memory_are_not_sent_to_all_workers() -> None:
    with DaskEngine([np.eye(2), np.eye(2)], n_workers=1) as engine:
        assert engine._drawing is None
        assert engine.best(np.array([1.0, 2.0]), 1).rows.tolist() == [1]


def test_a_cluster_ends_with_an_engine_that_cannot_begin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    block = on_disk(np.eye(2), tmp_path, "a")
    before = set(psutil.Process().children(recursive=True))
    with monkeypatch.context() as patch:
        patch.setattr("riffler.engine.dask.DrawingList", partial(raising, EngineError("no room")))
        with pytest.raises(EngineError, match="no room"):
            DaskEngine([block], n_workers=1)
    workers = [one for one in set(psutil.Process().children(recursive=True)) - before if is_worker(one)]
    assert not workers


def raising(error: Exception, *_: object) -> None:
    raise error


def is_worker(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE and "spawn_main" in " ".join(process.cmdline())
    except psutil.NoSuchProcess:
        return False


def test_what_nobody_asks_for_is_let_go_by_itself_and_sent_again_when_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    share = Share("old", 0, 1, 0, 2)
    held, mapped = OrderedDict[str, Any](), dict[str, Any]()
    monkeypatch.setattr(at_worker, "_HELD", held)
    monkeypatch.setattr(at_worker, "_WRITTEN_OVER", mapped)
    monkeypatch.setattr(at_worker, "_WATCHED", watched := threading.Lock())
    monkeypatch.setattr(at_worker, "IDLE_SECONDS", 0.2)
    np.arange(3.0).tofile(tmp_path / "told")
    told = MappedArray(str(tmp_path / "told"), "<f8", (3,), 0)
    asked, again = at_worker.Asked(share, (), at_worker.Sent((np.eye(2),))), at_worker.Asked(share, (), None)
    for _ in range(2):
        assert at_worker._answers(rows_and_told, None, (told,), [asked], 1) == [(2, 3.0)]
        wait_until(lambda: not held and not mapped and not watched.locked())
        assert at_worker._answers(rows_and_told, None, (told,), [again], 1) == [at_worker.NotHeld()]
    wait_until(lambda: not watched.locked())


def rows_and_told(engine: LocalEngine, ties: None, share: Share, told: FloatArray) -> tuple[int, float]:
    return engine.n_rows, float(told.sum())


def test_threads_may_ask_one_engine_at_once(cluster: Any, tmp_path: Path) -> None:  # noqa: ANN401
    parts = cut(matrix("csr", 400), [100, 200, 300])
    blocks = [on_disk(part, tmp_path, str(at)) for at, part in enumerate(parts)]
    local, weights = LocalEngine(parts), np.random.default_rng(5).normal(size=(24, 7))
    with DaskEngine(blocks, cluster) as engine, ThreadPoolExecutor(3) as pool:
        for found, w in zip(pool.map(lambda w: engine.best(w, 9), weights), weights, strict=True):
            np.testing.assert_array_equal(found.rows, local.best(w, 9).rows)


def test_a_block_that_workers_cannot_open_is_named(cluster: Any, tmp_path: Path) -> None:  # noqa: ANN401
    block = on_disk(np.ones((50, 7)), tmp_path, "lost")
    (tmp_path / "lost.npy").unlink()
    with DaskEngine([block], cluster) as engine, pytest.raises(DataFileError, match=r"lost\.npy"):
        engine.scores(np.ones(7))


def test_work_that_leaves_the_program_is_one_error_and_ends_no_worker(cluster: Any) -> None:  # noqa: ANN401
    there = cluster.scheduler_info["workers"].keys()
    with DaskEngine([np.eye(2), np.eye(2)], cluster) as engine:
        for leave in (SystemExit(3), KeyboardInterrupt()):
            with pytest.raises(EngineError, match=rf"The work left by {type(leave).__name__}\(.*Let it raise"):
                engine.map(partial(_leaving, leave))
        assert engine.map(_n_rows) == [2, 2]
    assert cluster.scheduler_info["workers"].keys() == there


def _leaving(how: BaseException, block: Any) -> None:  # noqa: ANN401 - a matrix
    raise how


@pytest.mark.parametrize("mapped", [True, False])
def test_a_worker_killed_in_the_middle_changes_nothing(cluster: Any, mapped: bool, tmp_path: Path) -> None:  # noqa: ANN401
    parts = cut(matrix("csr", 60), [10, 30, 45])
    blocks = [on_disk(part, tmp_path, str(at)) for at, part in enumerate(parts)] if mapped else parts
    marks = tmp_path / "marks"
    marks.mkdir()
    work = partial(sums_of_a_worker_that_is_killed, marks=str(marks), killed_at=30)
    weight = np.arange(60.0)
    with DaskEngine(blocks, cluster) as engine:
        total = engine.sum(work, weight)
    assert len(list(marks.iterdir())) == 2
    np.testing.assert_array_equal(total, LocalEngine(parts).sum(pulled_back, weight))


@pytest.mark.parametrize("whose", ["given", "its own"])
def test_workers_killed_at_any_moment_change_no_suggestion(cluster: Any, whose: str, tmp_path: Path) -> None:  # noqa: ANN401
    blocks, ties = cut(matrix("csr", 20_000), [5_000, 11_000]), np.random.default_rng(3).permutation(20_000)
    if whose == "its own":
        blocks = [on_disk(part, tmp_path, str(at)) for at, part in enumerate(blocks)]
    excluded = np.zeros(20_000, dtype=bool)
    local, rng = LocalEngine(blocks), np.random.default_rng(4)
    with DaskEngine(blocks, cluster if whose == "given" else None, n_workers=2) as engine:
        workers = cluster if whose == "given" else engine._cluster._own
        for _ in range(4):
            killer = threading.Timer(float(rng.random()) / 20, kill_one, (workers, rng.random()))
            killer.start()
            is_last = False
            while not is_last:
                is_last = not killer.is_alive()  # one step more, as it may be noticed late
                w = rng.normal(size=7)
                found, wanted = (one.best(w, 10, excluded, ties=ties) for one in (engine, local))
                np.testing.assert_array_equal(found.rows, wanted.rows)
                excluded[found.rows] = True


def test_a_scheduler_that_goes_away_is_one_error() -> None:
    cluster = new_cluster()
    engine = DaskEngine([np.eye(2), np.eye(2)], cluster.scheduler_address, timeout=3)
    assert engine.scores(np.ones(2)).tolist() == [1.0] * 4
    cluster.close()
    for _ in range(2):
        with pytest.raises(EngineError, match="went away"):
            engine.scores(np.ones(2))
    engine.close()


@pytest.mark.parametrize("whose", ["given", "its own"])
def test_an_engine_that_was_closed_says_so(cluster: Any, whose: str, tmp_path: Path) -> None:  # noqa: ANN401
    """Within a step, by another thread, and in those that come after it."""
    block = on_disk(np.eye(2), tmp_path, "a")
    engine = DaskEngine([block], cluster if whose == "given" else None, n_workers=1)
    with ThreadPoolExecutor(1) as pool:
        under_way = pool.submit(engine.map, partial(_in_two_seconds, mark=str(tmp_path / "begun")))
        wait_until((tmp_path / "begun").exists)
        engine.close()
        with pytest.raises(EngineError, match="This engine was closed"):
            under_way.result(60)
    for ask in (partial(engine.map, _n_rows), partial(engine.best, np.ones(2), 1), partial(engine.scores, np.ones(2))):
        with pytest.raises(EngineError, match="This engine was closed"):
            ask()
    if whose == "its own":
        assert engine._drawing is not None
        assert not engine._drawing._scratch.folder.exists()


def _in_two_seconds(block: Any, mark: str) -> int:  # noqa: ANN401 - a matrix
    Path(mark).touch()
    sleep(2)
    return int(block.shape[0])


def test_a_cluster_of_its_own_needs_certificates_to_be_talked_to() -> None:
    with DaskEngine([np.eye(2)], n_workers=1) as engine:
        assert engine.best(np.array([1.0, 2.0]), 1).rows.tolist() == [1]
        address = engine._cluster.name
        assert address.startswith("tls://127.0.0.1")
        with pytest.raises(EngineError, match="No Dask scheduler answers"):
            DaskEngine([np.eye(2)], address.replace("tls", "tcp"), timeout=2)


def test_a_scheduler_with_certificates_is_talked_to_by_name(tmp_path: Path) -> None:
    files = written_certificates(tmp_path)
    security = distributed.Security(
        tls_ca_file=str(files.ca), require_encryption=True,
        **{f"tls_{role}_{what}": str(getattr(files, what))
           for role in ("scheduler", "worker", "client") for what in ("cert", "key")},
    )  # fmt: skip
    with new_cluster(1, protocol="tls://", security=security) as cluster:
        name = cluster.scheduler_address.replace("tls://", "dask://")
        with engine_from(name, [np.eye(2)], files) as engine:  # type: ignore[attr-defined]
            assert engine.scores(np.ones(2)).tolist() == [1.0, 1.0]


def written_certificates(folder: Path) -> TlsFiles:
    """Write a certificate that signs itself, as PEM files."""
    made = distributed.Security.temporary()
    for name, text in (("ca", made.tls_ca_file), ("cert", made.tls_client_cert), ("key", made.tls_client_key)):
        (folder / f"{name}.pem").write_text(text)
    return TlsFiles(folder / "ca.pem", folder / "cert.pem", folder / "key.pem")


def test_names_of_engines_are_checked_before_anything_is_done(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match=r"No engine called 'spark'\. Known: dask, dask://host:port, local"):
        engine_from("spark", [np.eye(2)])
    for bad in ("dask://", "dask://localhost", "dask://:8786", "dask://localhost:many", "dask://localhost:1/x"):
        with pytest.raises(InputError, match="no address of a scheduler"):
            check_engine(bad)
    with pytest.raises(EngineError, match="TLS only"):
        check_engine("dask://search.example:8786")
    with pytest.raises(InputError, match="ca must be a PEM file"):
        TlsFiles(tmp_path / "ca", tmp_path / "cert", tmp_path / "key")


@pytest.mark.parametrize("scheme", ["tcp", "ws", "ucx"])
def test_who_is_on_another_machine_is_talked_to_with_certificates_only(scheme: str) -> None:
    need_trusted([f"{scheme}://127.0.0.1:1", "tls://10.0.0.1:1"])
    far, words = f"{scheme}://10.0.0.1:1", r"10\.0\.0\.1:1 is on another machine and has no TLS"
    with pytest.raises(EngineError, match=words):
        need_trusted([far])
    with pytest.raises(EngineError, match=words):
        DaskEngine([np.eye(2)], far)


def test_a_worker_that_comes_later_is_looked_at_too(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ANN401
    with DaskEngine([np.eye(2)], cluster) as engine:
        there = engine._cluster._threads_now()
        monkeypatch.setattr(engine._cluster, "_threads_now", lambda: {**there, "tcp://10.0.0.1:1": 1})
        with pytest.raises(EngineError, match="is on another machine and has no TLS"):
            engine._cluster.threads_by_worker()
    with DaskEngine([np.eye(2)], cluster) as engine:
        engine._cluster._places.clear()
        monkeypatch.setattr("riffler.engine.at_worker.version", lambda name: "99")  # here, not at the workers
        with pytest.raises(EngineError, match="Install the same on both"):
            engine._cluster.threads_by_worker()


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(EngineError, match=r"pip install 'riffler\[dask\]'"):
        check_engine("dask")


def test_no_scheduler_at_an_address_is_one_error() -> None:
    with pytest.raises(EngineError, match=r"No Dask scheduler answers at tcp://127\.0\.0\.1:9"):
        DaskEngine([np.eye(2)], "tcp://127.0.0.1:9", timeout=1)


@pytest.mark.parametrize("n_blocks", [1, 4, 33, 200])
def test_shares_cover_all_blocks_once(n_blocks: int) -> None:
    starts = np.cumsum([0, *np.random.default_rng(n_blocks).integers(0, 100, n_blocks)])
    shares = shares_of(starts, 4, "x")
    assert (shares[0].first_block, shares[-1].end_block) == (0, n_blocks)
    assert all(a.end_block == b.first_block for a, b in pairwise(shares))
    assert (shares[0].first_row, shares[-1].end_row) == (0, starts[-1])


def test_shares_are_spread_by_threads_and_move_only_when_they_must() -> None:
    shares = shares_of(np.arange(0, 2000, 10), 3, "x")
    home = settled(shares, {}, {"a": 1, "b": 2})
    rows = rows_by_worker(home)
    assert rows["b"] == pytest.approx(2 * rows["a"], rel=0.15)
    firsts = [home[share] for share in shares]
    assert sum(one != other for one, other in pairwise(firsts)) == 1, "each has neighbours"
    assert settled(shares, home, {"a": 1, "b": 2}) == home
    left = settled(shares, home, {"a": 1, "c": 2})
    assert {share for share in shares if left[share] == "a"} >= {share for share in shares if home[share] == "a"}
    assert set(left.values()) == {"a", "c"}


def test_workers_that_come_late_get_their_part() -> None:
    shares = shares_of(np.arange(0, 1010, 10), 1, "x")
    home = settled(shares, {}, {"w0": 1})
    rows = rows_by_worker(settled(shares, home, {f"w{number}": 1 for number in range(12)}))
    assert len(rows) == 12
    assert max(rows.values()) <= 2 * min(rows.values())


def rows_by_worker(home: dict[Share, str]) -> dict[str, int]:
    return {worker: sum(one.n_rows for one in home if home[one] == worker) for worker in set(home.values())}
