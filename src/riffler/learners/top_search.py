"""The search behind TopKRanker: try a fixed list of candidates on held-out rows, fit the best one on all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from riffler.features.blocks import RowBlocks
from riffler.learners.checks import TrainingSet
from riffler.learners.curvature import Curvature
from riffler.learners.top_path import Setting, Walk, workspace_for
from riffler.learners.validation import Judge, Worth, folds_of, part_k
from riffler.records import BoolArray, FloatArray

PENALTIES = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7)  # in units of the mean squared row norm, strongest first
ORDERS = (0.5, 0.2, 0.05)  # weight of the logistic loss beside the soft precision
WIDTHS = (1.5, 0.5, 0.15)  # of the soft step, in units of the spread of the scores

Progress = Callable[[float, str], None]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A setting that was tried, and what it was worth on the rows held out."""

    setting: Setting
    worth: Worth


class TopSearch:
    """Candidates on one set of rows; ``run`` returns the weights (features, then bias) of the best."""

    def __init__(
        self,
        data: TrainingSet,
        rows: RowBlocks,
        k: int | float,
        order_weight: float,
        *,
        tol: float,
        max_iter: int,
        progress: Progress,
    ) -> None:
        self._data, self._rows, self._k, self._order_weight = data, rows, k, order_weight
        self._tol, self._max_iter, self._tell = tol, max_iter, progress
        self._curvature = Curvature(rows, data.weight)
        self._penalties = [penalty * self._curvature.mean_square for penalty in PENALTIES]
        self.candidates: list[Candidate] = []
        self._starts: dict[float, FloatArray] = {}  # penalty -> mean over the folds of its classifiers
        self.n_iter = 0

    @property
    def best(self) -> Candidate:
        """The candidate that is worth most."""
        return max(self.candidates, key=lambda one: one.worth.weighed(self._order_weight))

    def run(self, cv: Any, rng: np.random.RandomState) -> FloatArray:  # noqa: ANN401 - as scikit-learn's cv
        """Try all candidates and fit the best one on all rows."""
        self.try_all(cv, rng)
        self._tell(0.8, "fitting on all rows")
        return self.refit(self.best, self._starts[self.best.setting.penalty])

    def try_all(self, cv: Any, rng: np.random.RandomState) -> None:  # noqa: ANN401 - as scikit-learn's cv
        """Judge all candidates on held-out rows."""
        train, held_out = folds_of(cv, self._data.labels, self._data.weight, rng)
        if len(train):
            self._walk_and_judge(train, held_out)
        else:  # nothing can be held out: a classifier with a middle penalty
            penalty = self._penalties[1]
            self._starts[penalty] = np.zeros((self._rows.n_columns + 1, 1))
            self.candidates.append(Candidate(Setting(penalty), Worth(np.nan, np.nan)))

    def refit(self, candidate: Candidate, start: FloatArray) -> FloatArray:
        """Follow one candidate's path on all rows, from the given weights."""
        setting = candidate.setting
        walk = self._walk((self._data.weight > 0)[None, :])
        weights = walk.classify(start, setting.penalty)
        for width in setting.widths:
            weights = walk.sharpen(weights, [setting], width)
        self.n_iter = walk.n_passes
        return weights

    def _walk_and_judge(self, train: BoolArray, held_out: BoolArray) -> None:
        """Walk the whole path on the folds and judge what stands at each stop."""
        walk = self._walk(train)
        judge = Judge(self._k, self._data.labels, self._data.weight, held_out)
        n_folds, n_stops = len(train), len(PENALTIES) + len(WIDTHS)
        weights: FloatArray = np.zeros((self._rows.n_columns + 1, n_folds))
        best, best_weights = self._penalties[0], weights
        best_precision = -np.inf
        for stop, penalty in enumerate(self._penalties):
            self._tell(0.8 * stop / n_stops, "classifiers")
            weights = walk.classify(weights, penalty)
            worth = judge.worth(walk.each_scores(weights))
            self.candidates.append(Candidate(Setting(penalty), worth))
            self._starts[penalty] = weights.mean(axis=1, keepdims=True)
            if worth.precision > best_precision:
                best, best_weights, best_precision = penalty, weights, worth.precision
        if self._order_weight >= 1.0:
            return
        judge.compare_with(walk.each_scores(best_weights))
        settings = [Setting(best, order) for order in ORDERS]
        weights = np.tile(best_weights, (1, len(settings)))
        for stop, width in enumerate(WIDTHS, start=len(PENALTIES)):
            self._tell(0.8 * stop / n_stops, "sharpening the top")
            weights = walk.sharpen(weights, settings, width)
            settings = [replace(setting, widths=(*setting.widths, width)) for setting in settings]
            for place, setting in enumerate(settings):
                models = weights[:, place * n_folds : (place + 1) * n_folds]
                self.candidates.append(Candidate(setting, judge.worth(walk.each_scores(models))))

    def _walk(self, subsets: BoolArray) -> Walk:
        data = self._data
        total = float(data.weight.sum())

        def k_of(rows_in: BoolArray) -> float:
            inside = data.weight * rows_in
            return part_k(self._k, float(inside.sum()), total, float(inside[data.labels > 0].sum()))

        k = np.array([k_of(rows_in) for rows_in in subsets])
        return Walk(
            self._rows, data.labels, data.weight, subsets, k, self._curvature, workspace_for(data.X),
            tol=self._tol, max_iter=self._max_iter,
        )  # fmt: skip
