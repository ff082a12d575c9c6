"""The best item of each of several draws of cluster rates, without weighing every item under every draw."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from riffler.records import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from scipy import sparse


def live_clusters(memberships: sparse.csr_matrix, reviewed: BoolArray) -> BoolArray:
    """Tell for each cluster whether any of its members is left to review."""
    from riffler._fast.cluster_selection import mark_live
    from riffler._fast.rows import as_rows

    live = np.zeros(memberships.shape[1], dtype=bool)
    mark_live(as_rows(memberships), reviewed, live)
    return live


def best_for_draws(
    memberships: sparse.csr_matrix,
    chances: FloatArray,
    draws: FloatArray,
    reviewed: BoolArray,
    ties: IntArray | None = None,
) -> IntArray:
    """Pick for each row of ``draws`` the unreviewed item that is worth most: chance · Σ_k membership_k · rate_k.

    ``draws`` has shape (n, n_clusters). Rates are at least 0. An item is picked once; of equal ones the one of the
    lower number in ``ties`` wins, or the earlier without them.

    What an item is worth under any draw lies between its worth under the smallest and under the largest rates drawn.
    One of the n largest lower bounds is always left to pick, so an item whose upper bound is below them never wins.

    >>> from scipy import sparse
    >>> memberships = sparse.csr_matrix(np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]]))
    >>> draws = np.array([[0.1, 0.9], [0.1, 0.9], [0.8, 0.2]])
    >>> best_for_draws(memberships, np.array([0.5, 0.5, 0.4]), draws, np.zeros(3, dtype=bool)).tolist()
    [2, 1, 0]
    """
    from riffler._fast.cluster_selection import worth_of
    from riffler._fast.rows import as_rows

    items = np.flatnonzero(~reviewed)
    n = min(draws.shape[0], items.size)
    if n == 0:
        return items[:0]
    draws = np.ascontiguousarray(draws[:n], dtype=np.float64)
    lower, upper = np.empty(items.size), np.empty(items.size)
    worth_of(as_rows(memberships), chances, items, draws.min(axis=0), lower)
    worth_of(as_rows(memberships), chances, items, draws.max(axis=0), upper)
    able = np.flatnonzero(upper >= np.partition(lower, items.size - n)[items.size - n])
    able = able[np.argsort(-upper[able], kind="stable")]
    names = items[able]
    # gathered, so that every draw reads them in the order in which they lie
    places = _walk(memberships[names], chances[names], names if ties is None else ties[names], upper[able], draws)
    won: IntArray = names[places]
    return won


def _walk(
    memberships: sparse.csr_matrix, chances: FloatArray, ties: IntArray, upper: FloatArray, draws: FloatArray
) -> IntArray:
    """Pick for each draw among rows that stand in falling order of their upper bound."""
    from riffler._fast.cluster_selection import main_clusters, pick_for_draws
    from riffler._fast.rows import as_rows

    rows, n_rows = as_rows(memberships), ties.size
    main, share, rest = np.empty(n_rows, dtype=np.int32), np.empty(n_rows), np.empty(n_rows)
    main_clusters(rows, n_rows, main, share, rest)
    picked = np.empty(draws.shape[0], dtype=np.int64)
    taken = np.zeros(n_rows, dtype=bool)
    pick_for_draws(rows, chances, ties, upper, main, share, rest, draws, taken, picked)
    return picked
