"""The report of a simulation: one HTML file with its tables and charts, which asks no other host for anything."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from riffler.data.atomic import atomic_write
from riffler.evaluation.charts import Chart
from riffler.evaluation.search_charts import cost_chart, recall_chart, stopping_chart
from riffler.evaluation.search_measures import RECALLS, Spread
from riffler.evaluation.search_problem import Problem
from riffler.evaluation.search_report import PolicyRow, by_topic, policy_rows, versions
from riffler.evaluation.simulate import Plan, SearchRun
from riffler.evaluation.stopping_replay import RuleSummary

STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; color: #222; max-width: 1000px; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; margin-bottom: .2rem; } h2 { font-size: 1.2rem; margin-top: 2.4rem; }
p.note { color: #666; margin: .2rem 0 1rem; } .wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .92rem; }
th, td { padding: .3rem .7rem; text-align: right; border-bottom: 1px solid #e6e6e6; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; } thead th { border-bottom: 2px solid #bbb; vertical-align: bottom; }
td small { color: #777; } tr.short td { color: #C1272D; } .best { font-weight: 600; }
"""

READING = (
    '<p class="note">Shares of the collection that were read, and that the order itself needs; recall reached, mean '
    "and lowest. Red: more reviews ended below the target than the confidence allows (the exact binomial test of that "
    "promise rejects at 1 %).</p>"
)


@dataclass(frozen=True, slots=True)
class Table:
    """Cells in HTML; a row may have a class of its own."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    classes: tuple[str, ...] = ()

    def html(self) -> str:
        """The table as HTML."""
        head = "".join(f"<th>{cell}</th>" for cell in self.head)
        classes = self.classes or ("",) * len(self.rows)
        body = "".join(
            f'<tr class="{name}">' + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>\n"
            for row, name in zip(self.rows, classes, strict=True)
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
        f'<p class="note">{escape(_what(problems, runs, plan))}</p>',
        "<h2>What each recall costs</h2>",
        '<p class="note">Labels, priors included, mean ± standard deviation over the runs; in grey the share of the '
        "collection. The least of each column is bold.</p>",
        recall_table(rows).html(),
        _div("recall"),
        *([_div("cost")] if "cost" in charts else []),
        "<h2>Further measures</h2>",
        '<p class="note">WSS@95: work saved over a random order at recall 95 %. RRF@10: recall after a tenth of the '
        "collection. ATD: labels given, on average, when a relevant item is found.</p>",
        measures_table(rows).html(),
    ]
    if len(problems) > 1:
        parts += ["<h2>Topic by topic</h2>", topics_table(problems, runs).html()]
    for target in dict.fromkeys(row.target for those in stopping.values() for row in those):
        name = f"stopping{round(target * 1000)}"
        charts[name] = stopping_chart(stopping, target)
        parts += [f"<h2>Stopping rules, target {target:.0%}</h2>", READING]
        parts += [stopping_table(stopping, target).html(), _div(name)]
    parts.append(f'<p class="note">{escape(_made_with(problems))}</p>')
    return _page(_title(problems), parts, charts)


def recall_table(rows: Sequence[PolicyRow]) -> Table:
    """Labels at each recall, a row a policy."""
    best = {
        str(recall): min((row.labels[str(recall)].mean or float("inf") for row in rows), default=float("inf"))
        for recall in RECALLS
    }
    cells = []
    for row in rows:
        line = [escape(row.policy)]
        for recall in map(str, RECALLS):
            words = _mean_and_spread(row.labels[recall], ",.0f")
            if row.labels[recall].mean == best[recall]:
                words = f'<span class="best">{words}</span>'
            share = row.shares[recall].mean
            line.append(words if share is None else f"{words}<br><small>{share:.1%}</small>")
        cells.append(tuple(line))
    return Table(("policy", *(f"recall {recall:.0%}" for recall in RECALLS)), tuple(cells))


def measures_table(rows: Sequence[PolicyRow]) -> Table:
    """Work saved, recall at the top, time to discovery and running time, a row a policy."""
    head = ("policy", "WSS@95", "RRF@10", "ATD, labels", "CPU seconds<br>a run", "milliseconds<br>a step")
    return Table(
        head,
        tuple(
            (
                escape(row.policy),
                _mean_and_spread(row.wss95, ".3f"),
                _mean_and_spread(row.rrf10, ".3f"),
                _mean_and_spread(row.atd, ",.1f"),
                _mean_and_spread(row.cpu_seconds, ",.2f"),
                f"{1000 * (row.seconds_per_step.mean or 0.0):,.1f}",
            )
            for row in rows
        ),
    )


def topics_table(problems: Sequence[Problem], runs: Sequence[SearchRun]) -> Table:
    """Share read at recall 95 % and 100 %, a row a topic, two columns a policy."""
    policies = list(dict.fromkeys(run.policy for run in runs))
    those = by_topic(runs)
    cells = []
    for problem in problems:
        rows = {row.policy: row for row in policy_rows(those[problem.name])}
        shares = [rows[policy].shares[recall].mean for recall in ("0.95", "1.0") for policy in policies]
        written = ["-" if share is None else f"{share:.1%}" for share in shares]
        cells.append((escape(problem.name), f"{problem.n_relevant:,}", *written))
    head = [f"{escape(policy)}<br>at {recall}" for recall in ("95 %", "100 %") for policy in policies]
    return Table(("topic", "relevant", *head), tuple(cells))


def stopping_table(stopping: Mapping[str, Sequence[RuleSummary]], target: float) -> Table:
    """What each rule read and reached at one target, the cheapest first."""
    lines = [(policy, row) for policy, rows in stopping.items() for row in rows if row.target == target]
    lines.sort(key=lambda line: line[1].share)
    cells = [
        (
            escape(row.rule),
            escape(policy),
            f"{row.share:.1%}",
            f"{row.share_needed:.1%}",
            f"{row.recall:.1%}",
            f"{row.lowest_recall:.1%}",
            f"{row.n_short} of {row.n_reviews}",
            f"{row.p_value:.3f}",
            f"{row.n_certified}",
            f"{row.n_all}",
        )
        for policy, row in lines
    ]
    head = ("rule", "policy", "read", "needed", "recall", "lowest", "below<br>the target", "p of the<br>promise")
    classes = tuple("short" if row.p_value < 0.01 else "" for _, row in lines)
    return Table((*head, "with<br>a proof", "read<br>everything"), tuple(cells), classes)


def _mean_and_spread(spread: Spread, form: str) -> str:
    if spread.mean is None or spread.spread is None:
        n = sum(one is not None for one in spread.runs)
        return f"<small>{n} of {len(spread.runs)} runs</small>"
    return f"{spread.mean:{form}}" + (f" ± {spread.spread:{form}}" if len(spread.runs) > 1 else "")


def _title(problems: Sequence[Problem]) -> str:
    return f"Simulated search: {Path(problems[0].collection.source).name}"


def _what(problems: Sequence[Problem], runs: Sequence[SearchRun], plan: Plan) -> str:
    first, n_runs = problems[0], len({run.seed for run in runs})
    goal = f"{first.n_relevant:,} relevant" if len(problems) == 1 else f"{len(problems)} topics, one against the rest"
    batch = "batches that grow by a tenth" if isinstance(plan.batch, str) else f"batches of {plan.batch}"
    budget = "" if plan.budget == 1 else f", at most {plan.budget:.0%} of the collection"
    described = "" if plan.description is None else f", described as “{plan.description}”"
    known = f"{plan.prior_relevant} relevant and {plan.prior_irrelevant} irrelevant, drawn by the seed"
    return (
        f"{first.n_items:,} items, {goal}. {n_runs} run{'s' * (n_runs > 1)} of each policy in {batch}{budget}; "
        f"known from the start: {known}{described}."
    )


def _made_with(problems: Sequence[Problem]) -> str:
    from riffler import __version__

    names = ", ".join(f"{name} {number}" for name, number in versions().items())
    apart = f"Features took {problems[0].feature_cpu_seconds:.2f} CPU seconds, counted apart"
    if problems[0].clusters is not None:
        apart += f"; clusters {problems[0].cluster_cpu_seconds:.2f}"
    return f"riffler {__version__}; {names}. {apart}."


def _div(name: str) -> str:
    return f'<div class="wide" id="{name}"></div>'


def _page(title: str, parts: Sequence[str], charts: Mapping[str, Chart]) -> str:
    """Put the parts into a page that carries its own scripts."""
    import altair as alt
    import vl_convert

    version = ".".join(alt.SCHEMA_VERSION.lstrip("v").split(".")[:2])
    bundle = vl_convert.javascript_bundle(vl_version=version)  # type: ignore[call-arg]  # its stubs lack the default
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
