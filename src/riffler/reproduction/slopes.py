"""How fast something grows or falls: slopes on log axes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def log_slope(sizes: Sequence[int], means: Sequence[float]) -> tuple[float, float]:
    """Least-squares slope on log axes and its standard error.

    >>> log_slope([1, 10, 100], [1.0, 0.1, 0.01])
    (-1.0, 0.0)
    """
    x, y = np.log10(sizes), np.log10(np.maximum(means, 1e-12))
    centred = x - x.mean()
    slope = float(centred @ y / (centred @ centred))
    left = y - y.mean() - slope * centred
    error = np.sqrt(left @ left / max(len(x) - 2, 1) / (centred @ centred))
    return round(slope, 6), round(float(error), 6)
