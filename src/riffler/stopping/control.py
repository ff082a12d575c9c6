"""Ours: a control sample woven into the review, and an exact certificate from it at every step.

All items stand in a random order that is fixed in advance. At any time the first m of it are labelled: some because the
policy came to them (free), the others as control documents, whose labels the policy does not learn from before it meets
them. Let the policy have found f, so that missing the target means at least k = floor(f / target) + 1 - f missed
ones, and let X be the relevant control documents it has not met. Then

    stop  when  m >= m(k)  and  X <= x(k),    with   P( Hypergeometric(n_items, k, m(k)) <= x(k) )  <=  1 - confidence

where x(k) never falls and m(k) never rises with k. As f grows over the review, stopping early is harder than stopping
at the last moment before the target: one test, at one unknown moment, whatever the number of looks. The proof is on
docs/methods/stopping.md.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from riffler.disk.ids import DiskIds
from riffler.errors import InputError
from riffler.ledger import RELEVANT, UNKNOWN
from riffler.records import BoolArray, IntArray
from riffler.stopping.progress import Decision, History, Progress, all_read, least_total, nothing_found
from riffler.stopping.words import per_cent

SHARE, AT, FALL = 0.05, 25.0, 0.25
"""Most of the collection that is drawn in order to allow misses: 5 % where 25 may be missed, less where more may."""

BLOCK = 65_536  # ids that are hashed at a time
MOST = 2000  # a larger k is taken for this one, which only asks for more


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """For each number k of missed items that must be ruled out: how many to draw, and how many misses are allowed."""

    missed: IntArray  # k, rising
    allowed: IntArray  # x(k), never falling
    draws: IntArray  # m(k), never rising

    def at(self, n_missed: int) -> tuple[int, int]:
        """Return draws and allowed misses; between two rows the more careful one."""
        row = int(np.searchsorted(self.missed, n_missed, side="right")) - 1
        return int(self.draws[row]), int(self.allowed[row])


@lru_cache(maxsize=64)
def control_design(n_items: int, confidence: float = 0.95, share: float = SHARE) -> Design:
    """Plan the control sample of a collection, before anything is drawn.

    To allow misses costs draws and saves reading on: up to ``share`` of the collection is drawn for it. With
    ``share=0`` no miss is ever allowed.
    With k = 10 (200 relevant items at recall .95) a quarter must be drawn, and none of it may be missed:

    >>> control_design(10_000).at(10), control_design(10_000).at(300)
    ((2588, 0), (257, 3))
    """
    from scipy.stats import hypergeom

    error = 1.0 - confidence
    missed = _levels(n_items)
    most = np.minimum(share * (AT / missed) ** FALL, 1.0) * n_items
    candidates = np.arange(int(missed[-1]))
    allowed = np.zeros(missed.size, dtype=np.int64)
    for row, (k, m) in enumerate(zip(missed.tolist(), most.astype(int).tolist(), strict=True)):
        fits = np.flatnonzero(hypergeom.cdf(candidates[:k], n_items, k, m) <= error)
        allowed[row] = fits[-1] if fits.size else 0
    allowed = np.minimum.accumulate(allowed[::-1])[::-1]
    least, enough = np.ones(missed.size, dtype=np.int64), np.full(missed.size, n_items)
    while (least < enough).any():
        middle = (least + enough) // 2
        proved: BoolArray = np.asarray(hypergeom.cdf(allowed, n_items, missed, middle) <= error)
        enough = np.where(proved, middle, enough)
        least = np.where(proved, least, np.minimum(middle + 1, enough))
    return Design(missed, allowed, np.maximum.accumulate(enough[::-1])[::-1])


def _levels(n_items: int) -> IntArray:
    """Return every k up to 40, then steps of 3 %."""
    levels = list(range(1, 41))
    while levels[-1] < MOST:
        levels.append(int(levels[-1] * 1.03) + 1)
    every = np.array(levels)
    return every[every <= n_items]


def control_order(ids: Sequence[str], seed: int | str) -> IntArray:
    """Return the rows in a random order keyed by (seed, id): the same for any order of the rows.

    >>> control_order(["a", "b", "c", "d"], seed=0)
    array([0, 2, 3, 1])
    """
    keys = _random_keys(ids, str(seed).encode())
    order = np.argsort(keys)
    rising = keys[order]
    equal = np.flatnonzero(rising[1:] == rising[:-1])  # next to never: ids of equal keys
    if equal.size:
        alike = np.unique(np.concatenate([equal, equal + 1]))
        order[alike] = sorted(order[alike].tolist(), key=lambda row: (keys[row], ids[row]))
    return order


def _random_keys(ids: Iterable[str], key: bytes) -> NDArray[np.uint64]:
    """A number keyed by each id, without holding all ids."""
    if isinstance(ids, DiskIds):
        return ids.keyed(key)
    parts = [np.empty(0, dtype=np.uint64)]
    names = iter(ids)
    while some := list(islice(names, BLOCK)):
        digests = [hashlib.blake2b(one.encode(), digest_size=8, key=key).digest() for one in some]
        parts.append(np.frombuffer(b"".join(digests), dtype=">u8").astype(np.uint64))
    return np.concatenate(parts)


def control_reach(order: IntArray, labelled: BoolArray) -> int:
    """Count the items at the head of the order that are all labelled; the next control document is ``order[reach]``.

    >>> control_reach(np.array([2, 0, 1]), np.array([False, True, True]))
    1
    """
    start, size = 0, 1024
    while start < order.size:  # from the head on: it is mostly short, and the order may be very long
        open_places = np.flatnonzero(~labelled[order[start : start + size]])
        if open_places.size:
            return start + int(open_places[0])
        start, size = start + size, 2 * size
    return int(order.size)


def certifiable_recall(n_items: int, n_found: int, n_draws: int, confidence: float = 0.95) -> float:
    """Return the highest recall that a control sample of ``n_draws`` can certify if nothing relevant is missed.

    Choose it as the target, with ``ControlSample(share=0)``, before the draws are looked at.

    >>> round(certifiable_recall(10_000, 200, 1000), 3)
    0.877
    """
    if n_found == 0:
        return 0.0
    design = control_design(n_items, confidence=confidence, share=0.0)
    fits = np.flatnonzero(design.draws <= n_draws)
    if not fits.size:
        return 0.0
    # k - 1 missed ones cannot be told from none
    return n_found / (n_found + int(design.missed[fits[0]]) - 1)


@dataclass(frozen=True, slots=True)
class ControlSample:
    """Stop as soon as the control sample proves the target: exact at every step, for every policy that is blind to it.

    every : one document in so many is a control document from the first label on
    share : most of the collection that may be drawn to allow misses, see `control_design`
    window : documents over which the yield of the policy is measured, to decide when to draw more
    nearly_all : share of the collection from which on a certificate is said to cost nearly everything
    """

    certificate: ClassVar[bool] = True  # a stop is guaranteed
    blind: ClassVar[bool] = True  # the policy must not learn from control documents that it has not met
    needs_scores: ClassVar[bool] = False

    every: int = 20
    share: float = SHARE
    window: int = 100
    nearly_all: float = 0.6

    def __post_init__(self) -> None:
        if self.every < 1 or self.window < 1:
            raise InputError(f"every and window must be at least 1, got {self.every!r} and {self.window!r}.")
        if not 0 <= self.share <= 1:
            raise InputError(f"share must lie between 0 and 1, got {self.share!r}.")

    def decide(self, progress: Progress) -> Decision:
        """Stop when enough of the random order is labelled and few enough of it were missed by the policy."""
        history = progress.history()
        if (done := all_read(progress, history)) is not None:
            return done
        n_met, n_missed = control_counts(progress)
        if n_met == 0:
            return nothing_found()
        draws, allowed = self._plan(progress, n_met)
        n_more = max(draws - progress.control_reach, 0)
        if n_more == 0 and n_missed <= allowed:
            reason = (
                f"The policy found {n_met} relevant documents; of the first {progress.control_reach} in random order "
                f"it missed {n_missed} ({allowed} are allowed), which proves a recall of {per_cent(progress.target)}."
            )
            return Decision(True, reason, certificate=True, recall_low=progress.target, n_more=0)
        return Decision(False, self._waiting(progress, n_met, n_missed, allowed, draws), True, n_more=n_more)

    def controls(self, progress: Progress, n: int) -> int:
        """Draw now and then at first; draw all once a draw is worth more than what the policy still finds."""
        history = progress.history()
        n_met, n_missed = control_counts(progress)
        ranked = history.ranked[-self.window :]
        trickle = trickle_of(history, n, self.every)
        if n_met == 0 or ranked.size < self.window:
            return trickle
        draws, allowed = self._plan(progress, n_met)
        # A find lowers the number to draw by about draws / found, so the policy pays while it finds more than this.
        worth_it = float(np.mean(ranked == RELEVANT)) + 0.5 / self.window > n_met / draws
        if worth_it:
            return trickle
        if n_missed > allowed:
            return 0  # it cannot be proved before the policy meets some of the missed ones
        return min(n, max(draws - progress.control_reach, 0))

    def _plan(self, progress: Progress, n_met: int) -> tuple[int, int]:
        """Return how much of the random order must be labelled, and how many misses are allowed in it."""
        missed = least_total(n_met, progress.target) - n_met
        return control_design(progress.n_items, progress.confidence, self.share).at(missed)

    def _waiting(self, progress: Progress, n_met: int, n_missed: int, allowed: int, draws: int) -> str:
        if n_missed > allowed:
            return (
                f"Of the first {progress.control_reach} documents in random order the policy missed {n_missed} "
                f"relevant ones, and at most {allowed} are allowed: it must find more."
            )
        said = (
            f"To prove a recall of {per_cent(progress.target)} with {n_met} found, the first {draws} of "
            f"{progress.n_items} documents in random order must be labelled; {progress.control_reach} are."
        )
        if draws <= self.nearly_all * progress.n_items:
            return said
        tenth = progress.n_items // 10
        best = certifiable_recall(progress.n_items, n_met, tenth, progress.confidence)
        return (
            f"{said} With so few found that is nearly everything. A tenth of the collection ({tenth}) could prove "
            f"a recall of {per_cent(best, 0)}; set a lower target before drawing more."
        )


def trickle_of(history: History, n: int, every: int) -> int:
    """Return how many control documents are due, at most n: one for each ``every`` documents the policy came to."""
    due = (history.ranked.size + n) // every - int(history.control.sum())
    return min(max(due, 0), n)


def control_counts(progress: Progress) -> tuple[int, int]:
    """Return the relevant items that the policy came to, and those of the random order that it may have missed.

    What nobody could judge may be relevant, and was not found: it is missed, whoever came to it.
    """
    history = progress.history()
    by_policy = ~history.control | history.met
    possible = (history.answer == RELEVANT) & ~history.met | (history.answer == UNKNOWN)
    return int(np.sum(history.relevant & by_policy)), int(np.sum(history.control & possible)) + progress.n_open
