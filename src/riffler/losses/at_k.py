"""Surrogates of the precision-at-k loss: ramp, max, avg (Kar, Narasimhan and Jain 2015) and struct (Joachims 2005).

All count negatives among the first k, so on any scores ``prec_at_k_loss <= ramp <= avg <= max``; struct is convex but
no upper bound when k is below the number of positives. With s-(j) the j-th best negative and s+(j) the j-th best
positive:

    ramp   = sum_{j <= k} max(0, 1 + s-(j) - s+(k - j + 1))
    max    = sum_{j <= k} max(0, 1 + s-(j) - s+(n+ - j + 1))
    struct = ramp - sum_{j > k} s+(j)
    avg    = max_D  D + sum_{j <= D} s-(j) - D * mean(s+(k - D + 1) .. s+(n+))

A surrogate is any object with ``value_and_slope(scores, labels, k, weight)``. The four here also carry a ``code`` that
the compiled epochs understand; a user's own object without one runs batch by batch through its method.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np

from riffler.records import FloatArray, IntArray


@runtime_checkable
class Surrogate(Protocol):
    """What a learner needs of a precision-at-k surrogate."""

    def value_and_slope(
        self, scores: FloatArray, labels: IntArray, k: float, weight: FloatArray | None = None
    ) -> tuple[float, FloatArray]:
        """Return the surrogate of one batch and its slope in each score."""
        ...


@dataclass(frozen=True)
class _CompiledSurrogate:
    """A surrogate whose closed form lives in ``_fast.at_k``; O(n + n+ log n+ + k log n)."""

    code: ClassVar[int]

    def value_and_slope(
        self, scores: FloatArray, labels: IntArray, k: float, weight: FloatArray | None = None
    ) -> tuple[float, FloatArray]:
        """Return the surrogate and its slope in each score; rows of equal score share the slope by weight.

        ``labels`` are 1 for positives and 0 (or -1) for negatives, ``weight`` counts repetitions of a row, and k lies
        in (0, positive weight].
        """
        from riffler._fast.at_k import surrogate_slopes

        scores = np.ascontiguousarray(scores, dtype=np.float64)
        weight = np.ones(len(scores)) if weight is None else np.ascontiguousarray(weight, dtype=np.float64)
        labels = np.ascontiguousarray(labels, dtype=np.int8)
        slopes = np.empty(len(scores))
        room = np.empty(2 * len(scores), dtype=np.int64)
        value = surrogate_slopes(self.code, scores, labels, weight, len(scores), float(k), slopes, room)
        return float(value), slopes

    def value(self, scores: FloatArray, labels: IntArray, k: float, weight: FloatArray | None = None) -> float:
        """Return the surrogate alone."""
        return self.value_and_slope(scores, labels, k, weight)[0]


class Ramp(_CompiledSurrogate):
    """Tight non-convex upper bound: compares the best negatives with the k best positives.

    >>> import numpy as np
    >>> scores, labels = np.array([2, 1.5, 1, 0.5, 0, -1]), np.array([0, 1, 0, 1, 1, 0])
    >>> Ramp().value(scores, labels, k=2)
    3.0
    """

    code: ClassVar[int] = 0


class Max(_CompiledSurrogate):
    """Convex upper bound: compares the best negatives with the worst positives.

    >>> import numpy as np
    >>> scores, labels = np.array([2, 1.5, 1, 0.5, 0, -1]), np.array([0, 1, 0, 1, 1, 0])
    >>> Max().value(scores, labels, k=2)
    4.5
    """

    code: ClassVar[int] = 1


class Avg(_CompiledSurrogate):
    """Convex upper bound between ramp and max: compares the best negatives with the mean of the missed positives.

    >>> import numpy as np
    >>> scores, labels = np.array([2, 1.5, 1, 0.5, 0, -1]), np.array([0, 1, 0, 1, 1, 0])
    >>> value, slope = Avg().value_and_slope(scores, labels, k=1)
    >>> round(value, 4), slope.round(2)
    (2.3333, array([ 1.  , -0.33,  0.  , -0.33, -0.33,  0.  ]))
    """

    code: ClassVar[int] = 2


class Struct(_CompiledSurrogate):
    """The structural-SVM surrogate: convex, but below the true loss on some scores when k < n+.

    >>> import numpy as np
    >>> scores, labels = np.array([2, 1.5, 1, 0.5, 0, -1]), np.array([0, 1, 0, 1, 1, 0])
    >>> Struct().value(scores, labels, k=1)
    1.0
    """

    code: ClassVar[int] = 3
