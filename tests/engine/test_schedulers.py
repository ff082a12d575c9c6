"""Schedulers and workers that are processes of their own: whom an engine talks to, and what it says when they fail."""

from __future__ import annotations

import io
import json
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from riffler.engine import DaskEngine, LocalEngine, cluster, engine_from
from riffler.engine.tls import need_shut_in
from riffler.errors import EngineError, InputError
from tests.engine.clusters import new_cluster
from tests.engine.partitions import cut, matrix, on_disk, slow_sum
from tests.waiting import PATIENCE, wait_until

pytest.importorskip("distributed")
ROOT = Path(__file__).parents[2]


@contextmanager
def running(*arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a command of Dask until the end of the block."""
    with subprocess.Popen(
        [sys.executable, "-m", "dask", *arguments], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            yield process
        finally:
            process.kill()


@contextmanager
def scheduler(folder: Path, *arguments: str) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Run a scheduler on a port of its own; gives its address, and the process."""
    file = folder / "scheduler.json"
    command = ("scheduler", "--no-dashboard", "--port", "0", "--scheduler-file", str(file), *arguments)
    with running(*command) as process:
        wait_until(lambda: file.exists() and file.read_text().endswith("}"))
        yield json.loads(file.read_text())["address"], process


def worker(address: str, *arguments: str) -> tuple[str, ...]:
    return ("worker", address, "--no-dashboard", "--no-nanny", "--nthreads", "1", "--memory-limit", "0", *arguments)


def test_a_scheduler_that_is_open_to_other_machines_is_refused_under_any_name(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match=r"calls itself tcp://192\.0\.2\.2:8786, so it is open.*--host 127\.0\.0\.1"):
        need_shut_in("tcp://192.0.2.2:8786")
    with scheduler(tmp_path) as (address, _):
        if "//127." in address:
            pytest.skip("this machine has no address but loopback")
        with pytest.raises(EngineError, match=f"calls itself {address}, so it is open to others"):
            engine_from(f"dask://localhost:{address.rpartition(':')[2]}", [np.eye(2)])


def test_workers_that_go_by_a_name_are_told_what_they_do(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    where = "--listen-address", f"tcp://127.0.0.1:{port}", "--contact-address", f"tcp://localhost:{port}"
    with (
        scheduler(tmp_path, "--host", "127.0.0.1") as (address, _),
        running(*worker(address, *where)),
        DaskEngine([np.eye(2)], address, timeout=PATIENCE) as engine,
    ):
        assert engine.scores(np.array([1.0, 2.0])).tolist() == [1.0, 2.0]


def test_a_worker_that_listens_to_other_machines_is_refused_whatever_it_calls_itself(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    where = "--listen-address", f"tcp://0.0.0.0:{port}", "--contact-address", f"tcp://127.0.0.1:{port}"
    with (
        scheduler(tmp_path, "--host", "127.0.0.1") as (address, _),
        running(*worker(address, *where)),
        pytest.raises(EngineError, match=r"listens to others \(at 0\.0\.0\.0\) and has no TLS.*--host 127\.0\.0\.1"),
    ):
        DaskEngine([np.eye(2)], address, timeout=PATIENCE)


@pytest.mark.parametrize(
    "ask", [lambda engine: engine.map(slow_sum), lambda engine: engine._cluster.threads_by_worker()]
)
def test_a_scheduler_that_hangs_is_one_error(
    ask: Callable[[DaskEngine], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        scheduler(tmp_path, "--host", "127.0.0.1") as (address, process),
        running(*worker(address, "--host", "127.0.0.1")),
        DaskEngine([np.eye(2)], address, timeout=PATIENCE) as engine,
    ):
        monkeypatch.setattr(cluster, "TO_ANSWER", 1.0)
        process.send_signal(signal.SIGSTOP)
        with pytest.raises(EngineError, match=f"{address} went away, or hangs"):
            ask(engine)


def test_workers_that_do_not_say_who_they_are_get_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def silent(self: cluster.Cluster, workers: list[str]) -> dict[str, object]:
        return {}

    with (
        scheduler(tmp_path, "--host", "127.0.0.1") as (address, _),
        running(*worker(address, "--host", "127.0.0.1")),
    ):
        DaskEngine([np.eye(2)], address, timeout=PATIENCE).close()  # so that the worker is there
        monkeypatch.setattr(cluster.Cluster, "_introduced", silent)
        with pytest.raises(EngineError, match=f"No worker of {address} answers"):
            DaskEngine([np.eye(2)], address, timeout=2)


def test_a_scheduler_that_is_killed_within_a_step_is_one_error(tmp_path: Path) -> None:
    with (
        scheduler(tmp_path, "--host", "127.0.0.1") as (address, process),
        running(*worker(address, "--host", "127.0.0.1")),
        DaskEngine([np.eye(2)], address.replace("tcp", "dask"), timeout=PATIENCE) as engine,
    ):
        engine._cluster._timeout = 3
        assert engine.scores(np.ones(2)).tolist() == [1.0, 1.0]
        threading.Timer(0.5, process.kill).start()
        for _ in range(2):
            with pytest.raises(EngineError, match="went away"):
                engine.map(slow_sum)
    process.wait()


def test_a_scheduler_that_is_killed_is_told_by_the_error_alone(tmp_path: Path) -> None:
    log = io.StringIO()
    handler = logging.StreamHandler(log)
    loggers = [logging.getLogger(name) for name in ("distributed", "distributed.client")]
    for logger in loggers:
        logger.addHandler(handler)
    try:
        with (
            scheduler(tmp_path, "--host", "127.0.0.1") as (address, process),
            running(*worker(address, "--host", "127.0.0.1")),
            DaskEngine([np.eye(2)], address, timeout=PATIENCE) as engine,
        ):
            process.kill()
            engine._cluster._client._timeout = 0.5  # after which Dask gives up
            with pytest.raises(EngineError, match="went away"):
                engine.map(slow_sum)
            wait_until(lambda: engine._cluster._client.status == "closed")
            loggers[1].warning("of another thread")
        loggers[1].warning("afterwards")
    finally:
        for logger in loggers:
            logger.removeHandler(handler)
    assert set(log.getvalue().splitlines()) == {"of another thread", "afterwards"}
    assert not handler.filters


def test_a_worker_that_hangs_is_given_up_and_nobody_waits_for_it_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = cut(matrix("csr", 400), [100, 200, 300])
    blocks = [on_disk(part, tmp_path, str(at)) for at, part in enumerate(parts)]
    # a worker that only waits for its core is silent for some seconds too
    monkeypatch.setitem(cluster.FOR_STEPS, "distributed.scheduler.worker-ttl", "8s")
    w = np.random.default_rng(0).normal(size=7)
    wanted = LocalEngine(parts).best(w, 9).rows
    with DaskEngine(blocks, n_workers=2) as engine:
        np.testing.assert_array_equal(engine.best(w, 9).rows, wanted)
        hanging = next(iter(engine._cluster._own.workers.values())).pid
        os.kill(hanging, signal.SIGSTOP)
        np.testing.assert_array_equal(engine.best(w, 9).rows, wanted)


def test_a_cluster_of_its_own_whose_nannies_gave_up_is_made_anew(tmp_path: Path) -> None:
    block = on_disk(matrix("csr", 90), tmp_path, "a")
    w = np.random.default_rng(0).normal(size=7)
    with DaskEngine([block], n_workers=2, timeout=3) as engine:
        wanted = engine.best(w, 9).rows
        own = engine._cluster._own
        for nanny in list(own.workers.values()):
            own.sync(nanny.close)
        np.testing.assert_array_equal(engine.best(w, 9).rows, wanted)
        assert engine._cluster._own is not own


def test_who_hangs_is_not_waited_for_when_an_engine_lets_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "TO_LET_GO", 0.5)
    with new_cluster(1) as given:
        engine = DaskEngine([np.eye(2)], given)
        pid = next(iter(given.workers.values())).pid
        os.kill(pid, signal.SIGSTOP)
        start = time.monotonic()
        engine.close()
        took = time.monotonic() - start
        os.kill(pid, signal.SIGCONT)
    assert took < 10


def test_a_script_without_a_guard_is_told_about_it(tmp_path: Path) -> None:
    script = tmp_path / "search.py"
    script.write_text(
        "import numpy as np\nfrom riffler.engine import DaskEngine\nDaskEngine([np.eye(2)], n_workers=1)\n"
    )
    done = subprocess.run([sys.executable, str(script)], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert "EngineError: Worker processes cannot be started" in done.stderr
    assert 'if __name__ == "__main__":' in done.stderr.splitlines()[-1]


def test_addresses_may_be_written_as_either_does() -> None:
    with pytest.raises(InputError, match="'localhost:8786' is no address of a scheduler"):
        DaskEngine([np.eye(2)], "localhost:8786")
    with pytest.raises(InputError, match=r"'tcp://\[::1:80' is no address of a scheduler"):
        DaskEngine([np.eye(2)], "tcp://[::1:80")
    with pytest.raises(EngineError, match=r"tls://localhost:1 needs certificates\. Pass TlsFiles"):
        DaskEngine([np.eye(2)], "tls://localhost:1")
    with pytest.raises(EngineError, match="No Dask scheduler answers at tcp://localhost:1"):
        DaskEngine([np.eye(2)], "dask://localhost:1", timeout=1)
