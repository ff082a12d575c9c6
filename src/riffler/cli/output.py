"""What every command prints and writes with: files that are whole or not there, tables, a progress bar."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from threading import Timer

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from riffler.data.atomic import atomic_write
from riffler.errors import InputError

WIDTH_IN_A_FILE = 120
"""Columns for tables that go to a file or a pipe, which has no width of its own."""

LOGGED_EVERY = 30.0  # seconds between two lines about a long job whose standard error is no terminal
BEGUN_AFTER = 5.0  # seconds to the first line: shorter jobs say nothing


def console() -> Console:
    """Give the console of the results: standard output."""
    return Console(width=None if sys.stdout.isatty() else WIDTH_IN_A_FILE, highlight=False)


def table(title: str, *columns: str) -> Table:
    """Make a table whose first column names things and whose others hold numbers."""
    made = Table(
        title=title,
        title_justify="left",
        title_style="bold",
        box=SIMPLE_HEAD,
        pad_edge=False,
        padding=(0, 1, 0, 0),
        show_edge=False,
    )
    for number, column in enumerate(columns):
        made.add_column(column, justify="left" if number == 0 else "right")
    return made


@contextmanager
def progress_bar() -> Iterator[Callable[[float, str], None]]:
    """Give a function to report the share done and what is going on: a bar in a terminal, else a few lines."""
    if not sys.stderr.isatty():
        with _log() as log:
            yield log
        return
    columns = (
        TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn(),
        TextColumn("left:"), TimeRemainingColumn(),
    )  # fmt: skip
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=1.0)

        def tell(share: float, doing: str) -> None:
            bar.update(task, completed=max(share, bar.tasks[task].completed), description=doing)  # never backwards

        yield tell


@contextmanager
def _log() -> Iterator[Callable[[float, str], None]]:
    """Give a function that writes a line to standard error when a job has gone on for so long again.

    The first line comes by itself, and soon: whoever looks at the file sees that something is being done.
    """
    start = last = time.monotonic()
    latest = "starting"

    def begin() -> None:
        sys.stderr.write(f"{latest}; a line follows every {LOGGED_EVERY:g} s\n")
        sys.stderr.flush()

    def tell(share: float, doing: str) -> None:
        nonlocal last, latest
        now, latest = time.monotonic(), doing
        if now - last >= LOGGED_EVERY and share > 0:
            last, spent = now, now - start
            sys.stderr.write(f"{share:.0%} {doing}; {_clock(spent)}, left: {_clock(spent / share - spent)}\n")
            sys.stderr.flush()

    first = Timer(BEGUN_AFTER, begin)
    first.daemon = True
    first.start()
    try:
        yield tell
    finally:
        first.cancel()


def _clock(seconds: float) -> str:
    return str(timedelta(seconds=max(round(seconds), 0)))


def stretch(tell: Callable[[float, str], None], start: float, end: float) -> Callable[[float, str], None]:
    """Give one step of a job its stretch of the bar.

    >>> stretch(lambda share, doing: print(share, doing), 0.5, 1.0)(0.5, "measuring")
    0.75 measuring
    """
    return lambda share, doing: tell(start + share * (end - start), doing)


def check_target(path: Path, option: str, endings: tuple[str, ...] = ()) -> None:
    """Refuse a path that could not be written, before the work and not after it."""
    if endings and path.suffix.lower() not in endings:
        known = " or ".join(ending for ending in endings if ending)
        raise InputError(f"{option} {path}: the file must end in {known}.")
    if path.is_dir():
        raise InputError(f"{option} {path} is a folder. Name a file in it.")
    above = path.parent
    while not above.exists():
        above = above.parent
    if not above.is_dir():
        raise InputError(f"{option} {path}: {above} is a file, not a folder.")
    if not os.access(above, os.W_OK | os.X_OK):
        raise InputError(f"{option} {path}: no permission to write in {above}. Name another folder.")


@contextmanager
def written(path: Path) -> Iterator[Path]:
    """Give a draft of ``path`` to write to, in a folder that is made if missing; whole or not there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as draft:
        yield draft


def write_json(path: Path, value: object) -> None:
    """Write a value as JSON that every parser reads: an infinity or NaN in it is an error."""
    with written(path) as draft:
        draft.write_text(json.dumps(value, indent=2, allow_nan=False, ensure_ascii=False) + "\n", encoding="utf-8")
