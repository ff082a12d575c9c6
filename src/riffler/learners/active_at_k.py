"""The active perceptron for precision at k (Modi, Sekhari and Gupta 2017): the paper's learner."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from riffler.errors import InputError, UnknownName
from riffler.learners.active import SCALINGS, ActiveRanker, first_scaling
from riffler.learners.asking import OpenBatch, Step, top_rows
from riffler.learners.checks import TrainingSet
from riffler.ledger import IRRELEVANT, RELEVANT
from riffler.records import FloatArray, IntArray, Matrix
from riffler.samplers import Below, Sampler, sampler_from
from riffler.scorers import Kernel, Scorer, kernel_from

BALANCES = ("none", "scale", "mean", "ipw")


@dataclass(frozen=True, slots=True)
class PaperReadings:
    """The places where the paper can be read in two ways; the defaults are what works, the others reproduce it.

    growing : the weight grows with the gap, as Algorithm 2 prints it; the text and section 3.1 want it to fall
    any_label : add every row that was asked, whatever its label, as Algorithm 2 prints it
    capped : add at most as many positives as the top had mistakes, as Algorithm 1 does
    normalised : scale the weights so that their sum is the expected number of labels
    count_top : count the labels of the top k as queries; read by ``n_counted`` alone, what is bought stays the same
    """

    growing: bool = False
    any_label: bool = False
    capped: bool = True
    normalised: bool = True
    count_top: bool = True

    def n_counted(self, step: Step) -> int:
        """Queries of a step by this way of counting."""
        return step.n_asked if self.count_top else int(np.count_nonzero(~np.isin(step.asked, step.predicted)))


class ActivePerceptronAtK(ActiveRanker):
    """Buy the labels of each batch's top k and of some rows below; move false positives down, found positives up.

    With FP the negatives in the top, Delta their number, and A the positives found below (at most Delta of them,
    the highest scored), w changes by

        none:   sum of A  -  sum of FP
        scale:  sum of A  -  |A| / Delta * sum of FP
        mean:   Delta * mean of A  -  sum of FP
        ipw:    Delta * mean of A weighted by 1 / probability  -  sum of FP

    and not at all where A or FP is empty ("none" needs only one of them). With labels that are all known, A is found
    among all positives below (Perceptron@k-max); ``fit`` takes the rows in ``round(ln n)`` random batches.

    Parameters
    ----------
    k : int
        Rows of each batch that are predicted.
    sampler : "sequential", "exponential", "inverse", "uniform" or an object with ``sample``
        Which labels below the top are bought.
    n_queries : "mistakes", "k", int or float
        Labels to buy below the top of a batch, in expectation: as many as the top has mistakes, k, a fixed number,
        or (float) this many times the mistakes. The sequential sampler buys what it needs.
    floor : float
        Least probability of every row to be asked. Above 0, what was missed can be estimated from the ledger.
    balance : "mean", "ipw", "scale" or "none"
        How the update makes up for positives that were not found.
    kernel : "linear", "rbf", "rbf-projectron", "rbf-removal", "rbf-fourier", "rbf-nystroem" or an object with ``start``
    scaling : "standard", "center" or "none"
        How columns are shifted and scaled, by the rows of the first batch; sparse columns are never shifted.
    readings : PaperReadings
        For the reproduction of the paper only.
    random_state : int, RandomState or None

    Attributes
    ----------
    n_rounds_ : int
        Batches seen.
    scorer_ : the scoring function
    mistakes_ : int
        Negatives seen in the tops.
    n_updates_ : int
        Batches that changed the scores.

    Examples
    --------
    >>> from riffler import ActivePerceptronAtK, ArrayOracle
    >>> rng = np.random.default_rng(0)
    >>> y = (rng.random(20_000) < 0.1).astype(int)
    >>> X = rng.normal(size=(20_000, 3)) + y[:, None]
    >>> oracle, ranker = ArrayOracle(y), ActivePerceptronAtK(k=50, random_state=0)
    >>> steps = [ranker.step(X[start : start + 2000], oracle) for start in range(0, 20_000, 2000)]
    >>> steps[-1].precision > 0.7, oracle.n_asked < 1000
    (True, True)
    """

    def __init__(
        self,
        k: int = 50,
        *,
        sampler: str | Sampler = "exponential",
        n_queries: str | int | float = "mistakes",
        floor: float = 0.0,
        balance: str = "mean",
        kernel: str | Kernel = "linear",
        scaling: str = "standard",
        readings: PaperReadings = PaperReadings(),
        random_state: Any = None,  # noqa: ANN401 - int, RandomState or None
    ) -> None:
        self.k = k
        self.sampler = sampler
        self.n_queries = n_queries
        self.floor = floor
        self.balance = balance
        self.kernel = kernel
        self.scaling = scaling
        self.readings = readings
        self.random_state = random_state

    scorer_: Scorer
    _scores_show_bad_values = True

    def _learn_all(self, data: TrainingSet) -> None:
        """Learn in ``round(ln n)`` batches of random rows, as if they came in a stream."""
        n_rows = data.X.shape[0]
        order = np.random.RandomState(self._new_seed()).permutation(n_rows)
        for rows in np.array_split(order, max(1, round(np.log(n_rows)))):
            self._learn_batch(replace(data, X=data.X[rows], labels=data.labels[rows], weight=data.weight[rows]))

    def _learn_known(self, X: Matrix, labels: IntArray, number: int) -> None:
        """Perceptron@k-max: every positive below the top is found."""
        scores = self._scores(X)
        n_rows = scores.size
        tie_draws, draws = self._draws(range(n_rows), number)
        top = top_rows(scores, self._n_top(n_rows, stacklevel=5), tie_draws)
        outside = np.ones(n_rows, dtype=bool)
        outside[top] = False
        missed = np.flatnonzero(outside & (labels > 0))
        self._update(X, top[labels[top] == 0], missed, np.ones(missed.size), scores, draws)

    def _check_settings(self) -> None:
        self._check_k()
        sampler_from(self.sampler)
        kernel_from(self.kernel)
        if self.balance not in BALANCES:
            raise UnknownName.among("balance", self.balance, BALANCES)
        if self.scaling not in SCALINGS:
            raise UnknownName.among("scaling", self.scaling, SCALINGS)
        if not 0 <= self.floor <= 1:
            raise InputError(f"floor must be a probability from 0 to 1, got {self.floor!r}.")
        given = self.n_queries
        if isinstance(given, str) and given not in ("mistakes", "k"):
            raise UnknownName.among("number of queries", given, ("mistakes", "k"))
        if not isinstance(given, str) and not given >= 0:
            raise InputError(f"n_queries must be 'mistakes', 'k' or a number of at least 0, got {given!r}.")

    def _begin(self, X: Matrix) -> None:
        self._seed = self._new_seed()
        self.scorer_ = kernel_from(self.kernel).start(X, first_scaling(X, self.scaling), self._seed)
        self.mistakes_, self.n_updates_ = 0, 0

    def _scores(self, X: Matrix) -> FloatArray:
        return self.scorer_.scores(X)

    def _ask(self, batch: OpenBatch) -> float:
        top_answers = batch.ask(batch.predicted, 1.0, "top")
        batch.top_floor = 1.0
        mistakes = int(np.count_nonzero(top_answers == IRRELEVANT))
        rows = np.flatnonzero(~batch.in_top)
        if rows.size == 0:
            return 1.0
        spread = float(batch.scores.std()) or 1.0
        gaps = (float(batch.scores[batch.predicted[-1]]) - batch.scores[rows]) / spread
        if self.readings.growing:
            gaps = gaps.max() - gaps
        below = Below(gaps, mistakes, self._n_expected(mistakes), self.floor, batch.draws[rows])
        least = sampler_from(self.sampler).sample(
            below, lambda chosen, probability: batch.ask(rows[chosen], probability, "sample")
        )
        # without a floor nothing keeps the next batch from leaving rows out, so nothing is promised for this one
        return least if self.floor > 0 else 0.0

    def _n_expected(self, mistakes: int) -> float | None:
        if mistakes == 0:
            return 0.0
        if not self.readings.normalised:
            return None
        if isinstance(self.n_queries, str):
            return float(mistakes if self.n_queries == "mistakes" else self.k)
        return self.n_queries * mistakes if isinstance(self.n_queries, float) else float(self.n_queries)

    def _learn(self, batch: OpenBatch) -> None:
        asked, answers, in_top = batch.asked, batch.answers, batch.in_top[batch.asked]
        false_positives = asked[in_top & (answers == IRRELEVANT)]
        good = ~in_top & ((answers == RELEVANT) | (self.readings.any_label & (answers == IRRELEVANT)))
        self._update(batch.X, false_positives, asked[good], batch.probability[good], batch.scores, batch.draws)

    def _update(
        self,
        X: Matrix,
        false_positives: IntArray,
        found: IntArray,
        probability: FloatArray,
        scores: FloatArray,
        draws: FloatArray,
    ) -> None:
        mistakes = false_positives.size
        self.mistakes_ += mistakes
        if self.readings.capped and found.size > mistakes:
            best = np.lexsort((draws[found], -scores[found]))[:mistakes]  # as the sequential walk meets them
            found, probability = found[best], probability[best]
        if mistakes == 0 or (found.size == 0 and self.balance != "none"):
            return
        up, down = _shares(self.balance, mistakes, probability)
        rows = np.concatenate([found, false_positives])
        amounts = np.concatenate([up, np.full(mistakes, -down)])
        self.scorer_.add(X[rows], amounts)
        self.n_updates_ += 1


def _shares(balance: str, mistakes: int, probability: FloatArray) -> tuple[FloatArray, float]:
    """How much of each found positive is added, and of each false positive taken away."""
    n_found = probability.size
    if balance == "none":
        return np.ones(n_found), 1.0
    if balance == "scale":
        return np.ones(n_found), n_found / mistakes
    if balance == "mean":
        return np.full(n_found, mistakes / n_found), 1.0
    weight = 1.0 / probability
    return mistakes * weight / weight.sum(), 1.0
