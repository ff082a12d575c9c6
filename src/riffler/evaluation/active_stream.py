"""Labelled data as a stream: batches in random order, and rows kept aside to measure on."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from riffler.errors import InputError, LabelError
from riffler.records import IntArray, Matrix


@dataclass(frozen=True, slots=True, eq=False)
class Stream:
    """Rows that come in batches; who asks sees X only, the labels are for the oracle and for measuring.

    X : array or CSR matrix, shape (n_rows, n_features)
    labels : 0 or 1 for each row, the truth
    batches : row numbers of each batch, in the order of arrival
    held_out : row numbers that never arrive
    """

    X: Matrix
    labels: IntArray
    batches: tuple[IntArray, ...]
    held_out: IntArray


def random_stream(
    X: Matrix, labels: ArrayLike, seed: int, n_batches: int | None = None, held_out: float = 0.1
) -> Stream:
    """Hold out a random share of the rows, and deal the others into batches of equal size (to one row).

    Without ``n_batches`` there are ``round(ln n)`` of them, n the rows that are dealt.

    >>> stream = random_stream(np.zeros((100, 2)), np.arange(100) % 2, seed=0)
    >>> [len(batch) for batch in stream.batches], len(stream.held_out)
    ([23, 23, 22, 22], 10)
    """
    return Stream(X, checked_labels(X, labels), *dealt(X.shape[0], seed, n_batches, held_out))


def dealt(
    n_rows: int, seed: int, n_batches: int | None = None, held_out: float = 0.0
) -> tuple[tuple[IntArray, ...], IntArray]:
    """Deal row numbers into batches as :func:`random_stream` does; return the batches and the held-out rows."""
    if not 0 <= held_out < 1:
        raise InputError(f"held_out must be a share of at least 0 and below 1, got {held_out!r}.")
    order = np.random.default_rng(seed).permutation(n_rows)
    n_held_out = round(held_out * n_rows)
    arriving = order[n_held_out:]
    if n_batches is None:
        n_batches = max(1, round(math.log(max(1, len(arriving)))))
    if not 1 <= n_batches <= len(arriving):
        raise InputError(f"n_batches must be from 1 to the {len(arriving):,} rows that are dealt, got {n_batches!r}.")
    return tuple(np.array_split(arriving, n_batches)), np.sort(order[:n_held_out])


def thinned(X: Matrix, labels: ArrayLike, share: float, seed: int) -> IntArray:
    """Drop random positives until this share of the rows is positive; return the rows that stay, in their order.

    >>> rows = thinned(np.zeros((100, 2)), np.arange(100) % 2, share=0.1, seed=0)
    >>> len(rows), int((rows % 2).sum())
    (56, 6)
    """
    labels = checked_labels(X, labels)
    if not 0 < share < 1:
        raise InputError(f"share must lie between 0 and 1, got {share!r}.")
    positives, negatives = np.flatnonzero(labels == 1), np.flatnonzero(labels == 0)
    n_kept = round(share / (1 - share) * len(negatives))
    if not 1 <= n_kept <= len(positives):
        raise LabelError(
            f"A share of {share:g} needs {n_kept:,} positives beside {len(negatives):,} negatives; "
            f"there are {len(positives):,}, and at least 1 must stay. Pass another share."
        )
    kept = np.random.default_rng(seed).permutation(positives)[:n_kept]
    return np.sort(np.concatenate([negatives, kept]))


def checked_labels(X: Matrix, labels: ArrayLike) -> IntArray:
    """Give the labels as whole numbers: one for each row, 0 or 1."""
    given = np.asarray(labels)
    if given.shape != (X.shape[0],):
        raise LabelError(f"labels must hold one label for each of the {X.shape[0]:,} rows; got shape {given.shape}.")
    if not np.isin(given, (0, 1)).all():
        raise LabelError(f"labels must be 0 or 1; got also {given[~np.isin(given, (0, 1))][0]!r}.")
    return given.astype(np.int64)
