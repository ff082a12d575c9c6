"""Mini-batch SGD on a precision-at-k surrogate (SGD@k of Kar, Narasimhan and Jain 2015), averaged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from riffler.errors import InputError
from riffler.features.blocked_rows import BlockedRows, rows_of
from riffler.features.blocks import row_views
from riffler.learners.batches import Batches, mean_square
from riffler.learners.checks import TrainingSet
from riffler.learners.mini_batch_ranker import MiniBatchRanker
from riffler.losses import Surrogate, surrogate_from
from riffler.records import FloatArray, Matrix

GATHERED_BYTES = 16_000_000  # of rows on disk that are brought into memory at a time


class SGDAtK(MiniBatchRanker):
    """Learn a linear score whose first k answers are right, from mini-batches.

    Step t moves against the slope of the batch's surrogate divided by its k, with step size
    ``learning_rate / (mean squared row norm * sqrt(t))``, shrinks by ``alpha`` and projects on the ball of ``radius``.
    The result is the average of all iterates (online-to-batch).

    Parameters
    ----------
    k : int or float
        Rows at the top that matter: a number of rows of the training set, or a share of its positives. In
        ``partial_fit`` it is counted in each batch.
    surrogate : "avg", "max", "ramp", "struct" or an object with ``value_and_slope``
    learning_rate : float
    alpha : float
        Weight of the L2 penalty ``alpha / 2 * |w|^2``.
    radius : float
        Radius of the ball that the weights are projected on.
    n_epochs : int
    batch_size : int or None
        None takes enough rows for about 50 positives.
    average : bool
        Return the mean of the iterates, not the last one.
    random_state : int, RandomState or None

    Attributes
    ----------
    coef_, intercept_, classes_, n_features_in_
    loss_ : float
        Mean surrogate per batch and unit of k over the last epoch.
    n_iter_ : int
        Steps taken so far.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(2000, weights=[0.9], class_sep=2, flip_y=0, random_state=0)
    >>> SGDAtK(k=0.25, random_state=0).fit(X, y).score(X, y)
    1.0
    """

    takes_blocks = True

    def __init__(
        self,
        k: int | float = 0.25,
        *,
        surrogate: str | Surrogate = "avg",
        learning_rate: float = 1.0,
        alpha: float = 1e-4,
        radius: float = np.inf,
        n_epochs: int = 10,
        batch_size: int | None = None,
        average: bool = True,
        random_state: Any = None,  # noqa: ANN401 - int, RandomState or None
    ) -> None:
        self.k = k
        self.surrogate = surrogate
        self.learning_rate = learning_rate
        self.alpha = alpha
        self.radius = radius
        self.n_epochs = n_epochs
        self.batch_size = batch_size
        self.average = average
        self.random_state = random_state

    def _check_settings(self) -> None:
        super()._check_settings()
        for name in ("learning_rate", "radius"):
            if not getattr(self, name) > 0:
                raise InputError(f"{name} must be above 0, got {getattr(self, name)!r}.")
        if not self.alpha >= 0:
            raise InputError(f"alpha must be at least 0, got {self.alpha!r}.")
        surrogate_from(self.surrogate)

    def _part_of_k(self, k_all: float, n_batches: int) -> float:
        return max(1.0, k_all / n_batches)

    def _start(self, data: TrainingSet, rng: np.random.RandomState) -> None:
        from riffler._fast.epochs import new_state

        n_features = data.X.shape[1]
        self.classes_ = data.classes
        self.n_iter_, self.loss_ = 0, np.nan  # until a batch with positives comes
        self._unit = mean_square(data.X, data.weight)
        self._state = new_state()
        self._direction, self._lag, self._total = (np.zeros(n_features) for _ in range(3))

    def _epoch(self, data: TrainingSet, batches: Batches, k: float) -> None:
        from riffler._fast import epochs
        from riffler._fast.rows import as_rows

        surrogate = surrogate_from(self.surrogate)
        share = float(self.k) if isinstance(self.k, float) else 0.0
        code = getattr(surrogate, "code", -1)
        rule = epochs.SgdRule(code, self.learning_rate / self._unit, float(self.alpha), float(self.radius))
        self._state[epochs.LOSS_SUM] = 0.0
        before = self._state[epochs.N_STEPS]
        memory = self._direction, self._lag, self._total, self._state
        for part, some in _in_memory(data, batches):
            if code >= 0 and not isinstance(part.X, BlockedRows):
                epochs.sgd_epoch(as_rows(part.X), part.labels, part.weight, *_arrays(some), k, share, rule, *memory)
            else:
                _epoch_in_parts(surrogate, part, some, k, share, rule, memory)
        taken = self._state[epochs.N_STEPS] - before
        self.loss_ = float(self._state[epochs.LOSS_SUM] / max(taken, 1.0))
        self.n_iter_ = int(self._state[epochs.N_STEPS])

    def _publish(self, data: TrainingSet, k: float) -> None:
        from riffler._fast import epochs

        state = self._state
        coef = state[epochs.SCALE] * self._direction
        if self.average and state[epochs.N_STEPS] > 0:
            so_far = self._total + state[epochs.SCALE_SUM] * self._direction - self._lag
            coef = so_far / state[epochs.N_STEPS]
        self.coef_ = coef.astype(data.X.dtype).reshape(1, -1)
        self._set_threshold(self._raw_scores(data.X), data.weight, k)


def _in_memory(data: TrainingSet, batches: Batches) -> Iterator[tuple[TrainingSet, Batches]]:
    """Yield all batches at once, or some after the other where the rows are on disk.

    Their rows are brought into memory, but for those of a batch that is too long for that by itself.
    """
    if not isinstance(data.X, BlockedRows):
        yield data, batches
        return
    most = max(1, GATHERED_BYTES * data.X.shape[0] // max(data.X.n_bytes, 1))
    for some in batches.pieces(most):
        if some.n_rows > most:
            yield data, some
            continue
        rows, together = some.gathered()
        yield replace(data, X=data.X[rows], labels=data.labels[rows], weight=data.weight[rows]), together


def _arrays(batches: Batches) -> tuple[Any, Any, Any]:
    return batches.order, batches.starts, batches.stops


def _epoch_in_parts(
    surrogate: Surrogate,
    data: TrainingSet,
    batches: Batches,
    k: float,
    share: float,
    rule: Any,  # noqa: ANN401 - a compiled named tuple
    memory: tuple[FloatArray, FloatArray, FloatArray, FloatArray],
) -> None:
    """The same epoch where the compiled loop cannot take it: of a surrogate of one's own, or of rows on disk.

    All scores of a batch are made before its slopes are; only rows that have a slope are read a second time.
    """
    from riffler._fast import epochs
    from riffler._fast.rows import as_rows

    direction, lag, total, state = memory
    for start, stop in zip(batches.starts, batches.stops, strict=True):
        batch = batches.order[start:stop]
        labels, weight = data.labels[batch], data.weight[batch]
        positive_weight = float(weight[labels > 0].sum())
        if positive_weight <= 0:
            continue
        k_here = epochs.batch_k(k, share, positive_weight)
        scores = state[epochs.SCALE] * _scores(rows_of(data.X, batch), direction)
        value, slopes = surrogate.value_and_slope(scores, labels, k_here, weight)
        state[epochs.LOSS_SUM] += value / k_here
        state[epochs.N_STEPS] += 1
        step = rule.step / np.sqrt(state[epochs.N_STEPS])
        moved = np.flatnonzero(slopes)
        epochs.begin_step(step, rule, direction, lag, total, state)
        for first, end, rows in row_views(rows_of(data.X, batch[moved])):
            some = moved[first:end]
            epochs.move(
                as_rows(rows), np.arange(some.size), slopes[some], some.size, step / k_here, direction, lag, state
            )
        epochs.end_step(rule, state)


def _scores(X: Matrix | BlockedRows, weights: FloatArray) -> FloatArray:
    from riffler._fast.rows import as_rows, scores_of_all

    scores = np.empty(X.shape[0])
    for start, stop, rows in row_views(X):
        scores_of_all(as_rows(rows), stop - start, weights, scores[start:stop])
    return scores
