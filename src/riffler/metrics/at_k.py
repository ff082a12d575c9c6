"""How good the first k answers are.

With ``top`` the expected number of positives among the k best scored rows, and n+ the number of positives:

    precision_at_k = top / k        prec_at_k_loss = k - top        recall_at_k = top / n+

A block of ties that reaches over the k-th place gives each of its rows the same chance to be inside.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from riffler.errors import InputError
from riffler.metrics.checked import UndefinedMetric
from riffler.metrics.ties import TieBlocks, need_positives, tie_blocks


def check_k(k: int | float) -> None:
    """Accept a positive integer or a float in (0, 1]; anything else is an error that says what to pass."""
    expected = "k must be a positive integer (that many rows) or a float in (0, 1] (that share of the positives)"
    if isinstance(k, bool | np.bool_) or not isinstance(k, int | float | np.integer | np.floating):
        raise InputError(f"{expected}, got {k!r}. Pass for example k=50 or k=0.25.")
    if isinstance(k, int | np.integer):
        if k < 1:
            raise InputError(f"{expected}, got {k}. Pass for example k=50 or k=0.25.")
    elif k > 1:
        raise InputError(f"{expected}, got the float {k}. For a number of rows pass an int, such as k={round(k)}.")
    elif not k > 0:  # also NaN
        raise InputError(f"{expected}, got {k}. Pass for example k=50 or k=0.25.")


def resolve_k(k: int | float, n_positive: float) -> int:
    """Turn k as a user gives it into a number of rows: the only place that interprets k.

    An integer is itself. A float kappa in (0, 1] is a share of the positives, ``max(1, round(kappa * n_positive))``
    (halves round to even), so ``1`` means one row and ``1.0`` as many rows as there are positives. With sample
    weights, ``n_positive`` is the weight of the positives, and the answer is in the same unit: repeated rows.

    >>> resolve_k(50, 7), resolve_k(0.25, 12), resolve_k(0.25, 1), resolve_k(1, 12), resolve_k(1.0, 12)
    (50, 3, 1, 1, 12)
    """
    check_k(k)
    if isinstance(k, int | np.integer):
        return int(k)
    if not 0 < n_positive < np.inf:
        raise UndefinedMetric(
            f"k={k} is a share of the positives, but there are {n_positive:g} of them. "
            "Check the labels, or pass k as an int."
        )
    return max(1, round(float(k) * float(n_positive)))


def precision_at_k(
    labels: ArrayLike, scores: ArrayLike, k: int | float, *, sample_weight: ArrayLike | None = None
) -> float:
    """Share of positives among the k best scored rows, expected over tie orders.

    ``k`` is an integer, at most the number of rows, or a float in (0, 1]: that share of the positives
    (:func:`resolve_k`). A row of weight w counts as w equal rows, in the top, in k and in the positives.

    >>> precision_at_k([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1], k=2)
    0.5
    >>> precision_at_k([1, 0, 1, 0], [0.9, 0.5, 0.5, 0.5], k=2)  # the second place is drawn among three rows
    0.666...
    """
    return precision_of_blocks(tie_blocks(labels, scores, sample_weight), k)


def prec_at_k_loss(labels: ArrayLike, scores: ArrayLike, k: int | float) -> float:
    """Number of negatives among the k best scored rows, expected over tie orders: ``k * (1 - precision_at_k)``.

    >>> prec_at_k_loss([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1], k=3)
    1.0
    """
    return loss_of_blocks(tie_blocks(labels, scores), k)


def recall_at_k(
    labels: ArrayLike, scores: ArrayLike, k: int | float, *, sample_weight: ArrayLike | None = None
) -> float:
    """Share of all positives that are among the k best scored rows, expected over tie orders.

    >>> recall_at_k([1, 0, 1, 1], [0.9, 0.8, 0.7, 0.1], k=3)
    0.666...
    """
    return recall_of_blocks(tie_blocks(labels, scores, sample_weight), k)


def precision_of_blocks(blocks: TieBlocks, k: int | float) -> float:
    """Precision at k of rows already summed into blocks."""
    n_top, positives_in_top = _top(blocks, k)
    return positives_in_top / n_top


def loss_of_blocks(blocks: TieBlocks, k: int | float) -> float:
    """Expected negatives in the top k of rows already summed into blocks."""
    n_top, positives_in_top = _top(blocks, k)
    return n_top - positives_in_top


def recall_of_blocks(blocks: TieBlocks, k: int | float) -> float:
    """Recall at k of rows already summed into blocks."""
    n_positive = need_positives(blocks, "Recall at k")
    return _top(blocks, k)[1] / n_positive


def _top(blocks: TieBlocks, k: int | float) -> tuple[int, float]:
    """Return k as a number of rows, and the expected positives among that many."""
    n_top = resolve_k(k, blocks.n_positive)
    reached = np.cumsum(blocks.weight)
    if n_top > reached[-1] * (1 + 1e-9):  # fractional weights may add up to a hair less than they should
        raise InputError(
            f"k={k} asks for the {n_top} best rows, but there are only {reached[-1]:g} (with sample_weight, the sum "
            "of the weights). Pass a smaller k, or a float in (0, 1] for a share of the positives."
        )
    last = min(int(np.searchsorted(reached, n_top)), reached.size - 1)  # the block in which the k-th place lies
    room = n_top - (reached[last] - blocks.weight[last])
    inside = blocks.positive[last] * min(1.0, room / blocks.weight[last])
    return n_top, float(blocks.positive[:last].sum() + inside)
