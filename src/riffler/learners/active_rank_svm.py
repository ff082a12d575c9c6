"""ActiveRankSVM: learn the whole order from a few well-chosen pairs and points (Shen and Lin 2013)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit
from sklearn.utils import check_random_state

from riffler.errors import InputError, LabelError, UnknownName
from riffler.learners.pair_newton import PairNewton
from riffler.learners.pair_pool import DrawnPairs, PairPool, sampling_from
from riffler.learners.pair_ranker import (
    GradedSet,
    PairRanker,
    checked_grades,
    need_above_zero,
    need_points_apart,
    need_share,
    need_two_grades,
    warn_unless,
)
from riffler.learners.pair_solver import GrowingPairs, PairSolver, loss_code
from riffler.records import FloatArray, Matrix

FIRST_PAIRS = 200
"""Pairs drawn at random before anything is known, where the batch is a share."""

EARLY_PASSES = 5
"""Most passes in a round that another one follows: its weights only say where to look."""

LEAST_CHANCE = 0.05
"""No pair counts more than one of this chance."""

NEWTON_COLUMNS = 256
"""Most columns for which the Hessian of the chosen pairs is made."""

WEIGHTINGS = ("equal", "inverse", "robust")
CANDIDATES = ("spread", "independent")
MAX_SEED = 2**31 - 1


@dataclass(frozen=True, slots=True, eq=False)
class Round:
    """What is known after one round; ``weights`` is a view that the next round changes."""

    n_pairs: int
    n_candidates: int
    seconds: float
    weights: FloatArray


class _Clock:
    """Seconds of work, not counting what is done between the rounds by whoever looks at them."""

    def __init__(self) -> None:
        self._before = 0.0
        self.go_on()

    def go_on(self) -> None:
        self._start = perf_counter()

    def stop(self) -> float:
        self._before += perf_counter() - self._start
        return self._before


class ActiveRankSVM(PairRanker):
    """Order rows of higher grade before rows of lower grade, learning from a few well-chosen pairs.

    Round by round it draws pairs at random, accepts those that the ranking so far gets wrong (or is unsure about), and
    goes on with ``|w|^2 / 2 + C * mean of loss(w . (x_i - x_j))`` over the pairs it has, by dual coordinate descent or,
    for the squared hinge and few columns, by Newton steps.
    The cost does not grow with the number of pairs that exist, and scores are worked out only for rows that come up.

    Parameters
    ----------
    sampling : "soft-correct", "soft-close", "hard-correct", "hard-close" or "random"
        Which candidates are accepted. "soft-correct": with chance tanh(h / 2s) for a hinge (or logistic) loss of h;
        "soft-close": with chance 2 / (1 + exp(abs(margin) / s)); s is ``softness``. The hard ones look at ten times as
        many candidates as they need and take the worst, or the closest; chances they have none, so none to weigh by.
    n_pairs : int or "auto"
        Pairs (and points) to learn from; all there are if there are fewer. "auto" goes on until the order of rows held
        out (queries, where there are several) gets no better; where rows are too few for that, it takes 10,000 pairs.
        In ``partial_fit``, pairs of each batch.
    batch : int or float
        Pairs a round: a number, or a share of those that are there.
    points : float in [0, 1]
        Share of candidates that are points: a row against the zero vector, upwards for the higher grade and downwards
        for the lower, both grades equally often. For two grades only. Where pairs are fewer than asked for, points are
        no more than this share of both.
    point_weight : float
        Weight of a point beside that of a pair.
    weighting : "inverse", "robust" or "equal"
        "inverse" counts a pair the more the smaller its chance to be accepted was, so that the mean is that over all
        pairs, those that are right by far included: C means what it means in RankSVM. "robust" counts it besides by
        2 / (1 + exp(abs(margin) / s)) with its margin when it was drawn, so that what is wrong by far pulls less;
        "equal" counts all alike, as published. These two take the mean over the pairs learned from, by these weights.
    candidates : "spread" or "independent"
        "spread" lets all rows come up equally often (a low-discrepancy sequence with a random start), so that few pairs
        speak for all; "independent" draws each candidate anew, as published.
    C : float
        Weight of the mean loss beside the penalty.
    loss : "squared_hinge", "hinge" or "logistic"
    softness : float
        s, the unit of margins in chances and robust weights.
    tol : float
        Descent stops when no pair's margin is further than this from where the pair alone would have it, Newton steps
        when the last one moved no margin further.
    max_passes : int
        Most passes over the pairs at the end; the rounds before it need few.
    random_state : int, RandomState or None
    progress : callable or None
        Called after each round of ``fit`` with the share done and what is going on.

    Attributes
    ----------
    coef_ : array of shape (1, n_features)
    n_features_in_ : int
    n_pairs_ : int
        Pairs and points learned from; with weights, a pair that is drawn again counts again. Fewer than asked for if
        there are no more, or if a thousand candidates a pair, or half a million in a row, had none that is worth it.
    n_candidates_ : int
        Pairs looked at.
    n_iter_ : int
        Rounds.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(2000, weights=[0.9], class_sep=2, flip_y=0, random_state=0)
    >>> ActiveRankSVM(n_pairs=1000, random_state=0).fit(X, y).score(X, y) > 0.999
    True
    """

    def __init__(
        self,
        sampling: str = "soft-correct",
        *,
        n_pairs: int | str = 10_000,
        batch: int | float = 0.5,
        points: float = 0.0,
        point_weight: float = 1.0,
        weighting: str = "inverse",
        candidates: str = "spread",
        C: float = 100.0,
        loss: str = "squared_hinge",
        softness: float = 1.0,
        tol: float = 0.1,
        max_passes: int = 50,
        random_state: Any = None,  # noqa: ANN401 - int, RandomState or None
        progress: Callable[[float, str], None] | None = None,
    ) -> None:
        self.sampling = sampling
        self.n_pairs = n_pairs
        self.batch = batch
        self.points = points
        self.point_weight = point_weight
        self.weighting = weighting
        self.candidates = candidates
        self.C = C
        self.loss = loss
        self.softness = softness
        self.tol = tol
        self.max_passes = max_passes
        self.random_state = random_state
        self.progress = progress

    def fit(
        self, X: Matrix, y: ArrayLike, sample_weight: ArrayLike | None = None, qid: ArrayLike | None = None
    ) -> Self:
        """Learn from ``n_pairs`` pairs of rows of different grades (in the same query)."""
        for _ in self.rounds(X, y, sample_weight, qid):
            pass
        return self

    def rounds(
        self, X: Matrix, y: ArrayLike, sample_weight: ArrayLike | None = None, qid: ArrayLike | None = None
    ) -> Iterator[Round]:
        """Fit round by round, telling what is known after each: the curve of quality against pairs or time.

        After each round the ranker has what was learned so far, and the rounds may be left there.
        """
        self._check_settings()
        data = checked_grades(self, X, y, sample_weight, qid)
        need_two_grades(data)
        need_points_apart(self.points, data)
        seed = int(check_random_state(self.random_state).randint(MAX_SEED))
        n_pairs = self.n_pairs
        if isinstance(n_pairs, str):
            from riffler.learners.enough_pairs import enough_pairs

            n_pairs = enough_pairs(self, data, seed)
        solver = self._solver(data, seed)
        for found in self._grow(data, solver, int(n_pairs), seed):
            self._publish(solver, data)
            if self.progress is not None:
                self.progress(min(1.0, found.n_pairs / int(n_pairs)), f"{found.n_pairs:,} pairs")
            yield found
        warn_unless(self._settled, self, "max_passes")

    def partial_fit(
        self,
        X: Matrix,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        qid: ArrayLike | None = None,
    ) -> Self:
        """Learn from ``n_pairs`` pairs of one batch of a stream; what pairs of earlier batches had to say is kept.

        A batch without pairs changes nothing. ``classes`` are needed only if labels are not numbers.
        """
        self._check_settings()
        if isinstance(self.n_pairs, str):
            raise InputError("partial_fit cannot choose n_pairs by itself. Pass the number of pairs of each batch.")
        first = not hasattr(self, "_learned_weight")
        data = checked_grades(self, X, y, sample_weight, qid, classes=classes, reset=first)
        need_points_apart(self.points, data)
        seed = int(check_random_state(self.random_state).randint(MAX_SEED))
        start, earlier = (None, 0.0) if first else (self._weights, self._learned_weight)
        solver = self._solver(data, seed + int(earlier), start, earlier)
        try:
            for _ in self._grow(data, solver, int(self.n_pairs), seed + int(earlier)):
                pass
        except LabelError:  # no pairs
            self.n_iter_ = self.n_candidates_ = 0
        else:
            warn_unless(self._settled, self, "max_passes")
        self._publish(solver, data)
        return self

    def _grow(self, data: GradedSet, solver: GrowingPairs, n_pairs: int, seed: int) -> Iterator[Round]:
        """Draw, accept and learn until there are ``n_pairs``, or none is worth it."""
        from riffler._fast.pair_draws import Rule

        clock = _Clock()
        pool = PairPool(data.X, data.pairs(), data.weight, seed)
        self.n_iter_ = self.n_candidates_ = 0
        if self.points == 0 and pool.n_pairs <= n_pairs:
            self._take_all(data, pool, solver)
            yield Round(len(solver.upper), pool.n_pairs, clock.stop(), solver.weights)
            return
        if self.points < 1:
            n_pairs = min(n_pairs, int(np.ceil(pool.n_pairs / (1 - self.points))))
        sampling = sampling_from(self.sampling)
        code = loss_code(self.loss)
        while True:
            chosen = sampling if self.n_iter_ or solver.total else sampling_from("random")
            rule = Rule(chosen.code, code, float(self.softness), float(self.points), self.candidates == "spread")
            n_more = self._n_more(len(solver.upper), n_pairs)
            drawn = pool.draw(n_more, solver.weights, chosen, rule)
            self.n_candidates_ += drawn.n_candidates
            solver.add(drawn.upper, drawn.lower, self._weights_of(drawn), self._stand_for(drawn))
            done = len(solver.upper) == n_pairs or len(drawn.upper) < n_more
            self._settled = solver.descend(self.tol, self.max_passes if done else min(EARLY_PASSES, self.max_passes))
            self.n_iter_ += 1
            yield Round(len(solver.upper), self.n_candidates_, clock.stop(), solver.weights)
            if done:
                return
            clock.go_on()

    def _weights_of(self, drawn: DrawnPairs) -> FloatArray:
        """What each pair counts: alike; or by 1 / chance, so that the mean is that of all pairs; or less if far off."""
        points = np.minimum(drawn.upper, drawn.lower) < 0
        weight = np.where(points, float(self.point_weight), 1.0)
        if self.weighting != "equal" and drawn.by_chance:
            weight *= drawn.rate / np.maximum(drawn.chances, LEAST_CHANCE)
        if self.weighting == "robust":
            weight *= 2.0 * expit(-np.abs(drawn.margins) / float(self.softness))
        return weight

    def _stand_for(self, drawn: DrawnPairs) -> float | None:
        """The weight of all candidates in the unit of inverse weights: candidates without a loss are never accepted."""
        if self.weighting != "inverse" or not drawn.by_chance:
            return None
        return len(drawn.upper) * (1.0 - self.points + self.points * self.point_weight)

    def _take_all(self, data: GradedSet, pool: PairPool, solver: GrowingPairs) -> None:
        """Few enough pairs to take them all: each counts as its rows weigh, one on average, as those that are drawn."""
        drawn = pool.all_pairs()
        weight = data.weight[drawn.upper] * data.weight[drawn.lower]
        solver.add(drawn.upper, drawn.lower, weight / weight.mean())
        self._settled = solver.descend(self.tol, self.max_passes)
        self.n_iter_, self.n_candidates_ = 1, drawn.n_candidates

    def _n_more(self, n_there: int, n_pairs: int) -> int:
        if isinstance(self.batch, (int, np.integer)):
            n_more = int(self.batch)
        else:
            n_more = max(FIRST_PAIRS if n_there == 0 else 1, round(float(self.batch) * n_there))
        return min(n_more, n_pairs - n_there)

    def _solver(
        self, data: GradedSet, seed: int, start: FloatArray | None = None, earlier: float = 0.0
    ) -> GrowingPairs:
        if self.loss == "squared_hinge" and data.X.shape[1] <= NEWTON_COLUMNS:
            return PairNewton(data.X, float(self.C), start, earlier)
        return PairSolver(data.X, float(self.C), self.loss, seed, start, earlier)

    def _publish(self, solver: GrowingPairs, data: GradedSet) -> None:
        self._weights, self._learned_weight = solver.weights, solver.total
        self.n_pairs_ = len(solver.upper)
        self.coef_ = solver.weights.astype(data.X.dtype).reshape(1, -1)

    def _check_settings(self) -> None:
        sampling_from(self.sampling)
        loss_code(self.loss)
        if self.weighting not in WEIGHTINGS:
            raise UnknownName.among("weighting", self.weighting, WEIGHTINGS)
        if self.candidates not in CANDIDATES:
            raise UnknownName.among("kind of candidates", self.candidates, CANDIDATES)
        need_above_zero(self, "C", "softness", "tol", "max_passes", "batch", "point_weight")
        need_share(self.points)
        if self.n_pairs != "auto" and not (isinstance(self.n_pairs, (int, np.integer)) and self.n_pairs > 0):
            raise InputError(f"n_pairs must be a positive integer or 'auto', got {self.n_pairs!r}.")
