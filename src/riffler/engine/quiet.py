"""What Dask logs about clusters of its own is left out: it is told as errors, or is nothing that anybody needs."""

from __future__ import annotations

import logging
from threading import Lock
from weakref import WeakSet

SILENT = logging.CRITICAL + 1
_LOCK = Lock()
_HANDLERS: dict[logging.Handler, int] = {}
"""Handlers that were made silent, and their levels before."""
_CLUSTERS: WeakSet[object] = WeakSet()


def silence(cluster: object) -> None:
    """Leave out what Dask logs until all clusters for which this was called have ended.

    Dask can do that too, but with two clusters at a time it puts back the levels when the first one ends.
    """
    with _LOCK:
        _CLUSTERS.add(cluster)
        for handler in logging.getLogger("distributed").handlers:
            _HANDLERS.setdefault(handler, handler.level)
            handler.setLevel(SILENT)


def end_silence(cluster: object) -> None:
    """Let Dask log again, if this was the last one."""
    with _LOCK:
        _CLUSTERS.discard(cluster)
        while not _CLUSTERS and _HANDLERS:
            handler, level = _HANDLERS.popitem()
            handler.setLevel(level)
