"""The kernel perceptron's RBF score: all rows that were added, or at most so many of them."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from riffler.features.blocks import Scaling
from riffler.records import FloatArray, Matrix, is_sparse
from riffler.scorers.support_set import SupportSet
from riffler.scorers.width import check_count, check_gamma, warp_and_gamma


@dataclass(frozen=True, slots=True)
class Rbf:
    """The exact RBF kernel: every row that was added is a support vector, so scoring gets slower as it learns.

    gamma : exp(-gamma |x - x'|^2); None for 1 / (mean squared length of the first batch's scaled rows), about 1 / d

    >>> from riffler.features.blocks import identity_scaling
    >>> rows = np.array([[0.0], [1.0], [3.0]])
    >>> scorer = Rbf(gamma=1.0).start(rows, identity_scaling(1), seed=0)
    >>> scorer.add(rows[:2], np.array([1.0, -1.0]))
    >>> scorer.scores(rows).round(3)  # 1 - exp(-1), exp(-1) - 1, exp(-9) - exp(-4)
    array([ 0.632, -0.632, -0.018])
    """

    gamma: float | None = None

    def __post_init__(self) -> None:
        check_gamma(self.gamma)

    def start(self, X: Matrix, scaling: Scaling, seed: int) -> RbfScorer:
        """Return a scorer without support vectors."""
        return RbfScorer(SupportSet(*warp_and_gamma(X, scaling, self.gamma)))


@dataclass(frozen=True, slots=True)
class RbfRemoval:
    """An RBF kernel with at most ``max_size`` support vectors: the smallest |coefficients| go, the oldest first.

    gamma : as of ``Rbf``
    max_size : support vectors after an update
    """

    gamma: float | None = None
    max_size: int = 1000

    def __post_init__(self) -> None:
        check_gamma(self.gamma)
        check_count("max_size", self.max_size)

    def start(self, X: Matrix, scaling: Scaling, seed: int) -> RbfScorer:
        """Return a scorer without support vectors."""
        return RbfScorer(SupportSet(*warp_and_gamma(X, scaling, self.gamma)), self.max_size)


class RbfScorer:
    """A support set that grows by rows; a row that comes again adds to its coefficient."""

    def __init__(self, support: SupportSet, max_size: int | None = None) -> None:
        self.support, self.max_size = support, max_size
        self._places: dict[bytes, int] = {}

    @property
    def n_support(self) -> int:
        """Support vectors held."""
        return self.support.n_support

    def scores(self, X: Matrix) -> FloatArray:
        """Return f of each row."""
        return self.support.scores(X)

    def add(self, X: Matrix, amounts: FloatArray) -> None:
        """Let f grow by the sum of ``amounts[i]`` times the kernel around row i."""
        rows = self.support.warp(X)
        keys = row_keys(rows)
        n_old = self.n_support
        places = np.array([self._places.setdefault(key, len(self._places)) for key in keys], dtype=np.int64)
        distinct, first = np.unique(places, return_index=True)
        first = first[distinct >= n_old]
        self.support.append(rows[first], np.zeros(first.size))
        np.add.at(self.support.coefs, places, amounts)
        if self.max_size is not None and self.n_support > self.max_size:
            self._remove_smallest(self.max_size)

    def _remove_smallest(self, n_left: int) -> None:
        order = np.argsort(np.abs(self.support.coefs), kind="stable")
        left = np.sort(order[self.n_support - n_left :])
        self.support.keep(left)
        keys = list(self._places)  # in the order of their places
        self._places = {keys[old]: new for new, old in enumerate(left.tolist())}


def row_keys(rows: Matrix) -> list[bytes]:
    """Return a short key of each row, the same for equal rows only."""
    if is_sparse(rows):
        bounds = list(zip(rows.indptr[:-1].tolist(), rows.indptr[1:].tolist(), strict=True))
        contents = [rows.indices[a:b].tobytes() + rows.data[a:b].tobytes() for a, b in bounds]
    else:
        contents = [row.tobytes() for row in rows]
    return [blake2b(content, digest_size=16).digest() for content in contents]
