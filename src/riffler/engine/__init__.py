"""Where the heavy steps run: on the cores of this machine, or on the workers of Dask."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from riffler.engine.base import Best, Engine
from riffler.engine.candidates import best_of
from riffler.engine.local import LocalEngine
from riffler.engine.names import check_engine, engine_from
from riffler.engine.partitions import rows_on_disk
from riffler.engine.pools import pool_from
from riffler.engine.tls import TlsFiles

if TYPE_CHECKING:
    from riffler.engine.dask import DaskEngine

__all__ = [
    "Best",
    "DaskEngine",
    "Engine",
    "LocalEngine",
    "TlsFiles",
    "best_of",
    "check_engine",
    "engine_from",
    "pool_from",
    "rows_on_disk",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - Dask is loaded by those who use it
    if name == "DaskEngine":
        from riffler.engine.dask import DaskEngine

        return DaskEngine
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
