"""On one machine no more threads work than it has cores, and who works goes on working."""

from __future__ import annotations

import os
import signal
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riffler.engine import DaskEngine, LocalEngine
from riffler.engine.seats import Place, place_here, seated
from tests.engine.partitions import cut, matrix

THREADS = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(1, 4), min_size=1)


@given(threads=THREADS, data=st.data())
def test_no_machine_has_more_threads_than_cores_and_none_has_fewer_than_it_could(
    threads: dict[str, int], data: st.DataObject
) -> None:
    n_cores = {machine: data.draw(st.integers(1, 6)) for machine in ("here", "there")}
    where = {worker: data.draw(st.sampled_from(["here", "there"])) for worker in threads}
    places = {worker: Place(where[worker], frozenset(range(n_cores[where[worker]]))) for worker in threads}
    busy = data.draw(st.sets(st.sampled_from(sorted(threads))))
    chosen = seated(threads, places, busy)
    for machine in ("here", "there"):
        there = {worker for worker in threads if where[worker] == machine}
        wanted = min(n_cores[machine], sum(threads[worker] for worker in there)) if there else 0
        assert sum(chosen.get(worker, 0) for worker in there) == wanted
        if any(chosen.get(worker) for worker in there - busy):
            assert all(chosen.get(worker) == threads[worker] for worker in there & busy)


def test_workers_that_share_a_machine_but_no_core_all_work() -> None:
    places = {"a": Place("here", frozenset({0})), "b": Place("here", frozenset({1}))}
    assert seated({"a": 1, "b": 1}, places) == {"a": 1, "b": 1}


def test_who_stands_by_takes_over(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ANN401
    X = matrix("csr", 60)
    w = np.random.default_rng(0).normal(size=7)
    one_core = {worker.worker_address: Place("here", frozenset({0})) for worker in cluster.workers.values()}
    with DaskEngine(cut(X, [10, 30, 45]), cluster) as engine:
        monkeypatch.setattr(engine._cluster, "_places", one_core)
        for _ in range(2):
            engine._looked = -np.inf
            np.testing.assert_array_equal(engine.scores(w), LocalEngine([X]).scores(w))
            (home,) = set(engine._home.values())
            (pid,) = [one.pid for one in cluster.workers.values() if one.worker_address == home]
            os.kill(pid, signal.SIGKILL)
        np.testing.assert_array_equal(engine.scores(w), LocalEngine([X]).scores(w))


def test_a_worker_of_this_machine_is_at_the_same_place(cluster: Any) -> None:  # noqa: ANN401
    with DaskEngine([np.eye(2)], cluster) as engine:
        assert set(engine._cluster._places.values()) == {place_here()}
