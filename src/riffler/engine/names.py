"""Engines by name, as a command takes them: local, dask, or dask://host:port."""

from __future__ import annotations

from collections.abc import Sequence

from riffler.engine.base import Engine
from riffler.engine.local import LocalEngine
from riffler.engine.tls import TlsFiles, scheduler_address
from riffler.errors import UnknownName
from riffler.features.blocked_rows import Block, BlockedRows

KNOWN = ("local", "dask", "dask://host:port")


def check_engine(name: str, tls: TlsFiles | None = None) -> None:
    """Raise where there can be no such engine, before anything else is done for it."""
    if name == "local":
        return
    if name != "dask" and not name.startswith("dask://"):
        raise UnknownName.among("engine", name, KNOWN)
    if name != "dask":
        scheduler_address(name, tls)
    from riffler.engine.cluster import need_distributed

    need_distributed()


def engine_from(name: str, blocks: Sequence[Block] | BlockedRows, tls: TlsFiles | None = None) -> Engine:
    """Return the engine of that name over some blocks: this machine's threads, its processes, or a Dask scheduler's.

    >>> import numpy as np
    >>> engine_from("local", [np.eye(2)]).n_rows
    2
    """
    check_engine(name, tls)
    if name == "local":
        return LocalEngine(blocks)
    from riffler.engine.dask import DaskEngine

    return DaskEngine(blocks, None if name == "dask" else scheduler_address(name, tls), tls=tls)
