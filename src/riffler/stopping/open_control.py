"""A recall bound for every policy, also one that learns from the control documents: a test martingale for each total.

Before each control draw f_s relevant items are known and U_s items are unlabelled. If the collection holds R relevant
items, the draw is relevant with probability p_s = (R - f_s) / U_s exactly, whatever the policy does. Against R bet that
fewer are left: of those that may be missed at the target only the share phi,

    p'_s = ( phi (R - f_s) + (1 - phi) max(target R - f_s, 0) ) / U_s
    E(R) = sum over phi of weight(phi) * product over draws of  p'_s / p_s  or  (1 - p'_s) / (1 - p_s)

is a martingale that starts at 1 if R is the truth: it ever reaches 1 / (1 - confidence) with probability at most
1 - confidence. E rises with R, so everything above the first rejected R is rejected with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from riffler.errors import InputError, NoClaim
from riffler.ledger import RELEVANT, UNKNOWN
from riffler.records import FloatArray, IntArray
from riffler.stopping.control import trickle_of
from riffler.stopping.progress import Decision, History, Progress, all_read, least_total, n_unresolved, nothing_found
from riffler.stopping.words import per_cent

LEFT = np.array([0.0, 0.02, 0.06, 0.12, 0.22, 0.36, 0.55])
WEIGHTS = np.diff(np.array([0.0, 0.01, 0.04, 0.09, 0.17, 0.29, 0.45, 1.0]) ** 0.25)
"""Bets on the share that is left, and their weights: steep, as a stop comes where little is left."""


@dataclass(frozen=True, slots=True, eq=False)
class Draws:
    """Control draws in order: what was known before each, and whether it was relevant."""

    n_known: IntArray
    n_unlabelled: IntArray
    relevant: IntArray


def evidence_against(total: int, draws: Draws, target: float) -> float:
    """Return the largest value that the logarithm of E(total) has had so far.

    >>> none = Draws(np.full(1500, 200), np.arange(8000, 6500, -1), np.zeros(1500, int))
    >>> round(evidence_against(211, none, 0.95), 2)
    1.91
    """
    if draws.relevant.size == 0:
        return 0.0
    left, total_f = LEFT[:, None], float(total)
    missing = np.clip(total_f - draws.n_known, 0.0, draws.n_unlabelled)
    p = missing / draws.n_unlabelled
    bet = left * missing + (1 - left) * np.clip(target * total_f - draws.n_known, 0.0, missing)
    p_bet = bet / draws.n_unlabelled
    with np.errstate(divide="ignore", invalid="ignore"):
        steps = np.where(draws.relevant == 1, np.log(p_bet / p), np.log1p(-p_bet) - np.log1p(-p))
    steps = np.where(p == p_bet, 0.0, steps)
    wealth: FloatArray = np.logaddexp.reduce(np.cumsum(steps, axis=1) + np.log(WEIGHTS)[:, None], axis=0)
    return max(float(wealth.max()), 0.0)


def most_relevant(draws: Draws, n_known: int, n_items: int, n_labelled: int, target: float, confidence: float) -> int:
    """Return the largest total of relevant items that is not ruled out."""
    enough = -np.log(1 - confidence)
    low, high = n_known, n_known + n_items - n_labelled  # low is possible; find the last that is
    while low < high:
        middle = (low + high + 1) // 2
        if evidence_against(middle, draws, target) >= enough:
            high = middle - 1
        else:
            low = middle
    return low


@dataclass(frozen=True, slots=True)
class OpenControl:
    """Stop when the anytime-valid lower bound of recall reaches the target; control documents may train the policy.

    every : one document in so many is a control document from the first label on
    patience : the policy goes on for about patience * unlabelled / k^2 documents without a find, k as in `control`
    """

    certificate: ClassVar[bool] = True  # a stop is guaranteed
    blind: ClassVar[bool] = False  # the policy may see everything
    needs_scores: ClassVar[bool] = False

    every: int = 20
    patience: float = 8.0

    def __post_init__(self) -> None:
        if self.every < 1 or not self.patience > 0:
            raise InputError(
                f"every must be at least 1 and patience above 0, got {self.every!r} and {self.patience!r}."
            )

    def decide(self, progress: Progress) -> Decision:
        """Bound the recall from below, and stop when the bound reaches the target."""
        history = progress.history()
        if (done := all_read(progress, history)) is not None:
            return done
        if history.n_found == 0:
            return nothing_found()
        draws = control_draws(progress, history)
        n_known = history.n_found + n_unresolved(history)
        most = most_relevant(
            draws, n_known, progress.n_items, history.answer.size, progress.target, progress.confidence
        )
        low = history.n_found / most
        reason = (
            f"{history.n_found} relevant documents are found, and with {per_cent(progress.confidence)} confidence "
            f"there are at most {most}: recall is at least {per_cent(low, 1)} (target {per_cent(progress.target)})."
        )
        stop = most < least_total(history.n_found, progress.target)
        return Decision(stop, reason, certificate=True, recall_low=low, n_more=0 if stop else None)

    def controls(self, progress: Progress, n: int) -> int:
        """Draw now and then at first; draw all after a long run of the policy without a find."""
        history = progress.history()
        n_labelled = history.answer.size
        trickle = trickle_of(history, n, self.every)
        finds = np.flatnonzero(history.ranked == RELEVANT)
        if not finds.size:
            return trickle
        dry = history.ranked.size - 1 - int(finds[-1])
        missed = least_total(history.n_found, progress.target) - history.n_found
        wait = max(self.patience * (progress.n_items - n_labelled) / missed**2, 30.0)
        return n if dry >= wait else trickle


def control_draws(progress: Progress, history: History) -> Draws:
    """Return the control draws with what was known before each; refuse draws that were not uniform."""
    possible = (history.answer == RELEVANT) | (history.control & (history.answer == UNKNOWN))
    rows = np.flatnonzero(history.control)
    unlabelled = progress.n_items - rows
    known = np.cumsum(possible) - possible
    odd = np.flatnonzero(np.abs(history.probability[rows] * unlabelled - 1.0) > 1e-6)
    if odd.size:
        at = int(odd[0])
        raise NoClaim(
            f"The control document at place {int(rows[at])} was drawn with probability "
            f"{history.probability[rows[at]]:g}, and {int(unlabelled[at])} items were unlabelled: expected one in "
            "so many. Draw control documents uniformly from everything unlabelled and record that probability."
        )
    return Draws(known[rows], unlabelled, possible[rows].astype(np.int64))
