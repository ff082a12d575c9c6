"""``riffler datasets``: the public data sets known by name, and which of them are here."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from riffler.cli import output

if TYPE_CHECKING:
    from riffler.data.known import Dataset


def datasets(
    json: Annotated[Path | None, typer.Option("--json", metavar="PATH", help="Also write the list as JSON.")] = None,
) -> None:
    """List the public data sets known by name, and which of them are in the folder RIFFLER_DATA."""
    from riffler.data import public

    if json is not None:
        output.check_target(json, "--json")
    entries = [public.info(name) for name in public.names()]
    listing = output.table("Public data sets", "name", "task", "rows", "features", "positives", "present")
    for entry in entries:
        counts = (_count(entry, n) for n in (entry.rows, entry.features, entry.positives))
        listing.add_row(entry.name, entry.task, *counts, _presence(entry))
    output.console().print(listing)
    output.console().print("~ a count from publications, not checked against the file", soft_wrap=True)
    output.console().print(_where(len(public.present()), len(entries)), soft_wrap=True)
    if json is not None:
        output.write_json(json, [_as_json(entry) for entry in entries])


def _count(entry: Dataset, number: int | None) -> str:
    """A count, with ~ before it if it was not taken from the files."""
    return "" if number is None else f"{'' if entry.counted else '~'}{number:,}"


def _presence(entry: Dataset) -> str:
    """``yes``, ``no``, or which parts are not here."""
    from riffler.data import public

    absent = public.missing(entry.name)
    if len(absent) == len(entry.parts):
        return "no"
    return f"without {', '.join(absent)}" if absent else "yes"


def _where(n_present: int, n_known: int) -> str:
    from riffler.data.known import FOLDER_VARIABLE, data_folder

    folder = data_folder(None)
    if folder is None:
        return f"{FOLDER_VARIABLE} is not set: name the folder that holds the data sets in it."
    return f"{n_present} of {n_known} are in {folder}. Loading one that is not says what to download."


def _as_json(entry: Dataset) -> dict[str, object]:
    from riffler.data import public

    missing = public.missing(entry.name)
    return {
        "name": entry.name,
        "title": entry.title,
        "task": entry.task,
        "source": entry.source,
        "get": entry.get,
        "rows": entry.rows,
        "features": entry.features,
        "positives": entry.positives,
        "parts": {
            part.name: {
                "file": part.file,
                "rows": part.rows,
                "positives": part.positives,
                "counted": part.counted,
                "sha256": part.sha256,
                "optional": part.optional,
            }
            for part in entry.parts.values()
        },
        "splits": sorted(entry.splits),
        "present": all(entry.parts[part].optional for part in missing),
        "missing": list(missing),
    }
