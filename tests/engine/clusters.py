"""Dask clusters for tests: quiet, on loopback, on ports of their own."""

from __future__ import annotations

import importlib
import logging
import os
import signal
from contextlib import suppress
from typing import Any

from tests.waiting import wait_until


def new_cluster(n_workers: int = 2, **settings: Any) -> Any:  # noqa: ANN401 - Dask's own
    distributed: Any = importlib.import_module("distributed")
    return distributed.LocalCluster(
        n_workers=n_workers, threads_per_worker=1, processes=True, host="127.0.0.1", memory_limit=0,
        dashboard_address="127.0.0.1:0", worker_dashboard_address="127.0.0.1:0", silence_logs=logging.CRITICAL,
        **settings,
    )  # fmt: skip


def kill_one(cluster: Any, share: float) -> None:  # noqa: ANN401 - Dask's own
    """Kill one of the workers, which its nanny starts again; ``share`` of the way through their list says which.

    A worker that is only starting is left alone: its nanny would take that for a fault of the machine and give up.
    """

    def running() -> list[int]:
        nannies = [one for one in cluster.workers.values() if one.worker_address in cluster.scheduler.workers]
        return [one.pid for one in nannies if one.process is not None and one.process.status.name == "running"]

    wait_until(running)
    pids = running()
    with suppress(ProcessLookupError):  # the one before, and nobody noticed yet
        os.kill(pids[int(share * len(pids))], signal.SIGKILL)
