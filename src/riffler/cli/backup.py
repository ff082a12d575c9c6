"""``riffler backup``: a copy of a review as it is at this moment, also while it is open."""

from __future__ import annotations

from datetime import date
from itertools import count
from pathlib import Path
from typing import Annotated

import typer

from riffler.cli import output

ENDING = ".riffler"


def backup(
    review: Annotated[Path, typer.Argument(metavar="REVIEW", help="The file of a review (.riffler).")],
    to: Annotated[
        Path | None,
        typer.Option(help="The new file to write (default: beside REVIEW, with the date in its name)."),
    ] = None,
) -> None:
    """Copy a review safely, even while somebody works on it; a file that is open must not be copied otherwise."""
    from riffler.review.store import open_review

    target = to or _dated(review)
    output.check_target(target, "--to")
    with open_review(review) as opened:
        target.parent.mkdir(parents=True, exist_ok=True)
        opened.backup(target)
    output.console().print(f"backup written to {target}", soft_wrap=True, markup=False)


def _dated(review: Path) -> Path:
    """Name a file that is not there: with the date, and a number from the second of a day on."""
    stem = f"{review.stem}-{date.today().isoformat()}"
    names = (review.with_name(f"{stem}{'' if n == 1 else f'-{n}'}{ENDING}") for n in count(1))
    return next(name for name in names if not name.exists())
