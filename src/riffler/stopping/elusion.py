"""The final elusion sample: draw from what was not read, once, and bound what was missed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from riffler.errors import InputError
from riffler.ledger import UNKNOWN
from riffler.stopping.in_a_row import InARow
from riffler.stopping.progress import (
    Decision,
    History,
    Progress,
    StoppingRule,
    all_read,
    least_total,
    needs_scores,
)
from riffler.stopping.words import per_cent


@lru_cache(maxsize=4096)
def most_missed(n_unread: int, n_drawn: int, n_relevant: int, confidence: float) -> int:
    """Bound the relevant documents among the unread, the drawn ones included.

    The largest K with P(Hypergeometric(n_unread, K, n_drawn) <= n_relevant) > 1 - confidence.

    >>> most_missed(5000, 300, 0, 0.95), most_missed(5000, 300, 2, 0.95)
    (48, 102)
    """
    from scipy.stats import hypergeom

    low, high = n_relevant, n_unread - (n_drawn - n_relevant)
    while low < high:
        middle = (low + high + 1) // 2
        if hypergeom.cdf(n_relevant, n_unread, middle, n_drawn) > 1.0 - confidence:
            low = middle
        else:
            high = middle - 1
    return low


@lru_cache(maxsize=4096)  # a rule asks at every look
def required_sample(n_unread: int, n_found: int, target: float, confidence: float, n_expected: int = 0) -> int:
    """Return the least sample that proves the target if it holds no more than ``n_expected`` relevant documents.

    >>> required_sample(8000, 200, 0.95, 0.95), required_sample(8000, 10, 0.95, 0.95)
    (1907, 7600)
    """
    low, high = min(n_expected + 1, n_unread), n_unread
    while low < high:
        middle = (low + high) // 2
        missed = most_missed(n_unread, middle, n_expected, confidence)
        if n_found + missed < least_total(n_found + n_expected, target):
            high = middle
        else:
            low = middle + 1
    return low


def random_tail(progress: Progress, history: History) -> tuple[int, int, int, int]:
    """Return documents unread before the last run of control documents, its length, its relevant ones, found before."""
    others = np.flatnonzero(~history.control)
    start = int(others[-1]) + 1 if others.size else 0
    tail = history.answer[start:]
    possible = int(np.sum((tail == 1) | (tail == UNKNOWN)))
    return progress.n_items - start, int(tail.size), possible, int(history.relevant[:start].sum())


@dataclass(frozen=True, slots=True)
class Elusion:
    """Review until another rule says so, then draw one sample of the size said in advance, and claim what it proves.

    after : the rule that ends the review, a heuristic
    n_expected : relevant documents that the sample may hold and still prove the target

    One sample, one claim: it stops when the sample is drawn, proved or not.
    """

    certificate: ClassVar[bool] = True  # what it claims is guaranteed
    blind: ClassVar[bool] = False  # the sample comes last, so there is nothing to hide

    after: StoppingRule = InARow(200)  # noqa: RUF009 - frozen
    n_expected: int = 0

    def __post_init__(self) -> None:
        if self.n_expected < 0:
            raise InputError(f"n_expected must be at least 0, got {self.n_expected}.")

    @property
    def needs_scores(self) -> bool:
        """Whether the rule that ends the review does."""
        return needs_scores(self.after)

    def decide(self, progress: Progress) -> Decision:
        """Say the size of the sample, then what it proved."""
        history = progress.history()
        if (done := all_read(progress, history)) is not None:
            return done
        before = self.after.decide(progress)
        if not before.stop or history.n_found == 0:
            return Decision(False, f"Before the sample: {before.reason}", True, n_more=before.n_more)
        n_unread, n_drawn, n_relevant, n_before = random_tail(progress, history)
        size = required_sample(n_unread, n_before, progress.target, progress.confidence, self.n_expected)
        if n_drawn < size:
            reason = f"A random sample of {size} of the {n_unread} unread documents is needed; {n_drawn} are drawn."
            return Decision(False, reason, True, n_more=size - n_drawn)
        missed = most_missed(n_unread, n_drawn, n_relevant, progress.confidence)
        low = history.n_found / max(n_before + missed, 1)
        reason = f"The sample of {n_drawn} held {n_relevant} relevant documents: recall is at least {per_cent(low, 1)}."
        return Decision(True, reason, low >= progress.target, recall_low=low, n_more=0)

    def controls(self, progress: Progress, n: int) -> int:
        """Draw the sample once the review has ended."""
        decision = self.decide(progress)
        if decision.stop or not self.after.decide(progress).stop:
            return 0
        return min(n, decision.n_more or 0)
