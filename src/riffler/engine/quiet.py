"""What Dask logs about clusters and connections of an engine is left out: it is told as errors, or nobody needs it."""

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


class Unheard(logging.Filter):
    """Leaves out what one thread logs: that of a connection. Of others of this process Dask logs as ever."""

    def __init__(self, thread: int) -> None:
        super().__init__()
        self._thread = thread
        self._handlers = list(logging.getLogger("distributed").handlers)
        for handler in self._handlers:
            handler.addFilter(self)

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether another thread logs this."""
        return record.thread != self._thread

    def end(self) -> None:
        """Leave out no more; a later thread may have the same number."""
        for handler in self._handlers:
            handler.removeFilter(self)


def end_silence(cluster: object) -> None:
    """Let Dask log again, if this was the last one."""
    with _LOCK:
        _CLUSTERS.discard(cluster)
        while not _CLUSTERS and _HANDLERS:
            handler, level = _HANDLERS.popitem()
            handler.setLevel(level)
