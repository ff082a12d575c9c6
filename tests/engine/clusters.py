"""Dask clusters for tests: quiet, on loopback, on ports of their own."""

from __future__ import annotations

import importlib
import logging
from typing import Any


def new_cluster(n_workers: int = 2, **settings: Any) -> Any:  # noqa: ANN401 - Dask's own
    distributed: Any = importlib.import_module("distributed")
    return distributed.LocalCluster(
        n_workers=n_workers, threads_per_worker=1, processes=True, host="127.0.0.1", memory_limit=0,
        dashboard_address="127.0.0.1:0", worker_dashboard_address="127.0.0.1:0", silence_logs=logging.CRITICAL,
        **settings,
    )  # fmt: skip
