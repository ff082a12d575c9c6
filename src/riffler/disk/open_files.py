"""How many files a process may have open: every mapped one counts, and the usual limit is 1,024."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from riffler.errors import DataFileError

TOO_MANY = (errno.EMFILE, errno.ENFILE)
RESERVE = 256  # for everything else that a process opens: connections, pipes, files that are written
STEP = 65_536


def allow_more(handle: int) -> None:
    """Raise the limit of this process, as far as the system lets it, where a new handle comes close to it."""
    try:
        import resource
    except ImportError:  # a system without such limits
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or handle < soft - RESERVE:
        return
    wanted = max(2 * soft, STEP)
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    if wanted > soft:
        with suppress(OSError, ValueError):  # the system allows less than it says; `few_enough` tells if it is too few
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


@contextmanager
def few_enough(folder: Path) -> Iterator[None]:
    """Say what to do where the system opens no more files for this process."""
    try:
        yield
    except OSError as error:
        if error.errno not in TOO_MANY:
            raise
        raise DataFileError(
            f"{folder}: this process may not open as many files as the collection has ({error.strerror}). Allow more, "
            "such as by `ulimit -n 65536` in the shell, and start again."
        ) from error
