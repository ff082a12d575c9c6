"""Files that are either whole or not there: write beside the target, then move into place."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary path in the folder of ``path``; on success it replaces ``path``, on any error it is removed.

    The temporary name keeps the ending of ``path``, so writers that choose a format by ending work unchanged.

    >>> import tempfile
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
        if target.exists():
            draft.chmod(target.stat().st_mode & 0o777)
        _flush_to_disk(draft)
        draft.replace(target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    if os.name == "posix":
        _flush_to_disk(target.parent)


def _draft_beside(target: Path) -> Path:
    """A new file that nobody else has, as readable as the target is, or as the system lets any new file be."""
    mode = target.stat().st_mode & 0o777 | 0o600 if target.exists() else 0o666
    while True:
        draft = target.with_name(f".{target.stem}-{secrets.token_hex(4)}{''.join(target.suffixes)}")
        try:
            os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_RDWR, mode))
        except FileExistsError:
            continue
        except OSError as error:  # the caller knows the target and not the draft
            raise type(error)(error.errno, error.strerror, str(target)) from error
        return draft


def _flush_to_disk(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
