"""Weighted squared hinge of points, with the intercept that suits the scores best."""

from __future__ import annotations

import numpy as np

from riffler.records import FloatArray


class PointwisePoint:
    """Value, slope and curvature at some scores; the intercept follows the scores."""

    def __init__(self, scores: FloatArray, signs: FloatArray, share: FloatArray, intercept: float) -> None:
        self.intercept = _best_intercept(scores, signs, share, intercept)
        short = np.maximum(0.0, 1.0 - signs * (scores + self.intercept))
        self.stiffness: FloatArray = np.where(short > 0, 2.0 * share, 0.0)
        self.value = float(share @ np.square(short))
        self.slope: FloatArray = -2.0 * share * signs * short
        self._total = float(self.stiffness.sum())
        self._balance(self.slope)

    def bend(self, moves: FloatArray, out: FloatArray) -> None:
        """Write the second derivative times ``moves``."""
        # a middle is taken off first: columns far from 0 move all scores by nearly the same
        np.multiply(self.stiffness, moves - moves[len(moves) // 2], out=out)
        self._balance(out)

    def _balance(self, slopes: FloatArray) -> None:
        """Let the intercept follow, after which slopes sum to 0."""
        if self._total > 0:
            slopes -= self.stiffness * (float(slopes.sum()) / self._total)


def _best_intercept(scores: FloatArray, signs: FloatArray, share: FloatArray, start: float) -> float:
    """Newton's steps on a parabola in pieces; a step that leaves the bracket of the lowest point is halved into it."""
    low, high, b = -np.inf, np.inf, start
    for _ in range(100):
        short = np.maximum(0.0, 1.0 - signs * (scores + b))
        curvature = 2.0 * float(share @ (short > 0))
        pull = 2.0 * float(share @ (signs * short))
        # a step below the last digits of b would be taken for one that leaves the bracket
        if curvature <= 0 or abs(pull) <= max(1e-10, 1e-15 * abs(b)) * curvature:
            break
        low, high = (b, high) if pull > 0 else (low, b)
        b += pull / curvature
        if not low < b < high:
            b = (low + high) / 2.0
    return b


class PointwiseSquaredHinge:
    """Weighted mean of max(0, 1 - y (s + b))^2 over the rows, at the best b; y is -1 or 1, shares sum to 1.

    >>> import numpy as np
    >>> loss = PointwiseSquaredHinge(np.array([1.0, -1.0]), np.array([0.5, 0.5]))
    >>> loss.at(np.array([3.0, 2.0])).value
    0.25
    """

    def __init__(self, signs: FloatArray, share: FloatArray) -> None:
        self._signs, self._share = signs, share
        self._intercept = 0.0

    def at(self, scores: FloatArray) -> PointwisePoint:
        """Value, slope and curvature at these scores."""
        point = PointwisePoint(scores, self._signs, self._share, self._intercept)
        self._intercept = point.intercept  # where the next search starts
        return point
