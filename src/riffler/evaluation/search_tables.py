"""The tables of a simulation in plain text, for the terminal and for the page: what to show, not how."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from riffler.evaluation.search_measures import RECALLS, Spread
from riffler.evaluation.search_problem import Problem
from riffler.evaluation.search_report import PolicyRow, by_topic, policy_rows
from riffler.evaluation.simulate import Plan, SearchRun
from riffler.evaluation.stopping_replay import RuleSummary
from riffler.stopping.words import per_cent


@dataclass(frozen=True, slots=True)
class Grid:
    """Cells of text, lines within a cell by line feeds; ``marked`` rows went wrong, ``best`` cells won."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    marked: frozenset[int] = frozenset()
    best: frozenset[tuple[int, int]] = frozenset()


def recall_grid(rows: Sequence[PolicyRow]) -> Grid:
    """Labels and share of the collection at each recall; the fewest labels are best."""
    levels = [str(recall) for recall in RECALLS]
    cells, best = [], set()
    for at, row in enumerate(rows):
        shares = [row.shares[level].mean for level in levels]
        words = [mean_and_spread(row.labels[level], ",.0f") for level in levels]
        cells.append(
            (
                row.policy,
                *(
                    f"{word}\n{short_share(share)}" if share else word
                    for word, share in zip(words, shares, strict=True)
                ),
            )
        )
        for place, level in enumerate(levels, start=1):
            others = [one.labels[level].mean for one in rows]
            known = [mean for mean in others if mean is not None]
            if len(rows) > 1 and known and row.labels[level].mean == min(known):
                best.add((at, place))
    head = ("policy", *(f"{recall:.0%}" for recall in RECALLS))
    return Grid("Labels and share read at recall", head, tuple(cells), best=frozenset(best))


def end_grids(rows: Sequence[PolicyRow]) -> list[Grid]:
    """What was read and found when the runs ended; none where every run found everything, as that is recall 100 %."""
    if not ended_early(rows):
        return []
    cells = [
        (
            row.policy,
            f"{mean_and_spread(row.read, ',.0f')}\n{short_share(row.share_read.mean or 0.0)}",
            mean_and_spread(row.found, ",.1f" if len(row.seeds) > 1 else ",.0f"),
            mean_and_spread(row.recall, ".1%"),
            f"{len(row.seeds) - row.n_short} of {len(row.seeds)}",
        )
        for row in rows
    ]
    head = ("policy", "read", "relevant\nfound", "recall", "runs that\nfound everything")
    return [Grid("Where the runs ended", head, tuple(cells))]


def ended_early(rows: Sequence[PolicyRow]) -> bool:
    """Whether any run ended with something not found."""
    return any(row.n_short for row in rows)


def measures_grid(rows: Sequence[PolicyRow]) -> Grid:
    """Work saved, recall at the top, time to discovery and running time."""
    cells = [
        (
            row.policy,
            mean_and_spread(row.wss95, ".3f"),
            mean_and_spread(row.rrf10, ".3f"),
            mean_and_spread(row.atd, ",.1f"),
            mean_and_spread(row.cpu_seconds, ",.2f"),
            f"{1000 * (row.seconds_per_step.mean or 0.0):,.1f}",
        )
        for row in rows
    ]
    head = ("policy", "WSS@95", "RRF@10", "ATD\nlabels", "CPU seconds\na run", "milliseconds\na step")
    return Grid("Over the whole run", head, tuple(cells))


def topics_grid(problems: Sequence[Problem], runs: Sequence[SearchRun]) -> Grid:
    """Share read at recall 95 % and 100 %, a row a topic, two columns a policy; recall too where runs ended early."""
    policies = list(dict.fromkeys(run.policy for run in runs))
    those, cells, early = by_topic(runs), [], ended_early(policy_rows(runs))
    for problem in problems:
        rows = {row.policy: row for row in policy_rows(those[problem.name])}
        shares = [rows[policy].shares[recall].mean for recall in ("0.95", "1.0") for policy in policies]
        words = ["-" if share is None else short_share(share) for share in shares]
        reached = [mean_and_spread(rows[policy].recall, ".1%") for policy in policies] if early else []
        cells.append((problem.name, f"{problem.n_relevant:,}", *words, *reached))
    heads = [f"{policy}\nat {recall}" for recall in ("95 %", "100 %") for policy in policies]
    heads += [f"{policy}\nrecall" for policy in policies] if early else []
    title = f"Share read{', and recall at the end' * early}, topic by topic"
    return Grid(title, ("topic", "relevant", *heads), tuple(cells))


def stopping_grids(stopping: Mapping[str, Sequence[RuleSummary]]) -> dict[float, Grid]:
    """What each rule read and reached, the cheapest first; a table a target, broken promises marked."""
    found = {}
    for target in dict.fromkeys(row.target for rows in stopping.values() for row in rows):
        lines = [(policy, row) for policy, rows in stopping.items() for row in rows if row.target == target]
        lines.sort(key=lambda line: line[1].share)
        cells = tuple(_stopping_cells(policy, row) for policy, row in lines)
        marked = frozenset(at for at, (_, row) in enumerate(lines) if row.p_value < 0.01)
        head = ("rule", "policy", "read", "needed", "recall", "lowest", "below\nthe target", "p of the\npromise")
        title = f"Stopping rules replayed, target {target:.0%}"
        found[target] = Grid(title, (*head, "with\na proof", "read\neverything"), cells, marked)
    return found


def _stopping_cells(policy: str, row: RuleSummary) -> tuple[str, ...]:
    shares = (row.share, row.share_needed, row.recall, row.lowest_recall)
    return (
        row.rule, policy, *(f"{share:.1%}" for share in shares), f"{row.n_short} of {row.n_reviews}",
        f"{row.p_value:.3f}", str(row.n_certified), str(row.n_all),
    )  # fmt: skip


def setting_in_words(problems: Sequence[Problem], runs: Sequence[SearchRun], plan: Plan) -> str:
    """What was searched, how often, from where."""
    first, n_runs = problems[0], len({run.seed for run in runs})
    goal = f"{first.n_relevant:,} relevant" if len(problems) == 1 else f"{len(problems)} topics, one against the rest"
    batch = "batches that grow by a tenth" if isinstance(plan.batch, str) else f"batches of {plan.batch}"
    budget = "" if plan.budget == 1 else f", at most {per_cent(plan.budget)} of the collection"
    described = "" if plan.description is None else f", described as “{plan.description}”"
    known = f"{plan.prior_relevant} relevant and {plan.prior_irrelevant} irrelevant, drawn by the seed"
    return (
        f"{first.n_items:,} items, {goal}; {n_runs} run{'s' * (n_runs > 1)} of each policy in {batch}{budget}; "
        f"known from the start: {known}{described}."
    )


def paid_apart(problem: Problem) -> str:
    """What was made once for all runs, and what it took."""
    words = f"Features took {problem.feature_cpu_seconds:.2f} CPU seconds, counted apart"
    return words + (f"; clusters {problem.cluster_cpu_seconds:.2f}." if problem.clusters is not None else ".")


def reading(rows: Sequence[PolicyRow]) -> str:
    """What the numbers mean, and what stands where there is none."""
    return READING + (f" {ENDED_EARLY}" if ended_early(rows) else "")


READING = (
    "Labels include what was known from the start; mean ± standard deviation over the runs. "
    "WSS@95: work saved over a random order at recall 95 %. RRF@10: recall after a tenth of the collection. "
    "ATD: labels given, on average, when a relevant item is found."
)
ENDED_EARLY = (
    "Some runs ended at the budget, before everything was found. Where not all runs got as far as a column asks (to a "
    "recall, or through a tenth of the collection), “(0 of 3 runs)” says how many did, in place of a mean; in the "
    "table of topics it is “-”."
)
STOPPING_READING = (
    "Shares of the collection that were read, and that the order itself needs; recall reached, mean and lowest. "
    "p: exact binomial test that no more reviews end below the target than the confidence allows."
)


def short_share(share: float) -> str:
    """Write a share with one decimal, and a small one with as many as tell it from others.

    >>> short_share(0.3875), short_share(1.0), short_share(0.004129), short_share(0.0)
    ('38.8%', '100.0%', '0.413%', '0.0%')
    """
    decimals = 1 if share in (0, 1) else max(1, -math.floor(math.log10(share)))
    return f"{share:.{decimals}%}"


def mean_and_spread(spread: Spread, form: str) -> str:
    """Write mean and deviation, or how many runs got there.

    >>> from riffler.evaluation.search_measures import spread_of
    >>> mean_and_spread(spread_of([10, 14]), ".0f"), mean_and_spread(spread_of([10, None]), ".0f")
    ('12 ± 2', '(1 of 2 runs)')
    """
    if spread.mean is None or spread.spread is None:
        return f"({sum(one is not None for one in spread.runs)} of {len(spread.runs)} runs)"
    return f"{spread.mean:{form}}" + (f" ± {spread.spread:{form}}" if len(spread.runs) > 1 else "")
