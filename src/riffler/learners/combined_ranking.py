"""CRR: combined ranking and regression by stochastic gradient descent (Sculley 2010), a baseline."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from riffler.errors import LabelError
from riffler.learners.pair_pool import PairPool
from riffler.learners.pair_ranker import (
    GradedSet,
    PairRanker,
    checked_grades,
    need_above_zero,
    need_points_apart,
    need_share,
    need_two_grades,
)
from riffler.learners.pair_solver import loss_code
from riffler.records import Matrix

MAX_SEED = 2**31 - 1


class CombinedRankingRegression(PairRanker):
    """Minimise ``alpha / 2 |w|^2 + points * mean loss of points + (1 - points) * mean loss of pairs`` by Pegasos steps.

    Parameters
    ----------
    points : float in [0, 1]
        Share of the steps that take a random point; the others take a random pair. More than 0 needs two grades.
    alpha : float
        Weight of the penalty.
    loss : "logistic", "hinge" or "squared_hinge"
    n_steps : int
        Steps of ``fit``, and of each ``partial_fit``.
    random_state : int, RandomState or None

    Attributes
    ----------
    coef_, n_features_in_
    n_iter_ : int
        Steps taken so far.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(2000, weights=[0.9], class_sep=2, flip_y=0, random_state=0)
    >>> CombinedRankingRegression(random_state=0).fit(X, y).score(X, y) > 0.999
    True
    """

    def __init__(
        self,
        points: float = 0.0,
        *,
        alpha: float = 1e-3,
        loss: str = "logistic",
        n_steps: int = 100_000,
        random_state: Any = None,  # noqa: ANN401 - int, RandomState or None
    ) -> None:
        self.points = points
        self.alpha = alpha
        self.loss = loss
        self.n_steps = n_steps
        self.random_state = random_state

    def fit(
        self, X: Matrix, y: ArrayLike, sample_weight: ArrayLike | None = None, qid: ArrayLike | None = None
    ) -> Self:
        """Learn from random pairs and points."""
        self._check_settings()
        data = checked_grades(self, X, y, sample_weight, qid)
        need_two_grades(data)
        need_points_apart(self.points, data)
        self._start(data)
        return self._steps(data)

    def partial_fit(
        self,
        X: Matrix,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        qid: ArrayLike | None = None,
    ) -> Self:
        """Go on with ``n_steps`` steps on one batch of a stream; a batch without pairs changes nothing."""
        self._check_settings()
        first = not hasattr(self, "_direction")
        data = checked_grades(self, X, y, sample_weight, qid, classes=classes, reset=first)
        need_points_apart(self.points, data)
        if first:
            self._start(data)
        try:
            return self._steps(data)
        except LabelError:
            return self._publish(data)

    def _start(self, data: GradedSet) -> None:
        self._direction, self._state = np.zeros(data.X.shape[1]), np.array([1.0, 0.0, 0.0])
        self._seed = int(check_random_state(self.random_state).randint(MAX_SEED))

    def _steps(self, data: GradedSet) -> Self:
        from riffler._fast.pair_sgd import combined_steps
        from riffler._fast.rows import as_rows

        pool = PairPool(data.X, data.pairs(), data.weight, self._seed)
        settings = loss_code(self.loss), float(self.alpha), float(self.points), int(self.n_steps), self._seed
        combined_steps(as_rows(data.X), pool.compiled, *settings, self._direction, self._state)
        return self._publish(data)

    def _publish(self, data: GradedSet) -> Self:
        self.n_iter_ = int(self._state[2])
        self.coef_ = (self._state[0] * self._direction).astype(data.X.dtype).reshape(1, -1)
        return self

    def _check_settings(self) -> None:
        loss_code(self.loss)
        need_above_zero(self, "alpha", "n_steps")
        need_share(self.points)
