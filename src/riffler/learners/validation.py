"""How TopKRanker judges its candidates: folds, and what a candidate is worth on the rows it did not see."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit, check_cv

from riffler.errors import InputError
from riffler.metrics import resolve_k
from riffler.metrics.at_k import precision_of_blocks
from riffler.metrics.order import auc_of_blocks
from riffler.metrics.ties import tie_blocks
from riffler.records import BoolArray, FloatArray, IntArray

# Precision at k jumps with every row that crosses the cut; its mean over neighbouring k is a steadier guide.
NEIGHBOURS = 2.0 ** np.array([-0.5, -0.25, 0.0, 0.25, 0.5])

CAUTION = 0.25  # standard errors that a gain in precision must pay for

MANY_POSITIVES = 20_000  # from here on one split tells enough
N_FOLDS = 3


@dataclass(frozen=True, slots=True)
class Worth:
    """Means over the folds, on the rows held out: precision around k, AUC, and the noise of the first.

    The noise is the standard error of the difference in precision at k to the best classifier: 0 where both have the
    same top.
    """

    precision: float
    auc: float
    noise: float = 0.0

    def weighed(self, order_weight: float) -> float:
        """Value to a user who weighs the whole order by ``order_weight``; a gain within the noise counts for less."""
        return (1.0 - order_weight) * (self.precision - CAUTION * self.noise) + order_weight * self.auc


def folds_of(
    cv: Any,  # noqa: ANN401 - anything that scikit-learn's check_cv takes
    labels: IntArray,
    weight: FloatArray,
    rng: np.random.RandomState,
) -> tuple[BoolArray, BoolArray]:
    """Return (train, held out) masks of shape (n_folds, n_rows); none where the data are too few to hold any out.

    ``cv=None`` holds out a quarter once if there are many positives, and otherwise each third in turn.
    """
    n_rows = len(labels)
    counted = np.flatnonzero(weight > 0)
    fewest = int(min(np.count_nonzero(labels[counted] > 0), np.count_nonzero(labels[counted] <= 0)))
    splits: Iterable[tuple[IntArray, IntArray]]
    if cv is None:
        if fewest < 2:
            return np.empty((0, n_rows), dtype=bool), np.empty((0, n_rows), dtype=bool)
        seed = int(rng.randint(2**31))
        splitter = (
            StratifiedShuffleSplit(1, test_size=0.25, random_state=seed)
            if fewest >= MANY_POSITIVES
            else StratifiedKFold(min(N_FOLDS, fewest), shuffle=True, random_state=seed)
        )
        nothing = np.zeros((len(counted), 1))
        splits = ((counted[train], counted[test]) for train, test in splitter.split(nothing, labels[counted]))
    else:
        splits = check_cv(cv, labels, classifier=True).split(np.zeros((n_rows, 1)), labels)
    train_masks: list[BoolArray] = []
    test_masks: list[BoolArray] = []
    for train, test in splits:
        masks = np.zeros((2, n_rows), dtype=bool)
        masks[0, train] = masks[1, test] = True
        for part, mask in zip(("train", "held-out"), masks, strict=True):
            if not (weight[mask & (labels > 0)].any() and weight[mask & (labels <= 0)].any()):
                raise InputError(
                    f"The {part} part of fold {len(train_masks)} of cv holds one class only. "
                    "Use stratified folds, or fewer of them."
                )
        train_masks.append(masks[0])
        test_masks.append(masks[1])
    return np.array(train_masks), np.array(test_masks)


def part_k(k: int | float, part_weight: float, all_weight: float, part_positive: float) -> float:
    """The k of a part of the rows: a share is a share of its positives, a number of rows shrinks with the part."""
    if isinstance(k, int | np.integer):
        return min(max(1.0, float(k) * part_weight / all_weight), part_positive)
    return min(float(resolve_k(k, part_positive)), part_positive)


class Judge:
    """Judges candidates on the rows that their models did not see."""

    def __init__(self, k: int | float, labels: IntArray, weight: FloatArray, held_out: BoolArray) -> None:
        self._k, self._labels, self._weight, self._held_out = k, labels, weight, held_out
        self._best_tops: list[FloatArray] = []

    def worth(self, scores: Iterable[FloatArray]) -> Worth:
        """Judge the models whose f-th did not see the f-th fold, by their scores of all rows, fold by fold."""
        precisions, areas = [], []
        spread, rows_at_top = 0.0, 0.0
        for fold, of_all in enumerate(scores):
            mask = self._held_out[fold]
            labels, weight = self._labels[mask], self._weight[mask]
            blocks = tie_blocks(labels, of_all[mask], weight)
            k = part_k(self._k, blocks.total, float(self._weight.sum()), blocks.n_positive)
            around = np.unique(np.clip(np.round(k * NEIGHBOURS), 1, max(1, int(blocks.total))))
            precisions.append(np.mean([precision_of_blocks(blocks, int(one)) for one in around]))
            areas.append(auc_of_blocks(blocks))
            if self._best_tops:
                hits = weight * labels * (_top(of_all[mask], weight, k) - self._best_tops[fold])
                spread += float(hits @ hits)
                rows_at_top += k
        noise = np.sqrt(spread) / rows_at_top if self._best_tops else 0.0
        return Worth(float(np.mean(precisions)), float(np.mean(areas)), float(noise))

    def compare_with(self, scores: Iterable[FloatArray]) -> None:
        """Measure noise against these models from now on."""
        tops = []
        for fold, of_all in enumerate(scores):
            mask = self._held_out[fold]
            weight, positive = self._weight[mask], self._weight[mask & (self._labels > 0)]
            k = part_k(self._k, float(weight.sum()), float(self._weight.sum()), float(positive.sum()))
            tops.append(_top(of_all[mask], weight, k))
        self._best_tops = tops


def _top(scores: FloatArray, weight: FloatArray, k: float) -> FloatArray:
    """1 for rows in the first k units of weight, 0 for the others, the tied ones their equal share."""
    order = np.argsort(-scores, kind="stable")
    last = scores[order[min(int(np.searchsorted(np.cumsum(weight[order]), k - 1e-9)), len(order) - 1)]]
    above = scores > last
    tied = scores == last
    inside: FloatArray = above + tied * (k - weight[above].sum()) / max(weight[tied].sum(), 1e-300)
    return inside
