"""One batch's purchases: cover while nothing is known, then buy while a label is worth its price, then look around.

Everything here works on copies; the ranker takes over the result when all answers are in.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from riffler.features.column_map import ColumnMap
from riffler.learners.asking import OpenBatch
from riffler.learners.bought import Bought
from riffler.learners.cover import Cover
from riffler.learners.drift import DriftWatch
from riffler.learners.laplace import LaplaceLogistic, Posterior, probability_of
from riffler.learners.purchase import Contest, Purchase
from riffler.ledger import UNKNOWN
from riffler.records import BoolArray, FloatArray, IntArray
from riffler.samplers import budgeted

COVER_CHUNK, COVER_SHARE = 20, 0.1  # rows asked at once while one class is missing, and most of a batch's in all
LEAST_CHUNK, CHUNK_SHARE = 10, 0.1  # labels bought between two refits: so many, or this share of those there
SETTLED = 0.4  # once fewer of the places in the draws' tops are open, the rows of the next batch teach more
POOL_ROWS = 20_000  # rows of a batch that are looked at closely


@dataclass(frozen=True, slots=True)
class Terms:
    """What a purchase must satisfy; see :class:`~riffler.learners.active_top_k.ActiveTopK`."""

    k: int
    worth: float
    tolerance: float
    cover: Cover
    purchase: Purchase
    limit: int | None
    n_draws: int
    explore: float
    audit: float
    floor: float
    weighting: str


@dataclass(eq=False)
class Shopping:
    """The purchases of one batch, and what they taught so far."""

    batch: OpenBatch
    terms: Terms
    feature_map: ColumnMap
    model: LaplaceLogistic
    posterior: Posterior | None
    bought: Bought
    watch: DriftWatch
    rng: np.random.Generator

    def __post_init__(self) -> None:
        self._pool = self._rows_to_look_at()
        self._features = self.feature_map.transform(self.batch.X[self._pool])
        self._free: BoolArray = np.ones(self._pool.size, dtype=bool)
        self._known = self.feature_map.transform(self.bought.X) if len(self.bought) else self._features[:0]
        self._spent = 0
        self.regret = np.nan

    def _rows_to_look_at(self) -> IntArray:
        """At most POOL_ROWS rows, in an order that does not depend on that of the batch: the best and some others."""
        # By the later digits of the draws: their first digits decide what is sampled in the end, and rows that come
        # late here, and so are not bought, must keep their full chance of that.
        late_digits = np.modf(self.batch.draws * 2.0**20)[0]
        order = np.lexsort((self.batch.draws, late_digits))
        if order.size <= POOL_ROWS:
            return order
        best_first = order[np.argsort(-self.batch.scores[order], kind="stable")]
        n_best = POOL_ROWS * 3 // 4 if self.posterior is not None else 0
        others = order[np.isin(order, best_first[n_best:])][: POOL_ROWS - n_best]
        return np.concatenate([best_first[:n_best], others])

    def run(self) -> float:
        """Buy, then look around; return the least chance of any row to be asked."""
        while not self.bought.has_both and self._may_go_on() and self._cover():
            pass
        if self.bought.has_both:
            if self._spent or self.posterior is None:
                self._refit()
            while self._may_go_on() and self._buy_some():
                self._refit()
        return self._look_around()

    def _may_go_on(self) -> bool:
        within = self.terms.limit is None or self._spent < self.terms.limit
        return within and not self.batch.cut and bool(self._free.any())

    def _cover(self) -> bool:
        # so many rows of one class: the next batch is as likely to hold the other, and nothing is lost by waiting
        left = max(COVER_CHUNK, int(COVER_SHARE * self._pool.size)) - self._spent
        if left <= 0:
            return False
        n = min(self._chunk(COVER_CHUNK), left)
        return self._ask(self.terms.cover(self._features, self._free, n, self.rng), "cover")

    def _buy_some(self) -> bool:
        """Buy a chunk, unless the top is sure enough or a label is not worth its price."""
        assert self.posterior is not None
        logits = self.posterior.draws(self._features, self.terms.n_draws, self.rng)
        contest = Contest.of(self.posterior.moderated(self._features), logits, self.terms.k, self._free)
        self.regret = contest.regret
        # a posterior narrows with the number of labels: one more takes about this share of the regret away
        gain = self.terms.k * self.regret / len(self.bought)
        if self.regret < self.terms.tolerance or gain < self.terms.worth or contest.open_share < SETTLED:
            return False
        rows = self.terms.purchase.pick(contest, self._chunk(LEAST_CHUNK), self.rng)
        return rows.size > 0 and self._ask(rows, "gain", contest.relevance)

    def _chunk(self, least: int) -> int:
        wanted = max(least, int(CHUNK_SHARE * len(self.bought)))
        return wanted if self.terms.limit is None else min(wanted, self.terms.limit - self._spent)

    def _ask(self, rows: IntArray, origin: str, chances: FloatArray | None = None) -> bool:
        """Ask about rows of the pool; tell whether anything was answered."""
        answers = self.batch.ask(self._pool[rows], 1.0, origin)
        rows = rows[: answers.size]
        self._free[rows] = False
        self._spent += answers.size
        self._take_in(self._pool[rows], self._features[rows], answers, np.ones(rows.size))
        if chances is not None:
            self._watch(answers, chances[rows])
        return answers.size > 0

    def _take_in(self, rows: IntArray, features: FloatArray, answers: IntArray, probability: FloatArray) -> None:
        self.bought = self.bought.more(self.batch.X[rows], answers, self.batch.round, probability)
        self._known = np.vstack([self._known, features[answers != UNKNOWN]])

    def _watch(self, answers: IntArray, chances: FloatArray) -> None:
        if self.batch.round == 0:  # nothing older could be out of date
            return
        told = answers != UNKNOWN
        self.watch = self.watch.after(answers[told], chances[told], self.batch.round)

    def _refit(self) -> None:
        self.posterior = self.model.fit(self._known, self.bought.labels, self.bought.weights(self.terms.weighting))

    def _look_around(self) -> float:
        """Draw some of the rows that were not bought: in the top to audit it, below it where something may hide."""
        rows = self.batch.not_asked()
        if rows.size == 0:
            return 1.0
        probability = np.empty(rows.size)
        in_top = self.batch.in_top[rows]
        probability[in_top] = budgeted(np.ones(int(in_top.sum())), self.terms.audit, self.terms.floor)
        chances = probability_of(self.batch.scores[rows]) if self.posterior is not None else np.ones(rows.size)
        below = chances[~in_top]
        # half of the labels by chance of being relevant, half evenly: no row is out of reach
        weights = below / (below.sum() or 1.0) + 1.0 / max(below.size, 1)
        probability[~in_top] = budgeted(weights, self.terms.explore, self.terms.floor)
        self.batch.top_floor = float(probability[in_top].min()) if in_top.any() else 1.0
        drawn = np.flatnonzero(self.batch.draws[rows] < probability)
        answers = self.batch.ask(rows[drawn], probability[drawn], "sample")
        drawn = drawn[: answers.size]
        features = self.feature_map.transform(self.batch.X[rows[drawn]]) if drawn.size else self._features[:0]
        if self.posterior is not None and drawn.size:
            self._watch(answers, probability_of(self.posterior.moderated(features)))
        self._take_in(rows[drawn], features, answers, probability[drawn])
        if self.bought.has_both and (answers != UNKNOWN).any():
            self._refit()
        # without a floor nothing is promised, however the draws came out
        return float(probability.min()) if self.terms.floor > 0 else 0.0
