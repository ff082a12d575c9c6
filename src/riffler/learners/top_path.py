"""The path that TopKRanker walks: from a classifier, over less and less smooth versions of precision at k, to the top.

A :class:`Walk` trains one candidate for several sets of rows at once (the folds of the validation, or all rows):
logistic regression for a penalty, then for each width of the soft step the objective of ``_fast.soft_top``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from riffler.features.blocked_rows import BlockedRows
from riffler.features.blocks import RowBlocks
from riffler.learners.curvature import Curvature
from riffler.learners.lockstep import MEMORY, minimise
from riffler.records import BoolArray, FloatArray, IntArray, Matrix, n_bytes

WORKSPACE_FLOOR = 16_000_000  # bytes that a fit may always use beside its input
WORKSPACE_SHARE = 0.2  # and this share of the input
WORKSPACE_A_ROW = 40  # bytes for each row of an input that is not in memory


@dataclass(frozen=True, slots=True)
class Setting:
    """One candidate: L2 penalty, weight of the whole order, and the widths walked through (none: classifier only)."""

    penalty: float
    order: float = 1.0
    widths: tuple[float, ...] = ()


class Walk:
    """Trains candidates on the same rows and labels; ``subsets[f]`` marks the rows of the f-th model."""

    def __init__(
        self,
        rows: RowBlocks,
        labels: IntArray,
        weight: FloatArray,
        subsets: BoolArray,
        k: FloatArray,
        curvature: Curvature,
        workspace: int,
        *,
        tol: float,
        max_iter: int,
    ) -> None:
        self._rows, self._labels, self._weight, self._subsets, self._k = rows, labels, weight, subsets, k
        self._curvature, self._tol, self._max_iter = curvature, tol, max_iter
        self.n_passes = 0  # over the rows, by all optimisations so far
        # a model needs a column of scores, and the points and moves that L-BFGS remembers
        one_model = rows.n_rows * np.dtype(rows.dtype).itemsize + (2 * MEMORY + 6) * rows.n_columns * 8
        self._room = np.empty((int(np.clip(workspace // one_model, 1, 64)), rows.n_rows), dtype=rows.dtype)
        self._prior_loss = np.array([_prior_loss(labels[rows_in], weight[rows_in]) for rows_in in subsets])

    def classify(self, starts: FloatArray, penalty: float) -> FloatArray:
        """Logistic regression on each subset, from the given weights (n_columns + 1, n_subsets)."""
        settings = [Setting(penalty)] * len(self._subsets)
        return self._descend(starts, settings, np.arange(len(self._subsets)), 1.0)

    def sharpen(self, starts: FloatArray, settings: Sequence[Setting], width: float) -> FloatArray:
        """Optimise the top for each (setting, subset), settings outermost, at one width of the soft step."""
        models = np.tile(np.arange(len(self._subsets)), len(settings))
        repeated = [setting for setting in settings for _ in range(len(self._subsets))]
        return self._descend(starts, repeated, models, width)

    def scores(self, weights: FloatArray) -> FloatArray:
        """Scores of every row under each of a group of models, shape (n_models, n_rows), valid until the next call."""
        room = self._room[: weights.shape[1]]
        self._rows.scores(weights[:-1], room)
        return room

    def each_scores(self, weights: FloatArray) -> Iterator[FloatArray]:
        """Yield the scores of every row, model by model; each is valid until the next is asked for."""
        for first in range(0, weights.shape[1], len(self._room)):
            yield from self.scores(weights[:, first : first + len(self._room)])

    def _descend(self, starts: FloatArray, settings: list[Setting], subset_of: IntArray, width: float) -> FloatArray:
        found = np.empty_like(starts)
        for first in range(0, starts.shape[1], len(self._room)):
            group = slice(first, first + len(self._room))
            objective = _Objective(self, settings[group], subset_of[group], width)
            metric = self._curvature.inverse(settings[group][0].penalty)
            found[:, group], _ = minimise(objective, starts[:, group], metric, tol=self._tol, max_iter=self._max_iter)
        return found


class _Objective:
    """Value and slope of each model of a group, as ``minimise`` asks for them."""

    def __init__(self, walk: Walk, settings: list[Setting], subset_of: IntArray, width: float) -> None:
        self._walk, self._settings, self._subset_of, self._width = walk, settings, subset_of, width
        self._thresholds = np.zeros(len(settings))

    def __call__(self, points: FloatArray, which: IntArray) -> tuple[FloatArray, FloatArray]:
        from riffler._fast.soft_top import mixed_slopes

        walk = self._walk
        walk.n_passes += 1
        scores = walk.scores(points)
        values, bias_slopes, decay = np.empty(len(which)), np.empty(len(which)), np.empty(len(which))
        for column, model in enumerate(which):
            setting, subset = self._settings[model], self._subset_of[model]
            prior_loss = walk._prior_loss[subset]
            values[column], bias_slopes[column], self._thresholds[model] = mixed_slopes(
                scores[column], walk._labels, walk._weight, walk._subsets[subset], walk._k[subset],
                self._width, setting.order, prior_loss, points[-1, column], self._thresholds[model],
            )  # fmt: skip
            decay[column] = setting.order * setting.penalty / prior_loss
        slopes = np.empty_like(points)
        slopes[:-1] = walk._rows.pull_back(scores) + decay * points[:-1]
        slopes[-1] = bias_slopes
        values += 0.5 * decay * np.einsum("ij,ij->j", points[:-1], points[:-1])
        return values, slopes


def _prior_loss(labels: IntArray, weight: FloatArray) -> float:
    """Mean logistic loss of knowing nothing but the share of positives."""
    share = float(weight[labels > 0].sum() / weight.sum())
    return float(-(share * np.log(share) + (1 - share) * np.log1p(-share)))


def workspace_for(X: Matrix | BlockedRows) -> int:
    """Bytes that a fit may use beside X: a fifth of it, or some vectors as long as it where it is on disk."""
    if isinstance(X, BlockedRows):
        return max(WORKSPACE_FLOOR, WORKSPACE_A_ROW * X.shape[0])
    return int(max(WORKSPACE_FLOOR, WORKSPACE_SHARE * n_bytes(X)))
