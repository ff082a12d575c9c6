"""The report of a simulation: one HTML file with its tables and charts, which asks no other host for anything."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from importlib.metadata import version
from pathlib import Path

from riffler.data.atomic import atomic_write
from riffler.evaluation import search_tables as tables
from riffler.evaluation.charts import Chart
from riffler.evaluation.search_charts import cost_chart, recall_chart, stopping_chart
from riffler.evaluation.search_problem import Problem
from riffler.evaluation.search_report import policy_rows, versions
from riffler.evaluation.search_tables import Grid
from riffler.evaluation.simulate import Plan, SearchRun
from riffler.evaluation.stopping_replay import RuleSummary

STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; color: #222; max-width: 1000px; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; margin-bottom: .2rem; } h2 { font-size: 1.2rem; margin-top: 2.4rem; }
p.note { color: #666; margin: .2rem 0 1rem; } .wide, .wide.vega-embed { display: block; overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .92rem; }
th, td { padding: .3rem .55rem; text-align: right; border-bottom: 1px solid #e6e6e6; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; } thead th { border-bottom: 2px solid #bbb; vertical-align: bottom; }
td small { color: #777; } tr.short td { color: #C1272D; } .best { font-weight: 600; }
"""


def table_html(grid: Grid) -> str:
    """A table as HTML.

    >>> "<td>a &amp; b</td>" in table_html(Grid("", ("name",), (("a & b",),)))
    True
    """

    def cell(text: str, best: bool) -> str:
        first, *rest = escape(text).split("\n")
        first = f'<span class="best">{first}</span>' if best else first
        return first + "".join(f"<br><small>{line}</small>" for line in rest)

    head = "".join(f"<th>{escape(words).replace(chr(10), '<br>')}</th>" for words in grid.head)
    body = "".join(
        f"<tr{' class=short' if at in grid.marked else ''}>"
        + "".join(f"<td>{cell(text, (at, place) in grid.best)}</td>" for place, text in enumerate(row))
        + "</tr>\n"
        for at, row in enumerate(grid.rows)
    )
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>\n{body}</tbody></table></div>'


def write_page(
    path: Path,
    problems: Sequence[Problem],
    runs: Sequence[SearchRun],
    plan: Plan,
    stopping: Mapping[str, Sequence[RuleSummary]],
) -> None:
    """Write the report; the file is whole or not there."""
    html = search_page(problems, runs, plan, stopping)
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as draft:
        draft.write_text(html, encoding="utf-8")


def search_page(
    problems: Sequence[Problem],
    runs: Sequence[SearchRun],
    plan: Plan,
    stopping: Mapping[str, Sequence[RuleSummary]],
) -> str:
    """The report as one HTML text."""
    rows = policy_rows(runs)
    charts: dict[str, Chart] = {"recall": recall_chart(runs, "Recall against reading")}
    if any(spread.mean is not None for row in rows for spread in row.shares.values()):
        charts["cost"] = cost_chart(rows)
    parts = [
        f"<h1>{escape(_title(problems))}</h1>",
        _note(tables.setting_in_words(problems, runs, plan)),
        *(part for grid in tables.end_grids(rows) for part in _section(grid)),
        *_section(tables.recall_grid(rows)),
        *(_div(name) for name in charts),
        *_section(tables.measures_grid(rows), tables.reading(rows)),
    ]
    if len(problems) > 1:
        parts += _section(tables.topics_grid(problems, runs))
    for target, grid in tables.stopping_grids(stopping).items():
        name = f"stopping{round(target * 1000)}"
        charts[name] = stopping_chart(stopping, target)
        parts += [*_section(grid, tables.STOPPING_READING), _div(name)]
    names = ", ".join(f"{name} {number}" for name, number in versions().items())
    parts.append(_note(f"riffler {version('riffler')}; {names}. {tables.paid_apart(problems[0])}"))
    return _page(_title(problems), parts, charts)


def _section(grid: Grid, words: str = "") -> list[str]:
    return [f"<h2>{escape(grid.title)}</h2>", *([_note(words)] if words else []), table_html(grid)]


def _note(words: str) -> str:
    return f'<p class="note">{escape(words)}</p>'


def _title(problems: Sequence[Problem]) -> str:
    return f"Simulated search: {Path(problems[0].collection.source).name}"


def _div(name: str) -> str:
    return f'<div class="wide" id="{name}"></div>'


def _page(title: str, parts: Sequence[str], charts: Mapping[str, Chart]) -> str:
    """Put the parts into a page that carries its own scripts."""
    import altair as alt
    import vl_convert

    grammar = ".".join(alt.SCHEMA_VERSION.lstrip("v").split(".")[:2])
    bundle = vl_convert.javascript_bundle(vl_version=grammar)  # type: ignore[call-arg]  # its stubs lack the default
    menu = {"mode": "vega-lite", "actions": {"export": True, "source": False, "compiled": False, "editor": False}}
    calls = "\n".join(
        f"vegaEmbed('#{name}', {_script_json(chart.to_dict())}, {json.dumps(menu)}).catch(console.error);"
        for name, chart in charts.items()
    )
    body = "\n".join(parts)
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>\n'
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style>\n'
        f'<script type="text/javascript">{bundle}</script></head>\n'
        f'<body>\n{body}\n<script type="text/javascript">\n{calls}\n</script>\n</body></html>\n'
    )


def _script_json(value: object) -> str:
    r"""JSON that may stand in a script: no text in it ends the script.

    >>> print(_script_json("</script>"))
    "<\/script>"
    """
    return json.dumps(value).replace("</", "<\\/")
