"""Partitions that the workers of Dask weigh and cluster are those that threads make."""

from __future__ import annotations

import os
import signal
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from riffler.disk import IndexOptions, index_collection, open_collection, reindex_collection
from riffler.engine import pool_from
from riffler.engine.cluster import Cluster
from riffler.errors import DataFileError, EngineError
from tests.disk.documents import contents, documents
from tests.engine.clusters import new_cluster

pytest.importorskip("distributed")
OPTIONS = IndexOptions(n_items=60, n_clusters=5)


def test_a_collection_made_on_dask_is_the_one_that_threads_make(cluster: Any, tmp_path: Path) -> None:  # noqa: ANN401
    documents(200).write_csv(tmp_path / "a.csv")
    name = cluster.scheduler_address.replace("tcp://", "dask://")
    made = []
    for where in ("local", name):
        folder = tmp_path / where[:4]
        with pool_from(where) as pool:
            index_collection(tmp_path / "a.csv", folder, OPTIONS, pool=pool)
            reindex_collection(folder, n_clusters=4, seed=1, pool=pool)
        open_collection(folder).verify()
        made.append({file: data for file, data in contents(folder).items() if file.endswith((".npy", ".npz"))})
    assert len(made[0]) > 20
    assert made[0].keys() == made[1].keys()
    assert [file for file in made[0] if made[0][file] != made[1][file] and not file.startswith("clusters")] == []


def test_a_scheduler_that_goes_away_while_partitions_are_weighed_is_one_error_and_it_goes_on(tmp_path: Path) -> None:
    documents(200).write_csv(tmp_path / "a.csv")
    short_lived = new_cluster(n_workers=1)
    name = short_lived.scheduler_address.replace("tcp://", "dask://")

    def end_it(share: float, doing: str) -> None:
        if doing == "weights":
            short_lived.close()

    with pytest.raises(EngineError, match="went away"), pool_from(name) as pool:
        index_collection(tmp_path / "a.csv", tmp_path / "c", OPTIONS, pool=pool, tell=end_it)
    assert index_collection(tmp_path / "a.csv", tmp_path / "c", OPTIONS).n_items == 200


def joined(cluster: Any, timeout: float = 20.0) -> Cluster:  # noqa: ANN401 - Dask's own
    return Cluster(cluster.scheduler_address, tls=None, n_workers=None, timeout=timeout)


def test_a_scheduler_that_went_away_long_ago_is_the_same_error() -> None:
    """Dask's client gives up looking for it after a while, and then has errors of its own."""
    short_lived = new_cluster(n_workers=1)
    long_ago = joined(short_lived, timeout=0.5)
    with long_ago.pool() as pool:
        assert list(pool.map(abs, [-1])) == [1]
        short_lived.close()
        end = time.monotonic() + 20
        while long_ago._client.status != "closed" and time.monotonic() < end:
            time.sleep(0.05)
        with pytest.raises(EngineError, match=r"The Dask scheduler at .* went away"):
            list(pool.map(abs, [-1, 2]))
    long_ago.close()


def test_errors_of_the_work_are_raised_as_they_are(cluster: Any) -> None:  # noqa: ANN401
    with pool_from(cluster.scheduler_address.replace("tcp://", "dask://")) as pool:
        for error in (DataFileError("lost.npy is lost."), TimeoutError("its own"), OSError(28, "No space left")):
            with pytest.raises(type(error), match=str(error.args[-1])):
                pool.submit(raised, error).result()
    with pytest.raises(ZeroDivisionError), joined(cluster).pool():
        1 / 0  # noqa: B018 - what is done beside it is nobody's fault there


def raised(error: Exception) -> None:
    raise error


def test_work_that_ends_its_workers_is_one_error(cluster: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:  # noqa: ANN401
    kill = partial(pid_where_enough_were_killed, marks=tmp_path, enough=99)
    name = cluster.scheduler_address.replace("tcp://", "dask://")
    with monkeypatch.context() as patch:
        patch.setattr(cluster.scheduler, "allowed_failures", 0)  # else Dask tries it three times more
        with pytest.raises(EngineError, match=r"ended its workers .* several times.* memory"), pool_from(name) as pool:
            list(pool.map(kill, [1]))
    monkeypatch.setattr("riffler.engine.worker_pool.MOST_TRIES", 1)
    with pytest.raises(EngineError, match=r"ended its workers .* several times.* memory"), pool_from(name) as pool:
        list(pool.map(kill, [1]))


def test_work_whose_workers_are_all_gone_goes_to_those_that_come(cluster: Any, tmp_path: Path) -> None:  # noqa: ANN401
    with pool_from(cluster.scheduler_address.replace("tcp://", "dask://")) as pool:
        n_there = len(cluster.scheduler_info["workers"])
        made = pool.submit(pid_where_enough_were_killed, 1, marks=tmp_path, enough=n_there).result(timeout=60)
    killed = {int(mark.name) for mark in tmp_path.iterdir()}
    assert len(killed) == n_there
    assert made not in killed


def pid_where_enough_were_killed(_: int, marks: Path, enough: int) -> int:
    """End the worker that runs this, unless so many have been ended already."""
    if len(list(marks.iterdir())) < enough:
        (marks / str(os.getpid())).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return os.getpid()


def pid_soon(_: int) -> int:
    time.sleep(0.02)
    return os.getpid()


def test_a_cluster_of_its_own_whose_nannies_gave_up_is_made_anew_and_no_work_is_lost() -> None:
    here = Cluster(None, tls=None, n_workers=2, timeout=3)
    own = here._own
    with here.pool() as pool:
        assert list(pool.map(abs, [-1])) == [1]
        under_way = [pool.submit(slow_abs, -number) for number in range(6)]
        time.sleep(0.5)
        for nanny in list(own.workers.values()):
            own.sync(nanny.close)
        assert [one.result(60) for one in under_way] == list(range(6))
        with pytest.raises(ZeroDivisionError):  # of the work itself
            pool.submit(divmod, 1, 0).result(60)
    assert here._own is not own
    here.close()


def slow_abs(number: int) -> int:
    time.sleep(1)
    return abs(number)


def test_work_goes_only_to_workers_that_were_looked_at(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ANN401
    here = joined(cluster)
    first = dict([next(iter(here.threads_by_worker().items()))])
    with monkeypatch.context() as patch, here.pool() as pool:
        patch.setattr(here, "threads_by_worker", lambda: first)
        assert len(set(pool.map(pid_soon, range(20)))) == 1
    here.close()


def test_workers_that_come_later_are_looked_at_before_they_get_work(
    cluster: Any,  # noqa: ANN401
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("riffler.engine.worker_pool.BETWEEN_LOOKS", 0.0)
    here = joined(cluster)
    there = here._threads_now()
    with here.pool() as pool:
        assert list(pool.map(abs, [-1])) == [1]
        monkeypatch.setattr(here, "_threads_now", lambda: {**there, "tcp://10.0.0.1:1": 1})
        with pytest.raises(EngineError, match="is on another machine and has no TLS"):
            list(pool.map(abs, [-1]))
    here.close()
