"""Shares as a claim writes them: rounded down, never up, so that no more is said than was proved."""

from __future__ import annotations

import math


def per_cent(share: float, decimals: int = 6) -> str:
    """Write a share in per cent, cut after some decimals; the default keeps all that anybody sets as a goal.

    >>> per_cent(0.95), per_cent(0.955), per_cent(0.999), per_cent(0.57), per_cent(1.0)
    ('95%', '95.5%', '99.9%', '57%', '100%')
    >>> per_cent(0.9587, 1), per_cent(0.9999999999999999)
    ('95.8%', '99.999999%')
    """
    units = 10 ** (decimals + 2)
    # a little is added, as 0.57 * 100 is 56.99999999999999, and never so much that a part becomes all
    cut = min(math.floor(share * units + 1e-4), units if share >= 1 else units - 1)
    text = f"{cut / 10**decimals:.{decimals}f}"
    return f"{text.rstrip('0').rstrip('.') if decimals else text}%"
