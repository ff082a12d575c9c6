"""``riffler reproduce``: run published results again; write a page, its charts and the numbers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from riffler.cli import output
from riffler.errors import InputError

if TYPE_CHECKING:
    from riffler.reproduction import Reproduced

CHART_ENDINGS = (".svg", ".png", ".html")


def reproduce(
    name: Annotated[
        str | None, typer.Argument(metavar="[RESULT]", help="Which result to run again; without it, list them.")
    ] = None,
    out: Annotated[Path, typer.Option(help="The folder for the page, its charts and the numbers.")] = Path(
        "out/reproduce"
    ),
    json: Annotated[Path | None, typer.Option(metavar="PATH", help="Also write the numbers as JSON here.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A small version, in seconds instead of minutes.")] = False,
    runs: Annotated[
        int | None, typer.Option(min=1, help="Runs from other starts (active-search, active-pairs).")
    ] = None,
    topics: Annotated[
        str | None, typer.Option(metavar="C17,C18,...", help="Topics to search for (active-search).")
    ] = None,
    policies: Annotated[
        str | None,
        typer.Option(metavar="NAME,...", help="Ways of searching beside greedy and thompson (active-search)."),
    ] = None,
) -> None:
    """Run published results again and say what agrees; data sets are looked for in the folder RIFFLER_DATA."""
    from riffler.reproduction import REPRODUCTIONS, Choice
    from riffler.reproduction import reproduce as run_again

    if json is not None:
        output.check_target(json, "--json")
    if name is None:
        listing = output.table("Published results that can be run again", "name", "result")
        for known, (title, _) in REPRODUCTIONS.items():
            listing.add_row(known, title)
        output.console().print(listing)
        if json is not None:
            output.write_json(json, {known: title for known, (title, _) in REPRODUCTIONS.items()})
        return
    check_folder(out)
    with output.progress_bar() as progress:
        choice = Choice(runs, listed(topics), listed(policies))
        done = run_again(name, "quick" if quick else "full", progress, out, choice)
        progress(1.0, "drawing")
        write(name, done, out, json)
    console = output.console()
    for line in done.summary():
        console.print(line, soft_wrap=True)
    console.print(f"page written to {out / name}.md", soft_wrap=True)


def listed(names: str | None) -> tuple[str, ...]:
    """Split names at commas.

    >>> listed("C17, C18"), listed(None)
    (('C17', 'C18'), ())
    """
    return tuple(name.strip() for name in (names or "").split(",") if name.strip())


def check_folder(out: Path) -> None:
    """Refuse a folder that could not be made, before the work and not after it."""
    if out.exists() and not out.is_dir():
        raise InputError(f"--out {out} is a file. Name a folder.")
    output.check_target(out / "page.md", "--out")


def write(name: str, done: Reproduced, out: Path, json: Path | None) -> None:
    """Write charts, numbers and, last, the page that shows them; each file is whole or not there."""
    from riffler.evaluation.charts import save_chart

    for chart_name, chart in done.charts().items():
        for ending in CHART_ENDINGS:
            save_chart(chart, out / f"{name}-{chart_name}{ending}")
    numbers = done.as_json()
    for path in (out / f"{name}.json", json):
        if path is not None:
            output.write_json(path, numbers)
    with output.written(out / f"{name}.md") as draft:
        draft.write_text(done.page(), encoding="utf-8")
