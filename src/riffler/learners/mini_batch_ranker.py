"""What the rankers that learn from mini-batches share: epochs over a training set, or a stream batch by batch."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from riffler.errors import InputError
from riffler.learners.batches import Batches, mixed_batches, one_batch
from riffler.learners.checks import TrainingSet, checked_training, clipped_k
from riffler.learners.ranker import LinearRanker
from riffler.records import Matrix


class MiniBatchRanker(LinearRanker):
    """A linear ranker that learns batch by batch; subclasses say how one epoch over some batches goes."""

    n_epochs: int
    batch_size: int | None
    random_state: Any

    def fit(self, X: Matrix, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from all rows, ``n_epochs`` times over."""
        self._check_settings()
        data = checked_training(self, X, y, sample_weight)
        rng = check_random_state(self.random_state)
        k_all = clipped_k(self.k, data.n_positive)
        batches = mixed_batches(data.X, data.labels, self.batch_size, rng)
        self._start(data, rng)
        # an integer k counts rows of the whole set: a batch gets its part of it
        k_batch = 0.0 if isinstance(self.k, float) else self._part_of_k(k_all, len(batches.starts))
        for _ in range(self.n_epochs):
            self._epoch(data, batches.shuffled(rng), k_batch)
        self._publish(data, k_all)
        return self

    def partial_fit(
        self, X: Matrix, y: ArrayLike, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn from one batch of a stream; pass ``classes`` if the first batch may hold one class only."""
        self._check_settings()
        first = not hasattr(self, "coef_")
        data = checked_training(self, X, y, sample_weight, classes=classes if first else self.classes_, reset=first)
        if first:
            self._start(data, check_random_state(self.random_state))
        k_here = clipped_k(self.k, data.n_positive) if data.n_positive > 0 else 0.0
        if k_here > 0:
            self._epoch(data, one_batch(data.X.shape[0]), 0.0 if isinstance(self.k, float) else k_here)
        self._publish(data, k_here)
        return self

    def _check_settings(self) -> None:
        if not self.n_epochs > 0:
            raise InputError(f"n_epochs must be above 0, got {self.n_epochs!r}.")
        if self.batch_size is not None and self.batch_size < 1:
            raise InputError(f"batch_size must be at least 1 or None, got {self.batch_size!r}.")

    @abstractmethod
    def _part_of_k(self, k_all: float, n_batches: int) -> float:
        """Rows of one batch that matter if k_all rows of the whole set do."""

    @abstractmethod
    def _start(self, data: TrainingSet, rng: np.random.RandomState) -> None:
        """Forget everything."""

    @abstractmethod
    def _epoch(self, data: TrainingSet, batches: Batches, k: float) -> None:
        """Pass once over the batches; k = 0 takes the share of each batch's positives."""

    @abstractmethod
    def _publish(self, data: TrainingSet, k: float) -> None:
        """Set ``coef_`` and the threshold of the top k."""
