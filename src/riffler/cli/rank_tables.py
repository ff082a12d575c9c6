"""The tables of ``riffler rank``: measures with their intervals, and in words how they are read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from riffler.cli import output

if TYPE_CHECKING:
    from riffler.evaluation.query_report import QueryReport
    from riffler.evaluation.ranking_report import RankingReport
    from riffler.metrics import BootstrapInterval, PairedDifference


def of(report: RankingReport | QueryReport) -> tuple[Any, tuple[str, ...]]:
    """Give the table of a report and the lines below it."""
    from riffler.evaluation.query_report import QueryReport

    if isinstance(report, QueryReport):
        return query_table(report), query_legend(report)
    return ranking_table(report), legend(report)


def ranking_table(report: RankingReport) -> Any:  # noqa: ANN401 - a table of rich
    """The measures of one ranking of all items."""
    share = "" if isinstance(report.k, int) else f" (k = {report.k:g} of the positives)"
    table = output.table(
        f"How good are the first {report.n_top:,} of {report.n_items:,} test items{share}?",
        "method",
        "precision\nat k",
        "recall\nat k",
        "AUC",
        "average\nprecision",
        "gain in\nprecision",
    )
    for row in report.rows:
        measures = (row.precision_at_k, row.recall_at_k, row.roc_auc, row.average_precision)
        table.add_row(row.method, *map(with_interval, measures), gain_of(row.gain))
    return table


def query_table(report: QueryReport) -> Any:  # noqa: ANN401 - a table of rich
    """The measures of rankings query by query."""
    title = f"How good are the first {report.n_top} items of each of {report.n_queries:,} test queries?"
    headers = "method", f"NDCG\nat {report.n_top}", "pairs\nin order", "reciprocal\nrank", "gain in\nNDCG"
    table = output.table(title, *headers)
    for row in report.rows:
        measures = row.ndcg, row.pairs_in_order, row.reciprocal_rank
        table.add_row(row.method, *map(with_interval, measures), gain_of(row.gain))
    return table


def query_legend(report: QueryReport) -> tuple[str, ...]:
    """Say in a few lines how the table of queries is read."""
    skipped = f" ({report.n_skipped:,} more have one grade only)" if report.n_skipped else ""
    return (
        f"NDCG at {report.n_top:<8} gain of the first, less the lower they stand, by that of the best order",
        "pairs in order   chance that the better of two items of a query is ranked first (AUC; random order: 0.500)",
        "reciprocal rank  one over the rank of the first item above the lowest grade",
        f"gain             NDCG less that of {report.baseline}; clear if its interval leaves out 0",
        f"All are means over the {report.n_queries:,} queries with items of several grades{skipped}.",
        "Below each number: its 95 % bootstrap interval over the queries.",
    )


def legend(report: RankingReport) -> tuple[str, ...]:
    """Say in a few lines how the table is read, with what a random order would reach."""
    chance, best = report.n_positive / report.n_items, report.n_positive / report.n_top
    limit = f", at best: {best:.3f}" if best < 1 else ""
    return (
        f"precision at k   share of positives among the first {report.n_top:,} (random order: {chance:.3f}{limit})",
        f"recall at k      share of all {report.n_positive:,} positives that are among them "
        f"(at best {min(1.0, report.n_top / report.n_positive):.3f})",
        "AUC              chance that a positive is ranked before a negative (random order: 0.500)",
        f"avg. precision   precision at the rank of each positive, averaged (random order: about {chance:.3f})",
        f"gain             precision at k less that of {report.baseline}; clear if its interval leaves out 0",
        "Below each number: its 95 % bootstrap interval over the test items.",
    )


def with_interval(found: BootstrapInterval) -> str:
    """Write a measure over its interval, no wider than a table of 80 columns allows."""
    return f"{found.value:.3f}\n{interval(found, '.3f')}"


def interval(found: BootstrapInterval | PairedDifference, form: str) -> str:
    """Write the ends of an interval."""
    return f"{found.low:{form}}…{found.high:{form}}"


def gain_of(found: PairedDifference | None) -> str:
    """Write a gain over its interval."""
    return "baseline" if found is None else f"{found.difference:+.3f}\n{interval(found, '+.3f')}"
