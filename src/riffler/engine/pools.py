"""Where work on single partitions runs, which need not be blocks of an engine yet: threads, or the workers of Dask."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager

from riffler.cores import n_cores
from riffler.engine.names import check_engine
from riffler.engine.tls import TlsFiles, scheduler_address


@contextmanager
def pool_from(name: str, tls: TlsFiles | None = None, n_jobs: int | None = None) -> Iterator[Executor]:
    """Give a pool by the name of an engine; a worker that goes away is replaced by Dask.

    >>> with pool_from("local", n_jobs=2) as pool:
    ...     list(pool.map(abs, [-1, 2]))
    [1, 2]
    """
    check_engine(name, tls)
    if name == "local":
        with ThreadPoolExecutor(n_jobs or n_cores()) as threads:
            yield threads
        return
    from riffler.engine.cluster import Cluster

    cluster = Cluster(None if name == "dask" else scheduler_address(name, tls), tls=tls, n_workers=n_jobs, timeout=20)
    try:
        with cluster.pool() as workers:
            yield workers
    finally:
        cluster.close()
