"""How claims are judged: a word, and the numbers behind it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from riffler.reproduction.markdown import table


@dataclass(frozen=True, slots=True)
class Verdict:
    """A claim, where it comes from, and what was found."""

    name: str
    claim: str
    source: str
    verdict: str  # agrees, in part, disagrees; not shown where the runs do not decide it
    evidence: str


def verdict_table(verdicts: Iterable[Verdict]) -> str:
    """Write what was found of each claim as a table in Markdown."""
    return table(
        ["claim", "source", "found", "numbers"],
        [[one.claim, one.source, f"**{one.verdict}**", one.evidence] for one in verdicts],
    )


def word(n_good: int, n_all: int) -> str:
    """Say how many of the cases speak for a claim.

    >>> word(3, 3), word(1, 3), word(0, 3)
    ('agrees', 'in part', 'disagrees')
    """
    return "agrees" if n_good == n_all else "disagrees" if n_good == 0 else "in part"


def word_of_differences(n_for: int, n_against: int, n_all: int) -> str:
    """Say what differences show of which some speak for a claim, some against it, and the others for neither.

    >>> word_of_differences(3, 0, 3), word_of_differences(1, 0, 3), word_of_differences(0, 1, 8)
    ('agrees', 'in part', 'not shown')
    """
    return "not shown" if n_for == 0 and 2 * n_against < n_all else word(n_for, n_all)
