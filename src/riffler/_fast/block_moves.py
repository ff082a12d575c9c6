"""Where share moves within the dual of one example."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
from __future__ import annotations

from numba import njit


@njit(cache=True)
def most_and_least(heights, shares, n_kept):
    """Give the most violating output, and the least violating one that has a share."""
    up, down = 0, -1
    for k in range(n_kept):
        if heights[k] > heights[up]:
            up = k
        if shares[k] > 0.0 and (down < 0 or heights[k] < heights[down]):
            down = k
    return up, down
