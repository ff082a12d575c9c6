"""The places where the paper can be read in two ways: each reading alone, and the schemes under two of them."""

from __future__ import annotations

from dataclasses import replace

from riffler.learners.active_at_k import BALANCES, PaperReadings
from riffler.reproduction.active_at_k_cases import Case, Feed, Way

SAMPLED = ("exponential", "inverse", "uniform")
TO_THE_LETTER = PaperReadings(growing=True, any_label=True, capped=False, normalised=False)


def readings(feed: Feed, k: int) -> dict[str, Case]:
    """Give the cases that differ from ours in one reading, and those that take Algorithm 2 by the letter."""
    ours = Way()

    def case(way: Way) -> Case:
        return Case(feed, way, k)

    def read(**changes: bool) -> PaperReadings:
        return replace(PaperReadings(), **changes)

    return {
        "ours": case(ours),
        "weight grows with the gap": case(replace(ours, readings=read(growing=True))),
        "any label is added": case(replace(ours, readings=read(any_label=True))),
        "any label is added, balance none": case(replace(ours, readings=read(any_label=True), balance="none")),
        "no cap": case(replace(ours, readings=read(capped=False))),
        "weights not scaled to m": case(replace(ours, readings=read(normalised=False))),
        "balance none": case(replace(ours, balance="none")),
        "balance scale": case(replace(ours, balance="scale")),
        "balance ipw, no cap": case(replace(ours, balance="ipw", readings=read(capped=False))),
        "m = k": case(replace(ours, n_queries="k")),
        "temperature 0.1": case(replace(ours, reach=0.1)),
        "temperature 1": case(replace(ours, reach=1.0)),
        "batches by log base 2": Case(replace(feed, log_base=2.0), ours, k),
        "columns shifted only": case(replace(ours, scaling="center")),
        "Algorithm 2 to the letter": case(replace(ours, readings=TO_THE_LETTER, balance="none")),
        "the letter, but a falling weight": case(
            replace(ours, readings=replace(TO_THE_LETTER, growing=False), balance="none")
        ),
        "RBF, gamma 1/32": case(replace(ours, kernel="rbf", gamma=1 / 32)),
        "RBF, gamma 1/8": case(replace(ours, kernel="rbf", gamma=1 / 8)),
        "RBF, gamma 1/2": case(replace(ours, kernel="rbf", gamma=1 / 2)),
        "RBF, gamma 2": case(replace(ours, kernel="rbf", gamma=2.0)),
    }


def grid(feed: Feed, k: int) -> dict[tuple[str, str, str], Case]:
    """Give every sampled scheme with every balance and both expected numbers of labels: scheme, m, balance."""
    return {
        (scheme, n_queries, balance): Case(feed, Way(scheme, n_queries=n_queries, balance=balance), k)
        for scheme in SAMPLED
        for n_queries in ("mistakes", "k")
        for balance in BALANCES
    }
