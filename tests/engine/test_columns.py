"""Columns of rows, such as labels, on the way to the workers of Dask: once, and always what they were when asked."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from pickle import dumps
from typing import Any

import numpy as np
import pytest

from riffler.engine import DaskEngine, LocalEngine
from riffler.engine.cluster import Cluster
from riffler.engine.products import pulled_back
from riffler.records import FloatArray
from tests.engine.partitions import cut, matrix
from tests.waiting import wait_until

pytest.importorskip("distributed")

Counted = Callable[[Callable[[], object]], int]


@pytest.fixture
def n_bytes(monkeypatch: pytest.MonkeyPatch) -> Counted:
    """Count the bytes that workers are sent while something is done."""
    sent, call = list[int](), Cluster.call

    def weighed(cluster: Cluster, workers: list[str], function: Any, *arguments: Any) -> dict[str, Any]:  # noqa: ANN401
        sent.append(len(dumps(arguments)))
        return call(cluster, workers, function, *arguments)

    def counted(do: Callable[[], object]) -> int:
        sent.clear()
        do()
        return sum(sent)

    monkeypatch.setattr(Cluster, "call", weighed)
    return counted


def test_columns_travel_once_and_what_changed_again(cluster: Any, n_bytes: Counted) -> None:  # noqa: ANN401
    blocks, weight = cut(matrix("dense", 60_000), [20_000, 40_000]), np.random.default_rng(0).random(60_000)
    local, ties = LocalEngine(blocks), np.arange(60_000)[::-1].copy()
    with DaskEngine(blocks, cluster) as engine:

        def add_up() -> None:
            np.testing.assert_array_equal(engine.sum(pulled_back, weight), local.sum(pulled_back, weight))

        def find() -> None:
            assert engine.best(np.zeros(7), 1, ties=ties).rows.tolist() == [59_999]

        engine.blank_rows  # noqa: B018 - the blocks travel with the first question
        first, again = n_bytes(add_up), n_bytes(add_up)
        assert first > weight.nbytes > 50 * again
        weight[30_000] += 1
        assert 20_000 * weight.itemsize < n_bytes(add_up) < 30_000 * weight.itemsize  # of one share
        assert n_bytes(add_up) == again
        find()
        assert n_bytes(add_up) == again  # ties and columns do not take each other's place
        assert n_bytes(find) < ties.nbytes / 50


def test_columns_of_other_kinds_travel_each_time(cluster: Any) -> None:  # noqa: ANN401
    blocks, values = cut(matrix("dense", 9), [4]), np.arange(9.0)
    words = [str(10**row) for row in range(9)]
    masks = [np.ma.masked_array(values, values % most == 0) for most in (2, 3)]
    zeros = [np.zeros((9, 4), dtype=np.int8), np.zeros(9, dtype=np.int32), np.zeros(9, dtype=np.float32)]
    local = LocalEngine(blocks)
    with DaskEngine(blocks, cluster) as engine:
        assert engine.map(_longest, words) == local.map(_longest, words) == [4, 9]
        for column in (*masks, *zeros):  # the same bytes
            np.testing.assert_array_equal(engine.sum(_told_of, column), local.sum(_told_of, column))


def test_columns_give_the_same_bits_however_they_lie_in_memory(cluster: Any) -> None:  # noqa: ANN401
    blocks, rng = cut(matrix("dense", 3000), [1000, 2000]), np.random.default_rng(0)
    plain = rng.normal(size=(3000, 5))
    layouts = [np.asfortranarray(plain), rng.normal(size=3000)[::-1], rng.normal(size=9000)[::3], plain[:, 1:3]]
    local = LocalEngine(blocks)
    with DaskEngine(blocks, cluster) as engine:
        for column in layouts:
            wanted = local.sum(_total, column)
            np.testing.assert_array_equal(engine.sum(_total, column), wanted)
            np.testing.assert_array_equal(local.sum(_total, column.copy(order="C")), wanted)
            for found in (engine.map(_total, column), local.map(_total, column.copy(order="C"))):
                np.testing.assert_array_equal(found, local.map(_total, column))


def test_work_that_changes_its_column_changes_nothing_for_the_next(cluster: Any) -> None:  # noqa: ANN401
    blocks, weight = cut(matrix("dense", 60), [20]), np.random.default_rng(0).random(60)
    local = LocalEngine(blocks)
    with DaskEngine(blocks, cluster) as engine:
        for work in (_less_its_mean, pulled_back):
            np.testing.assert_array_equal(engine.sum(work, weight), local.sum(work, weight.copy()))


def test_a_column_that_changes_while_its_turn_is_awaited_harms_nobody_later(cluster: Any, tmp_path: Path) -> None:  # noqa: ANN401
    blocks, weight = cut(matrix("dense", 60), [20]), np.random.default_rng(0).random(60)
    local, before = LocalEngine(blocks), weight.copy()
    with DaskEngine(blocks, cluster) as engine, ThreadPoolExecutor(2) as pool:
        slow = pool.submit(engine.map, partial(_until_there_is, mark=str(tmp_path / "go")))
        wait_until(lambda: (tmp_path / "begun").exists())
        waiting = pool.submit(engine.sum, pulled_back, weight)
        weight[:] = 0
        (tmp_path / "go").touch()
        slow.result(60)
        waiting.result(60)  # whichever it saw
        for column in (before, weight, before):
            np.testing.assert_array_equal(engine.sum(pulled_back, column), local.sum(pulled_back, column))


def _longest(block: Any, words: list[str]) -> int:  # noqa: ANN401 - a matrix
    return max(map(len, words))


def _told_of(block: Any, column: Any) -> FloatArray:  # noqa: ANN401 - matrices
    return np.array([column.ndim, column.dtype.itemsize, column.dtype.kind == "i", column.sum()], dtype=float)


def _total(block: Any, column: FloatArray) -> FloatArray:  # noqa: ANN401 - a matrix
    return np.array([column.sum()])


def _less_its_mean(block: Any, weight: FloatArray) -> FloatArray:  # noqa: ANN401 - a matrix
    weight -= weight.mean()
    return pulled_back(block, weight)


def _until_there_is(block: Any, mark: str) -> bool:  # noqa: ANN401 - a matrix
    Path(mark).with_name("begun").touch()
    wait_until(Path(mark).exists)
    return True
