"""How claims are judged: a word, and the numbers behind it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Verdict:
    """A claim, where it comes from, and what was found."""

    name: str
    claim: str
    source: str
    verdict: str  # agrees, in part, disagrees
    evidence: str


def word(n_good: int, n_all: int) -> str:
    """Say how many of the cases speak for a claim.

    >>> word(3, 3), word(1, 3), word(0, 3)
    ('agrees', 'in part', 'disagrees')
    """
    return "agrees" if n_good == n_all else "disagrees" if n_good == 0 else "in part"
