"""The tables that ``riffler simulate`` prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from riffler.cli import output

if TYPE_CHECKING:
    from rich.table import Table

    from riffler.evaluation.search_measures import Spread
    from riffler.evaluation.search_problem import Problem
    from riffler.evaluation.search_report import PolicyRow
    from riffler.evaluation.simulate import Plan, SearchRun
    from riffler.evaluation.stopping_replay import RuleSummary


def print_simulation(
    problems: Sequence[Problem],
    runs: Sequence[SearchRun],
    plan: Plan,
    stopping: Mapping[str, Sequence[RuleSummary]],
) -> None:
    """Print what each recall cost, the other measures, every topic, and where the rules stopped."""
    from riffler.evaluation.search_report import policy_rows

    rows, console = policy_rows(runs), output.console()
    console.print(recall_table(rows))
    console.print()
    console.print(measures_table(rows))
    for line in legend(problems, plan, len({run.seed for run in runs})):
        console.print(line, soft_wrap=True)
    if len(problems) > 1:
        console.print()
        console.print(topics_table(problems, runs))
    for target in dict.fromkeys(row.target for those in stopping.values() for row in those):
        console.print()
        console.print(stopping_table(stopping, target))


def recall_table(rows: Sequence[PolicyRow]) -> Table:
    """Labels and share of the collection at each recall."""
    from riffler.evaluation.search_measures import RECALLS

    table = output.table("Labels and share read at recall", "policy", *(f"{recall:.0%}" for recall in RECALLS))
    for row in rows:
        cells = []
        for recall in map(str, RECALLS):
            share = row.shares[recall].mean
            cells.append(mean_and_spread(row.labels[recall], ",.0f") + ("" if share is None else f"\n{share:.1%}"))
        table.add_row(row.policy, *cells)
    return table


def measures_table(rows: Sequence[PolicyRow]) -> Table:
    """The other measures."""
    table = output.table(
        "Over the whole run", "policy", "WSS@95", "RRF@10", "ATD\nlabels", "CPU seconds\na run", "milliseconds\na step"
    )
    for row in rows:
        table.add_row(
            row.policy,
            mean_and_spread(row.wss95, ".3f"),
            mean_and_spread(row.rrf10, ".3f"),
            mean_and_spread(row.atd, ",.1f"),
            mean_and_spread(row.cpu_seconds, ",.2f"),
            f"{1000 * (row.seconds_per_step.mean or 0.0):,.1f}",
        )
    return table


def topics_table(problems: Sequence[Problem], runs: Sequence[SearchRun]) -> Table:
    """Share read at recall 95 % and 100 %, a row a topic."""
    from riffler.evaluation.search_report import by_topic, policy_rows

    policies = list(dict.fromkeys(run.policy for run in runs))
    heads = [f"{policy}\nat {recall}" for recall in ("95 %", "100 %") for policy in policies]
    table = output.table("Share read, topic by topic", "topic", "relevant", *heads)
    those = by_topic(runs)
    for problem in problems:
        rows = {row.policy: row for row in policy_rows(those[problem.name])}
        shares = [rows[policy].shares[recall].mean for recall in ("0.95", "1.0") for policy in policies]
        cells = ["-" if share is None else f"{share:.1%}" for share in shares]
        table.add_row(problem.name, f"{problem.n_relevant:,}", *cells)
    return table


def stopping_table(stopping: Mapping[str, Sequence[RuleSummary]], target: float) -> Table:
    """What each rule read and reached at one target, the cheapest first."""
    table = output.table(
        f"Stopping rules replayed, target {target:.0%}",
        "rule", "policy", "read", "needed", "recall", "lowest", "below\nthe target", "p of the\npromise",
        "with\na proof", "read\neverything",
    )  # fmt: skip
    lines = [(policy, row) for policy, rows in stopping.items() for row in rows if row.target == target]
    for policy, row in sorted(lines, key=lambda line: line[1].share):
        table.add_row(
            row.rule, policy, f"{row.share:.1%}", f"{row.share_needed:.1%}", f"{row.recall:.1%}",
            f"{row.lowest_recall:.1%}", f"{row.n_short} of {row.n_reviews}", f"{row.p_value:.3f}", str(row.n_certified),
            str(row.n_all),
        )  # fmt: skip
    return table


def legend(problems: Sequence[Problem], plan: Plan, n_runs: int) -> list[str]:
    """Say in a few lines what was searched and how the tables are read."""
    first = problems[0]
    goal = f"{first.n_relevant:,} relevant" if len(problems) == 1 else f"{len(problems)} topics, one against the rest"
    apart = f"features took {first.feature_cpu_seconds:.2f} CPU seconds, counted apart"
    if first.clusters is not None:
        apart += f", clusters {first.cluster_cpu_seconds:.2f}"
    return [
        f"{first.collection.source}: {first.n_items:,} items, {goal}; {apart}",
        f"labels include the {plan.prior_relevant + plan.prior_irrelevant} known from the start; mean ± standard "
        f"deviation of {n_runs} run{'s' * (n_runs > 1)}",
        "WSS@95 work saved at recall 95 %; RRF@10 recall after a tenth; ATD mean labels given when an item is found",
    ]


def mean_and_spread(spread: Spread, form: str) -> str:
    """Write mean and deviation, or how many runs got there.

    >>> from riffler.evaluation.search_measures import spread_of
    >>> mean_and_spread(spread_of([10, 14]), ".0f"), mean_and_spread(spread_of([10, None]), ".0f")
    ('12 ± 2', '(1 of 2 runs)')
    """
    if spread.mean is None or spread.spread is None:
        return f"({sum(one is not None for one in spread.runs)} of {len(spread.runs)} runs)"
    return f"{spread.mean:{form}}" + (f" ± {spread.spread:{form}}" if len(spread.runs) > 1 else "")
