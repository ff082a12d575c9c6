"""What every active ranker shares: a batch comes, its top k is predicted, some labels are bought, the ranker learns.

``step`` is the whole loop. A ranker says how it scores, what it asks, and how it learns; asking changes nothing but
the oracle's ledger, so a step that fails midway can be taken again. ``fit`` and ``partial_fit`` learn from labels that
are all known, and ask nothing.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from riffler.errors import InputError, KClippedWarning
from riffler.features.blocks import Scaling, identity_scaling, standard_scaling
from riffler.learners.asking import OpenBatch, Step, draw_keys, named_items, top_rows
from riffler.learners.checks import TrainingSet, checked_rows, checked_training, shaped_rows
from riffler.learners.ranker import threshold_of_top
from riffler.ledger import Item
from riffler.metrics import precision_at_k
from riffler.oracles.base import Oracle
from riffler.records import FloatArray, IntArray, Matrix, is_sparse

HIGH_ROWS = 4  # times k: rows among which the end of the top is looked for after learning


class ActiveRanker(ClassifierMixin, BaseEstimator):
    """Learns from a stream of batches by buying labels; ``decision_function`` ranks."""

    k: int
    random_state: Any
    classes_: Any
    n_rounds_: int

    def step(self, X: Matrix, oracle: Oracle, items: Sequence[Item] | None = None) -> Step:
        """Predict the top k of a batch, buy labels of some of its rows, and learn from them.

        Parameters
        ----------
        X : array or CSR matrix, shape (n_rows, n_features)
        oracle : answers, and keeps the ledger of what it was asked
        items : a name for each row; without names, rows are numbered in the order in which the oracle met them

        If the oracle fails midway, nothing was learned and the same batch can be stepped again; answers that came are
        in the ledger and cost nothing the second time.
        """
        self._check_settings()
        first = not hasattr(self, "n_rounds_")
        late = self._scores_show_bad_values and not first
        X = shaped_rows(self, X) if late else checked_rows(self, X, reset=first)
        names = named_items(items, X.shape[0], oracle)
        if first:
            self._begin(X)
        number = 0 if first else self.n_rounds_
        # two draws a row: were ties broken by the draws that sample, a tied row below the top would never be sampled
        tie_draws, draws = self._draws(names, number)
        scores = self._scores(X)
        if late and not np.isfinite(scores.sum()):
            checked_rows(self, X, reset=False)  # names the row and column
        predicted = top_rows(scores, self._n_top(X.shape[0]), tie_draws)
        batch = OpenBatch(X, names, oracle, number, scores, predicted, draws)
        floor = self._ask(batch)
        self._learn(batch)
        self._close(X, scores, number + 1)
        return batch.close(floor)

    def fit(self, X: Matrix, y: ArrayLike) -> Self:
        """Learn from labels that are all known, and forget whatever was learned before."""
        self._check_settings()
        data = checked_training(self, X, y, None)
        for name in ("n_rounds_", "classes_"):
            if hasattr(self, name):
                delattr(self, name)
        self._learn_all(data)
        return self

    def partial_fit(self, X: Matrix, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Learn from one more batch whose labels are all known; nothing is asked."""
        self._check_settings()
        first = not hasattr(self, "n_rounds_")
        data = checked_training(self, X, y, None, classes=classes if first else self.classes_, reset=first)
        self._learn_batch(data)
        return self

    def _learn_all(self, data: TrainingSet) -> None:
        """Learn from everything at once; by default it is a batch like any other."""
        self._learn_batch(data)

    def _learn_batch(self, data: TrainingSet) -> None:
        first = not hasattr(self, "n_rounds_")
        if first:
            self._begin(data.X)
        number = 0 if first else self.n_rounds_
        self._learn_known(data.X, data.labels, number)
        self._close_known(data, number + 1)

    def _close_known(self, data: TrainingSet, n_rounds: int) -> None:
        self.classes_ = data.classes
        self._close(data.X, self._scores(data.X), n_rounds)

    @abstractmethod
    def _check_settings(self) -> None:
        """Refuse parameters that make no sense."""

    @abstractmethod
    def _begin(self, X: Matrix) -> None:
        """Start from nothing with the rows of a first batch, whose labels are not known."""

    @abstractmethod
    def _scores(self, X: Matrix) -> FloatArray:
        """Score checked rows."""

    @abstractmethod
    def _ask(self, batch: OpenBatch) -> float:
        """Ask for labels, change nothing else, and return the least chance of any row to be asked."""

    @abstractmethod
    def _learn(self, batch: OpenBatch) -> None:
        """Learn from what the batch was asked."""

    @abstractmethod
    def _learn_known(self, X: Matrix, labels: IntArray, number: int) -> None:
        """Learn from a batch, the ``number``-th from 0 on, whose labels 1/0 are all known."""

    def _close(self, X: Matrix, scores: FloatArray, n_rounds: int) -> None:
        self.n_rounds_ = n_rounds
        self._open_seed = None
        self.classes_ = np.array([0, 1]) if not hasattr(self, "classes_") else self.classes_
        self._threshold = self._cut(X, scores)

    def _cut(self, X: Matrix, scores: FloatArray) -> float:
        """Where the top k of a batch ends by what was learned since; only rows that ranked high before can be there."""
        n_high = min(HIGH_ROWS * int(self.k), scores.size)
        high = np.flatnonzero(scores >= np.partition(scores, scores.size - n_high)[scores.size - n_high])
        now = self._scores(X if high.size == scores.size else X[high])  # no copy where all rows tie, as at first
        return threshold_of_top(now, np.ones(now.size), min(self.k, now.size))

    def decision_function(self, X: Matrix) -> FloatArray:
        """Score the rows of X: the higher, the more relevant; above 0 is what lay in the top of the last batch."""
        check_is_fitted(self, "n_rounds_")
        X = checked_rows(self, X, reset=False)
        return (self._scores(X) - self._threshold).astype(X.dtype, copy=False)

    def predict(self, X: Matrix) -> Any:  # noqa: ANN401 - labels as the user wrote them
        """Label as positive what scores like the top k of the last batch."""
        in_top = self.decision_function(X) > 0
        return self.classes_[in_top.astype(int)]

    def score(self, X: Matrix, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Precision at k of the ranking of X."""
        scores = self.decision_function(X)
        labels = np.asarray(y) == self.classes_[1]
        return precision_at_k(labels, scores, self.k, sample_weight=sample_weight)

    def _check_k(self) -> None:
        if isinstance(self.k, bool) or not isinstance(self.k, int | np.integer) or self.k < 1:
            raise InputError(
                f"k must be a whole number of at least 1, got {self.k!r}. A share of the positives cannot be meant: "
                "how many there are is not known while labels are being bought."
            )

    def _n_top(self, n_rows: int, stacklevel: int = 4) -> int:
        if n_rows < self.k:
            warnings.warn(
                f"k={self.k} asks for more than the {n_rows} rows of this batch: all of them are predicted. "
                "Pass larger batches or a smaller k to silence this.",
                KClippedWarning,
                stacklevel=stacklevel,
            )
        return min(int(self.k), n_rows)

    def _new_seed(self) -> int:
        # A first step that failed has drawn a seed already: with another one, its second try would ask for other rows.
        if self._open_seed is None or self._open_seed[0] is not self.random_state:
            self._open_seed = (self.random_state, int(check_random_state(self.random_state).randint(2**31)))
        return self._open_seed[1]

    def _draws(self, names: Sequence[Item], number: int) -> FloatArray:
        """Two rows of random numbers, one column an item: to break ties by, and to sample by."""
        from riffler._fast.draws import uniforms

        keys = draw_keys(names)
        draws = np.empty((2, len(keys)))
        uniforms(self._seed, 2 * number, keys, draws[0])
        uniforms(self._seed, 2 * number + 1, keys, draws[1])
        return draws

    # a ranker whose scores are NaN or infinite for rows that hold such values spares a pass over each batch
    _scores_show_bad_values = False
    _seed: int
    _open_seed: tuple[Any, int] | None = None

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = False
        # Only the top k are called positive, so with k below the number of positives accuracy is low by design.
        tags.classifier_tags.poor_score = True
        return tags


SCALINGS = ("standard", "center", "none")


def first_scaling(X: Matrix, kind: str) -> Scaling:
    """Shift and scale columns by the rows of a first batch; sparse columns are never shifted."""
    if kind not in SCALINGS:
        raise InputError(f"scaling must be one of {', '.join(SCALINGS)}; got {kind!r}.")
    if kind == "none":
        return identity_scaling(X.shape[1])
    if is_sparse(X):
        if kind == "center":
            return identity_scaling(X.shape[1])
        mean_square = np.asarray(X.multiply(X).mean(axis=0)).ravel()
        return Scaling(None, np.sqrt(np.where(mean_square > 0, mean_square, 1.0)))
    found = standard_scaling(X, np.ones(X.shape[0]))
    return found if kind == "standard" else Scaling(found.center, np.ones(X.shape[1]))
