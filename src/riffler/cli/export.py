"""``riffler export``: a review as a table, as RIS, as its history, as counts, or as one archive."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from riffler.cli import output
from riffler.errors import InputError, UnknownName

if TYPE_CHECKING:
    from collections.abc import Callable

    from riffler.review.store import Review

EXAMPLES = """Examples:

riffler export papers.riffler --format ris --which relevant

riffler export papers.riffler --out for-the-team.xlsx

riffler export papers.riffler --format archive --out papers.zip
"""


def export(
    review: Annotated[Path, typer.Argument(metavar="REVIEW", help="The file of a review (.riffler).")],
    format: Annotated[
        str | None,
        typer.Option(
            help="csv, xlsx, ris, parquet, jsonl; archive (the whole review, for another machine), history (all that "
            "was said), prisma (the counts of a flow diagram). Default: by the ending of --out, else csv."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="The file to write (default: beside REVIEW, named after it).")
    ] = None,
    which: Annotated[
        str, typer.Option(help="Documents to write: all, relevant, irrelevant, maybe, skip or unread.")
    ] = "all",
) -> None:
    """Write the documents of a review with all their columns, and labels, notes, tags, ranks and scores beside them.

    The review may be open in the browser meanwhile.
    """
    from riffler.review.come_up import WITH_UNREAD, come_up
    from riffler.review.store import open_review

    name = _format(format, out)
    ending, write = _writers(which)[name]
    is_whole = name in _others()
    if is_whole and which != "all":
        raise InputError(f"--which chooses documents, and --format {name} is about all of them. Leave it out.")
    target = out or review.with_name(f"{review.stem}-{name if is_whole else which}{ending}")
    output.check_target(target, "--out", (ending,))
    if out is None and target.exists():
        raise InputError(f"{target}: there is a file already. Name another one with --out, or this one to replace it.")
    with open_review(review) as opened:
        if target.exists() and target.samefile(review):
            raise InputError(f"--out {target} is the review itself. Name another file.")
        target.parent.mkdir(parents=True, exist_ok=True)
        told = write(opened, target)
        lacking = come_up(opened) if not is_whole and which in WITH_UNREAD else None
    output.console().print(f"{told}written to {target}", soft_wrap=True, markup=False)
    if lacking is not None:
        output.console().print(lacking.sentence, soft_wrap=True, markup=False)


def _format(format: str | None, out: Path | None) -> str:
    """Return the format that was named, or the one that the ending of the file says."""
    known = _writers("all")
    if format is not None:
        if format not in known:
            raise UnknownName.among("export format", format, known)
        return format
    if out is None:
        return "csv"
    found = [name for name, (ending, _) in known.items() if out.suffix.lower() == ending]
    if not found:
        raise InputError(f"--out {out}: the ending tells no known format. Say it with --format: {', '.join(known)}.")
    return found[0]


def _writers(which: str) -> dict[str, tuple[str, Callable[[Review, Path], str]]]:
    """Return who writes each format and says what was, by its name, and the ending of its files."""
    from riffler.review.export import FORMATS, write_export

    def exporter(name: str) -> Callable[[Review, Path], str]:
        return lambda review, path: _counted(write_export(review, path, name, which), "document")

    return {**{name: (one.ending, exporter(name)) for name, one in FORMATS.items()}, **_others()}


def _others() -> dict[str, tuple[str, Callable[[Review, Path], str]]]:
    return {"archive": (".zip", _write_archive), "history": (".csv", _write_history), "prisma": (".csv", _write_prisma)}


def _write_archive(review: Review, path: Path) -> str:
    from riffler.review.archive import write_archive

    write_archive(review, path)
    return "the whole review "


def _write_history(review: Review, path: Path) -> str:
    from riffler.review.export import write_history

    return _counted(write_history(review, path), "line")


def _write_prisma(review: Review, path: Path) -> str:
    import csv

    from riffler.review.prisma import prisma_counts

    counts = prisma_counts(review)
    listing = output.table("PRISMA flow", "records", "number")
    with output.written(path) as draft, draft.open("w", encoding="utf-8-sig", newline="") as stream:
        lines = csv.writer(stream)
        lines.writerow(["records", "number"])
        for words, n in counts.table():
            lines.writerow([words, n])
            listing.add_row(words, f"{n:,}")
    output.console().print(listing)
    if counts.claim:
        output.console().print(counts.claim, soft_wrap=True, markup=False)
    return _counted(len(counts.table()), "count")


def _counted(n: int, what: str) -> str:
    """Say how many there are.

    >>> _counted(1200, "document"), _counted(1, "line")
    ('1,200 documents ', '1 line ')
    """
    return f"{n:,} {what}{'s' * (n != 1)} "
