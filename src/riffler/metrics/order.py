"""How good the whole order is: ROC area, its left part, and average precision."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from riffler.errors import InputError
from riffler.metrics.ties import TieBlocks, before, need_negatives, need_positives, tie_blocks


def roc_auc(labels: ArrayLike, scores: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Chance that a random positive is ranked before a random negative; a tied pair counts one half.

    Equal to scikit-learn's ``roc_auc_score``, with ties and weights as well.

    >>> roc_auc([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1])
    0.75
    """
    return auc_of_blocks(tie_blocks(labels, scores, sample_weight))


def partial_auc(labels: ArrayLike, scores: ArrayLike, max_fpr: float) -> float:
    """Area under the ROC curve left of the false positive rate ``max_fpr``, divided by ``max_fpr``.

    The area is that under the step curve of one order, expected over tie orders, so the value lies in [0, 1], is 1
    when every positive leads, about ``max_fpr / 2`` for random scores, and ``roc_auc`` at ``max_fpr=1``. No McClish
    correction is made: where nothing ties, scikit-learn's ``roc_auc_score(max_fpr=f)`` is
    ``(1 + (f * p - f^2 / 2) / (f - f^2 / 2)) / 2`` with p this value. Where ``max_fpr`` falls inside a block of ties
    the two differ further: scikit-learn cuts a straight line, which is not the mean of the orders it stands for.

    >>> partial_auc([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1], max_fpr=0.5)
    0.5
    """
    if not 0 < max_fpr <= 1:
        raise InputError(f"max_fpr must be in (0, 1], got {max_fpr}. Pass for example max_fpr=0.1.")
    return partial_auc_of_blocks(tie_blocks(labels, scores), max_fpr)


def average_precision(labels: ArrayLike, scores: ArrayLike) -> float:
    """Mean, over the positives, of the precision at the rank of each, expected over tie orders.

    ``(1 / n+) * sum over positives of (positives up to this rank) / rank``. Where nothing ties, this is scikit-learn's
    ``average_precision_score``. With ties that function lets all rows of a block enter at one threshold, which no
    order of the rows gives; here it is the mean of what the orders give.

    >>> average_precision([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1])
    0.833...
    >>> average_precision([1, 0], [0.5, 0.5])  # 1 or 1/2; scikit-learn: 1/2
    0.75
    """
    return average_precision_of_blocks(tie_blocks(labels, scores))


def auc_of_blocks(blocks: TieBlocks) -> float:
    """ROC area of rows already summed into blocks."""
    n_positive = need_positives(blocks, "ROC area")
    n_negative = need_negatives(blocks, "ROC area")
    won = before(blocks.positive) + blocks.positive / 2
    pairs_won = float((won * blocks.negative).sum())  # not `@`: its threads cost more than they save, and vary the sum
    return pairs_won / (n_positive * n_negative)


def partial_auc_of_blocks(blocks: TieBlocks, max_fpr: float) -> float:
    """Partial ROC area of rows already summed into blocks; weights must be whole numbers.

    In a block with P positives and N negatives, P * j / (N + 1) of the positives are expected before the j-th negative.
    """
    n_positive = need_positives(blocks, "Partial ROC area")
    n_negative = need_negatives(blocks, "Partial ROC area")
    negative = blocks.negative
    counted = np.clip(max_fpr * n_negative - before(negative), 0, negative)  # negatives left of max_fpr in each block
    whole = np.floor(counted)
    rank_sum = whole * (whole + 1) / 2 + (counted - whole) * (whole + 1)
    area = before(blocks.positive) * counted + blocks.positive / (negative + 1) * rank_sum
    return float(area.sum()) / (max_fpr * n_negative * n_positive)


def average_precision_of_blocks(blocks: TieBlocks) -> float:
    """Average precision of rows already summed into blocks; weights must be whole numbers.

    In a block with n rows, p of them positive, the j-th row is positive with chance p/n, and then (j-1)(p-1)/(n-1)
    positives are expected among the j-1 rows of the block before it.
    """
    n_positive = need_positives(blocks, "Average precision")
    hit = blocks.positive > 0  # the others add nothing; where positives are rare, that is nearly all
    weight, positive = blocks.weight[hit], blocks.positive[hit]
    size = weight.astype(np.int64)
    place = np.arange(1, size.sum() + 1) - np.repeat(before(weight), size)  # j, from 1, inside the block
    rank = np.repeat(before(blocks.weight)[hit], size) + place
    chance = np.repeat(positive / weight, size)
    other_share = np.repeat((positive - 1) / np.maximum(weight - 1, 1), size)
    hits = np.repeat(before(blocks.positive)[hit], size) + 1 + (place - 1) * other_share
    return float((chance * hits / rank).sum()) / n_positive
