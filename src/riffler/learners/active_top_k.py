"""Our active ranker: remembers every label it bought, knows how sure it is, and buys only what may change its top k."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import numpy as np

from riffler.errors import InputError, UnknownName
from riffler.features.column_map import ColumnMap
from riffler.learners.active import ActiveRanker
from riffler.learners.asking import OpenBatch, Step
from riffler.learners.bought import WEIGHTINGS, Bought, stacked
from riffler.learners.cover import COVERS
from riffler.learners.drift import DriftWatch
from riffler.learners.laplace import LaplaceLogistic, Posterior
from riffler.learners.purchase import Purchase, purchase_from
from riffler.learners.shopping import Shopping, Terms
from riffler.ledger import Item
from riffler.oracles.base import Oracle
from riffler.records import FloatArray, IntArray, Matrix
from riffler.scorers.width import check_gamma

ENOUGH_ROWS = 2000  # unlabelled rows that the scale of the columns is learned from
FEW_COLUMNS = 200  # up to here distances between rows mean something, and the kernel pays
KERNELS = ("auto", "linear", "rbf")


class ActiveTopK(ActiveRanker):
    """Predict each batch's top k from a model of all labels bought so far, and buy the labels that may change it.

    The model is a logistic regression on the columns and, where they are few, on random features of an RBF
    kernel; each part has a penalty that the labels themselves decide. Its posterior says how much precision at k is
    expected to be lost by what is not known yet (the regret). In each batch:

    1. While no relevant or no irrelevant row is known, rows are asked that cover the batch, a tenth of it at most.
    2. Then a chunk of labels is bought, in proportion to how many draws from the posterior have a row in their top k,
       and the model is refitted; until the regret is below ``tolerance``, or one more label is not expected to bring
       ``worth`` more right answers in every batch to come.
    3. A few rows are drawn at random: ``audit`` among the predicted ones, ``explore`` below them.
    4. If the answers contradict what was predicted for them beyond chance, older labels are forgotten.

    Parameters
    ----------
    k : int
        Rows of each batch that are predicted.
    kernel : "auto", "rbf" or "linear"
        "auto" takes the kernel for up to 200 columns and the columns alone for more.
    n_components : int
        Random features of the kernel.
    gamma : float or None
        Width of the kernel; None takes 1 / mean squared length of the scaled rows.
    worth : float
        Right answers that a label must be expected to add to each later batch. Smaller buys more.
    tolerance : float
        Expected loss of precision at k that is good enough.
    limit : int or None
        Most labels to buy in one batch, beside those drawn at random.
    cover : "spread" or "random"
        How to start when nothing is known.
    purchase : "thompson", "contested", "highest", "uncertain" or an object with ``pick``
    explore, audit : float
        Labels to draw at random in each batch below and in the predicted top, in expectation.
    floor : float
        Least probability of every row to be asked. Above 0, what was missed can be estimated from the ledger; bounds of
        any use need some thousandths.
    alarm : float
        How strongly answers must contradict predictions until older labels are forgotten: about one false alarm in so
        many answers. Infinity never forgets.
    weighting : "equal" or "inverse"
        How labels count in the model: all the same, or by 1 / probability of having been asked, 10 at most.
    n_draws : int
        Draws from the posterior.
    random_state : int, RandomState or None

    Attributes
    ----------
    n_rounds_ : int
        Batches seen.
    bought_ : the labels that the model is fitted on
    posterior_ : the model, or None while no label or only one class is known
    regret_ : float
        Expected loss of precision at k when the last purchase was made; NaN while nothing is known.
    forgotten_ : list of int
        Rounds in which older labels were forgotten.

    Examples
    --------
    >>> from riffler import ActiveTopK, ArrayOracle
    >>> rng = np.random.default_rng(0)
    >>> y = (rng.random(20_000) < 0.05).astype(int)
    >>> X = rng.normal(size=(20_000, 3)) + 2 * y[:, None]
    >>> oracle, ranker = ArrayOracle(y), ActiveTopK(k=50, random_state=0)
    >>> steps = [ranker.step(X[start : start + 2000], oracle) for start in range(0, 20_000, 2000)]
    >>> ranker.score(X, y) > 0.95, oracle.n_asked < 400
    (True, True)
    """

    def __init__(
        self,
        k: int = 50,
        *,
        kernel: str = "auto",
        n_components: int = 200,
        gamma: float | None = None,
        worth: float = 0.01,
        tolerance: float = 0.02,
        limit: int | None = None,
        cover: str = "spread",
        purchase: str | Purchase = "thompson",
        explore: float = 2.0,
        audit: float = 2.0,
        floor: float = 0.0,
        alarm: float = 10_000.0,
        weighting: str = "equal",
        n_draws: int = 64,
        random_state: Any = None,  # noqa: ANN401 - int, RandomState or None
    ) -> None:
        self.k = k
        self.kernel = kernel
        self.n_components = n_components
        self.gamma = gamma
        self.worth = worth
        self.tolerance = tolerance
        self.limit = limit
        self.cover = cover
        self.purchase = purchase
        self.explore = explore
        self.audit = audit
        self.floor = floor
        self.alarm = alarm
        self.weighting = weighting
        self.n_draws = n_draws
        self.random_state = random_state

    bought_: Bought
    posterior_: Posterior | None

    def step(self, X: Matrix, oracle: Oracle, items: Sequence[Item] | None = None) -> Step:
        """Predict the top k of a batch, buy labels of some of its rows, and learn from them; see the base class."""
        from threadpoolctl import threadpool_limits

        # the many small products of the refits are up to ten times slower if threads have to meet for each
        with threadpool_limits(limits=1, user_api="blas"):
            return super().step(X, oracle, items)

    def _check_settings(self) -> None:
        self._check_k()
        if self.kernel not in KERNELS:
            raise UnknownName.among("kernel of ActiveTopK", self.kernel, KERNELS)
        if self.cover not in COVERS:
            raise UnknownName.among("cover", self.cover, COVERS)
        if self.weighting not in WEIGHTINGS:
            raise UnknownName.among("weighting", self.weighting, WEIGHTINGS)
        purchase_from(self.purchase)
        for name in ("worth", "tolerance", "explore", "audit"):
            if not getattr(self, name) >= 0:
                raise InputError(f"{name} must be at least 0, got {getattr(self, name)!r}.")
        check_gamma(self.gamma)
        for name in ("n_components", "n_draws"):
            if not _is_count(getattr(self, name), least=1):
                raise InputError(f"{name} must be a whole number of at least 1, got {getattr(self, name)!r}.")
        if self.limit is not None and not _is_count(self.limit, least=0):
            raise InputError(f"limit must be None or a whole number of at least 0, got {self.limit!r}.")
        if not 0 <= self.floor <= 1:
            raise InputError(f"floor must be a probability from 0 to 1, got {self.floor!r}.")
        if not self.alarm > 1:
            raise InputError(f"alarm must be above 1, got {self.alarm!r}.")

    def _begin(self, X: Matrix) -> None:
        self._seed = self._new_seed()
        self._early: Matrix | None = X[:ENOUGH_ROWS].copy()  # who reuses the array for the next batch may do so
        self._fit_map(X)
        self._model = LaplaceLogistic(self._map.groups)
        self._watch = DriftWatch.new(round=0)
        self.bought_ = Bought.nothing(X)
        self.posterior_ = None
        self.regret_ = np.nan
        self.forgotten_: list[int] = []

    def _fit_map(self, X: Matrix) -> None:
        with_kernel = self.kernel == "rbf" or (self.kernel == "auto" and X.shape[1] <= FEW_COLUMNS)
        n_cosines = self.n_components if with_kernel else 0
        self._map = ColumnMap(n_cosines, self.gamma, self._seed).fit(X)

    def _scores(self, X: Matrix) -> FloatArray:
        if self.posterior_ is None:
            return np.zeros(X.shape[0])
        scores = np.empty(X.shape[0])
        for start, stop in self._map.block_bounds(X.shape[0]):
            scores[start:stop] = self.posterior_.moderated(self._map.transform(X[start:stop]))
        return scores

    def _ask(self, batch: OpenBatch) -> float:
        terms = Terms(
            k=len(batch.predicted), worth=self.worth, tolerance=self.tolerance, cover=COVERS[self.cover],
            purchase=purchase_from(self.purchase), limit=self.limit, n_draws=self.n_draws,
            explore=self.explore, audit=self.audit, floor=self.floor, weighting=self.weighting,
        )  # fmt: skip
        shopping = Shopping(
            batch, terms, self._map, deepcopy(self._model), self.posterior_, self.bought_, self._watch,
            np.random.default_rng([self._seed, batch.round]),
        )  # fmt: skip
        batch.memo = shopping
        return shopping.run()

    def _learn(self, batch: OpenBatch) -> None:
        done: Shopping = batch.memo
        self.bought_, self.posterior_, self.regret_ = done.bought, done.posterior, done.regret
        self._model, self._watch = done.model, done.watch
        if self._watch.stake >= self.alarm:
            self._forget(batch.round)
        self._learn_scale(batch.X)

    def _learn_known(self, X: Matrix, labels: IntArray, number: int) -> None:
        self.bought_ = self.bought_.more(X, labels, number, np.ones(labels.size))
        self._refit()
        self._learn_scale(X)

    def _forget(self, round: int) -> None:
        """Drop the labels from before the stream changed; with them goes whatever they taught."""
        self.bought_ = self.bought_.since(self._watch.changed_in)
        self._watch = DriftWatch.new(round + 1)
        self.forgotten_ = [*self.forgotten_, round]
        self._refit()

    def _refit(self) -> None:
        bought = self.bought_
        self._model = LaplaceLogistic(self._map.groups)
        self.posterior_ = None
        if bought.has_both:
            features = self._map.transform(bought.X)
            self.posterior_ = self._model.fit(features, bought.labels, bought.weights(self.weighting))

    def _learn_scale(self, X: Matrix) -> None:
        """While few rows have been seen, learn the scale of the columns anew with each batch."""
        if self._early is None:
            return
        if not (hasattr(self, "n_rounds_") and self.n_rounds_ > 0):
            seen = self._early  # the first batch is there already
        else:
            seen = stacked(self._early, X)
            self._fit_map(seen)
            self._refit()
        self._early = seen if seen.shape[0] < ENOUGH_ROWS else None


def _is_count(given: object, least: int) -> bool:
    return isinstance(given, int | np.integer) and int(given) >= least
