"""Files that are either whole or not there: write beside the target, then move into place."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary path in the folder of ``path``; on success it replaces ``path``, on any error it is removed.

    The temporary name keeps the ending of ``path``, so writers that choose a format by ending work unchanged.

    >>> folder = Path(tempfile.mkdtemp())
    >>> with atomic_write(folder / "scores.csv") as draft:
    ...     _ = draft.write_text("id,score")
    >>> [file.name for file in folder.iterdir()]
    ['scores.csv']
    """
    target = Path(path)
    draft = _draft_beside(target)
    try:
        yield draft
        _match_usual_mode(draft, target)
        _flush_to_disk(draft)
        draft.replace(target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    if os.name == "posix":
        _flush_to_disk(target.parent)


def _draft_beside(target: Path) -> Path:
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.stem}-", suffix="".join(target.suffixes), dir=target.parent)
    except OSError as error:  # the caller knows the target and not the draft
        raise type(error)(error.errno, error.strerror, str(target)) from error
    os.close(handle)
    return Path(name)


def _match_usual_mode(draft: Path, target: Path) -> None:
    """Give the draft the mode of the file it replaces, or that of any new file (mkstemp makes private ones)."""
    if target.exists():
        draft.chmod(target.stat().st_mode & 0o777)
    else:
        mask = os.umask(0)
        os.umask(mask)
        draft.chmod(0o666 & ~mask)


def _flush_to_disk(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
