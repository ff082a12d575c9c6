"""The perceptron for precision at k (Kar, Narasimhan and Jain 2015): no step size, and a bound on its mistakes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from riffler.errors import UnknownName
from riffler.learners.batches import Batches
from riffler.learners.checks import TrainingSet
from riffler.learners.mini_batch_ranker import MiniBatchRanker
from riffler.losses import Avg, Max
from riffler.metrics import resolve_k
from riffler.records import FloatArray, IntArray, Matrix

BOUNDED: dict[str, type[Avg] | type[Max]] = {"avg": Avg, "max": Max}  # the surrogates that bound mistakes
MISSED_PICKS = {"top": 0, "bottom": 1, "random": 2}


class PerceptronAtK(MiniBatchRanker):
    """Move the false positives of each batch's top k down and missed positives up, only when the top has a mistake.

    With Delta negatives in the top k and FN the positives outside it, a mistake changes w by

        avg:  (Delta / |FN|) * sum of FN  -  sum of the false positives
        max:  sum of Delta of the FN      -  sum of the false positives

    Parameters
    ----------
    k : int or float
        Rows at the top that matter: a number of rows of the training set, or a share of its positives. In
        ``partial_fit`` it is counted in each batch.
    surrogate : "avg" or "max"
    missed : "top", "bottom" or "random"
        Which Delta missed positives the max variant adds; the mistake bound holds for any.
    n_epochs : int
    batch_size : int or None
        None takes enough rows for about 50 positives.
    average : bool
        Return the mean of the iterates (online-to-batch), not the last one.
    random_state : int, RandomState or None

    Attributes
    ----------
    coef_, intercept_, classes_, n_features_in_
    mistakes_ : float
        Negatives seen in the top k, summed over all batches so far; see :func:`mistake_bound`.
    n_updates_ : int
        Batches with a mistake. On data with a precision-at-k margin gamma and rows of norm at most 1, the avg variant
        makes at most 4 k / gamma^2 of them.
    n_iter_ : int
        Batches seen.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(2000, weights=[0.9], class_sep=2, flip_y=0, random_state=0)
    >>> ranker = PerceptronAtK(k=0.25, random_state=0).fit(X, y)
    >>> ranker.score(X, y) > 0.95
    True
    """

    def __init__(
        self,
        k: int | float = 0.25,
        *,
        surrogate: str = "avg",
        missed: str = "top",
        n_epochs: int = 10,
        batch_size: int | None = None,
        average: bool = True,
        random_state: Any = None,  # noqa: ANN401 - int, RandomState or None
    ) -> None:
        self.k = k
        self.surrogate = surrogate
        self.missed = missed
        self.n_epochs = n_epochs
        self.batch_size = batch_size
        self.average = average
        self.random_state = random_state

    def _check_settings(self) -> None:
        super()._check_settings()
        if self.surrogate not in BOUNDED:
            raise UnknownName.among("perceptron surrogate", self.surrogate, BOUNDED)
        if self.missed not in MISSED_PICKS:
            raise UnknownName.among("pick of missed positives", self.missed, MISSED_PICKS)

    def _part_of_k(self, k_all: float, n_batches: int) -> float:
        return float(max(1, round(k_all / n_batches)))

    def _start(self, data: TrainingSet, rng: np.random.RandomState) -> None:
        from riffler._fast.epochs import new_state

        self.classes_ = data.classes
        self._state = new_state()
        self._tie_seed = int(rng.randint(2**31))
        self._weights, self._lag = (np.zeros(data.X.shape[1]) for _ in range(2))

    def _epoch(self, data: TrainingSet, batches: Batches, k: float) -> None:
        from riffler._fast import epochs
        from riffler._fast.rows import as_rows

        share = float(self.k) if isinstance(self.k, float) else 0.0
        epochs.perceptron_epoch(
            as_rows(data.X), data.labels, data.weight, batches.order, batches.starts, batches.stops,
            k, share, self.surrogate == "avg", MISSED_PICKS[self.missed], self._tie_seed,
            self._weights, self._lag, self._state,
        )  # fmt: skip

    def _publish(self, data: TrainingSet, k: float) -> None:
        from riffler._fast import epochs

        state = self._state
        self.mistakes_ = float(state[epochs.MISTAKES])
        self.n_updates_ = int(state[epochs.UPDATES])
        self.n_iter_ = int(state[epochs.N_STEPS])
        coef = self._weights.copy()
        if self.average and self.n_iter_ > 0:
            coef -= self._lag / state[epochs.SCALE_SUM]
        self.coef_ = coef.astype(data.X.dtype).reshape(1, -1)
        self._set_threshold(self._raw_scores(data.X), data.weight, k)


def mistake_bound(
    coef: FloatArray, batches: Iterable[tuple[Matrix, IntArray]], k: int | float, *, surrogate: str = "avg"
) -> float:
    """Most mistakes that a perceptron at k can make on these batches, by the comparison with the weights ``coef``.

    ``(|w| R sqrt(4 k) + sqrt(sum of w's surrogate over the batches))^2``, with R the largest row norm and k the largest
    k of a batch. It holds for every w: the smallest over many is the bound of the paper (with the square that one
    version of it leaves out).
    """
    if surrogate not in BOUNDED:
        raise UnknownName.among("surrogate with a mistake bound", surrogate, BOUNDED)
    loss = BOUNDED[surrogate]()
    coef = np.asarray(coef, dtype=float).ravel()
    from riffler._fast.rows import as_rows, largest_square

    total, longest, largest_k = 0.0, 0.0, 0.0
    for X, labels in batches:
        n_positive = int(np.count_nonzero(labels > 0))
        if n_positive == 0:
            continue
        k_here = min(resolve_k(k, n_positive), n_positive)
        total += loss.value(np.asarray(X @ coef).ravel(), labels, k_here)
        longest = max(longest, float(largest_square(as_rows(X), X.shape[0])))
        largest_k = max(largest_k, k_here)
    return float((np.linalg.norm(coef) * np.sqrt(4 * largest_k * longest) + np.sqrt(total)) ** 2)
