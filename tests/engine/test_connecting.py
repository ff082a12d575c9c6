"""Whoever is no scheduler is told from one soon, in one clear error, and nothing of the try is left behind."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest

from riffler.engine import DaskEngine, TlsFiles
from riffler.errors import EngineError, InputError

distributed: Any = pytest.importorskip("distributed")


@contextmanager
def speaking(words: bytes) -> Iterator[str]:
    """Take connections on a port of its own, say something to each, and nothing more; gives the address."""
    taken: list[socket.socket] = []

    def take(server: socket.socket) -> None:
        while True:
            try:
                taken.append(server.accept()[0])
            except OSError:  # the end of the block
                return
            taken[-1].sendall(words)

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = Thread(target=take, args=(server,), daemon=True)
        thread.start()
        try:
            yield f"tcp://127.0.0.1:{server.getsockname()[1]}"
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join()
            for one in taken:
                one.close()


def test_who_takes_connections_and_says_nothing_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("riffler.engine.connecting.TO_GREET", 0.1)
    start = time.monotonic()
    with speaking(b"") as address, pytest.raises(EngineError, match=f"answers at {address}: .* says nothing for 0.5 s"):
        DaskEngine([np.eye(2)], address, timeout=0.5)
    assert time.monotonic() - start < 10


@pytest.mark.parametrize("words", [b"220 mail.example ESMTP Postfix, at your service\r\n", bytes(8), b"\xff" * 64])
def test_who_speaks_otherwise_is_no_scheduler(words: bytes) -> None:
    with speaking(words) as address, pytest.raises(EngineError, match=f"answers at {address}: what is there does not"):
        DaskEngine([np.eye(2)], address, timeout=5)


def test_a_worker_is_no_scheduler(cluster: Any) -> None:  # noqa: ANN401 - Dask's own
    worker = next(iter(cluster.scheduler.workers))
    with pytest.raises(EngineError, match=f"No Dask scheduler answers at {worker}: a Worker is there"):
        DaskEngine([np.eye(2)], worker)


def test_a_try_that_failed_does_not_hold_up_the_end_of_the_process() -> None:
    script = (
        "import numpy as np\nfrom riffler.engine import DaskEngine\n"
        "try:\n    DaskEngine([np.eye(2)], 'tcp://127.0.0.1:9', timeout=0.5)\n"
        "except Exception as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.stdout.startswith("No Dask scheduler answers at tcp://127.0.0.1:9: ")
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("tcp://", "it has no host"),
        ("tcp://:8786", "it has no host"),
        ("tcp://127.0.0.1", "it has no port"),
        ("tcp://127.0.0.1:abc", "'abc'"),
        ("tcp://127.0.0.1:99999", "out of range"),
        ("tcp://127.0.0.1:8786/status", "it has more than a host and a port"),
        ("http://127.0.0.1:8786", "it does not begin with tcp://, tls://"),
        ("inproc://x", "it does not begin with tcp://, tls://"),
        ("dask://localhost", "it has no port"),
    ],
)
def test_an_address_without_a_scheme_host_or_port_is_refused_before_anybody_is_called(address: str, why: str) -> None:
    with pytest.raises(InputError, match=f"{address!r} is no address of a scheduler: .*{why}.*Write dask://host:port"):
        DaskEngine([np.eye(2)], address)


@pytest.mark.parametrize("given", [7, b"tcp://127.0.0.1:8786", [], object()])
def test_what_is_no_cluster_is_refused(given: object) -> None:
    with pytest.raises(InputError, match=r"cluster must be the address of a scheduler, a Client or .*, got "):
        DaskEngine([np.eye(2)], given)


def test_a_client_of_dask_says_where_its_scheduler_is(cluster: Any) -> None:  # noqa: ANN401 - Dask's own
    bare = cluster.scheduler_address.removeprefix("tcp://")
    with distributed.Client(bare, set_as_default=False) as client:
        for _ in range(2):  # it is not closed with the engine
            with DaskEngine([np.eye(2)], client) as engine:
                assert engine.scores(np.array([1.0, 2.0])).tolist() == [1.0, 2.0]
    with pytest.raises(EngineError, match="The client that was given is closed"):
        DaskEngine([np.eye(2)], client)


def test_an_address_is_tried_within_a_loop_too(cluster: Any) -> None:  # noqa: ANN401 - Dask's own
    async def scored() -> list[float]:
        with DaskEngine([np.eye(2)], cluster.scheduler_address) as engine:
            return list(engine.scores(np.array([1.0, 2.0])))

    assert asyncio.run(scored()) == [1.0, 2.0]


def test_a_cluster_within_this_process_works_as_an_object_and_by_its_client() -> None:
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None, memory_limit=0
    ) as own:
        assert own.scheduler_address.startswith("inproc://")
        with distributed.Client(own, set_as_default=False) as client:
            for given in (own, client):
                with DaskEngine([np.eye(2)], given) as engine:
                    assert engine.scores(np.array([1.0, 2.0])).tolist() == [1.0, 2.0]


def test_certificates_for_a_scheduler_without_tls_are_one_error(cluster: Any, tmp_path: Path) -> None:  # noqa: ANN401
    made = distributed.Security.temporary()
    files = {"ca": made.tls_ca_file, "cert": made.tls_client_cert, "key": made.tls_client_key}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    address = cluster.scheduler_address.replace("tcp://", "tls://")
    with pytest.raises(EngineError, match=f"answers at {address}: it does not speak TLS, or not with these certif"):
        DaskEngine([np.eye(2)], address, tls=TlsFiles(*(tmp_path / name for name in files)), timeout=5)
