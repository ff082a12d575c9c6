"""The tables that ``riffler simulate`` prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from riffler.cli import output

if TYPE_CHECKING:
    from rich.table import Table

    from riffler.evaluation.search_problem import Problem
    from riffler.evaluation.search_tables import Grid
    from riffler.evaluation.simulate import Plan, SearchRun
    from riffler.evaluation.stopping_replay import RuleSummary


def print_simulation(
    problems: Sequence[Problem],
    runs: Sequence[SearchRun],
    plan: Plan,
    stopping: Mapping[str, Sequence[RuleSummary]],
) -> None:
    """Print where runs ended early, what each recall cost, the other measures, the topics, and where rules stopped."""
    from riffler.evaluation import search_tables as tables
    from riffler.evaluation.search_report import policy_rows

    rows, console = policy_rows(runs), output.console()
    for grid in (*tables.end_grids(rows), tables.recall_grid(rows)):
        console.print(as_table(grid))
        console.print()
    console.print(as_table(tables.measures_grid(rows)))
    source = f"{problems[0].collection.source}: {tables.setting_in_words(problems, runs, plan)}"
    for line in (source, tables.paid_apart(problems[0]), tables.reading(rows)):
        console.print(line, soft_wrap=True, markup=False)
    grids = [tables.topics_grid(problems, runs)] if len(problems) > 1 else []
    grids += tables.stopping_grids(stopping).values()
    for grid in grids:
        console.print()
        console.print(as_table(grid))
    if stopping:
        console.print(tables.STOPPING_READING, soft_wrap=True)


def as_table(grid: Grid) -> Table:
    """Make a table for the terminal; the best cells are bold, rows that went wrong red."""
    from rich.text import Text

    table = output.table(grid.title, *grid.head)
    for at, row in enumerate(grid.rows):
        cells = [Text(cell, style="bold" if (at, place) in grid.best else "") for place, cell in enumerate(row)]
        table.add_row(*cells, style="red" if at in grid.marked else None)
    return table
