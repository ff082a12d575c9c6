"""Numbers and moments as the pages write them."""

from __future__ import annotations

import re
from datetime import datetime

from markupsafe import Markup, escape

from riffler.stopping.words import per_cent


def whole(number: float | None) -> str:
    """Write a number without decimals.

    >>> whole(12345.6), whole(None)
    ('12,346', '–')
    """
    return "–" if number is None else f"{number:,.0f}"


def share(value: float | None) -> str:
    """Write a share in per cent, never rounded up to all of it.

    >>> share(0.954), share(0.9996), share(1.0), share(0.0004), share(None)
    ('95%', '99.9%', '100%', '0.1%', '–')
    """
    if value is None:
        return "–"
    percent = round(100 * value)
    if (percent == 100 and value < 1) or (percent == 0 and value > 0):
        return f"{min(99.9, max(0.1, 100 * value)):.1f}%"
    return f"{percent}%"


def at_least(value: float | None) -> str:
    """Write a lower bound in per cent, rounded down: what is claimed holds.

    >>> at_least(0.9587), at_least(0.96), at_least(0.999)
    ('95.8%', '96%', '99.9%')
    """
    return "–" if value is None else per_cent(value, 1)


def duration(seconds: float | None) -> str:
    """Write a time in the unit that fits it.

    >>> duration(8.44), duration(30), duration(95), duration(7330), duration(None)
    ('8.4 s', '30 s', '1 min 35 s', '2 h 2 min', '–')
    """
    if seconds is None:
        return "–"
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    rounded = round(seconds)
    if rounded < 60:
        return f"{rounded} s"
    if rounded < 3600:
        return f"{rounded // 60} min {rounded % 60} s"
    return f"{rounded // 3600} h {rounded % 3600 // 60} min"


def moment(text: str) -> str:
    """Write a moment of the ledger as day and minute, in UTC.

    >>> moment("2026-11-16T14:08:09.120+00:00")
    '2026-11-16 14:08'
    """
    return datetime.fromisoformat(text).strftime("%Y-%m-%d %H:%M")


def coded(text: str) -> Markup:
    """Write what stands between backticks as code.

    >>> coded("by `riffler index` <now>")
    Markup('by <code>riffler index</code> &lt;now&gt;')
    """
    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(text))))


FILTERS = {
    "whole": whole,
    "share": share,
    "at_least": at_least,
    "per_cent": per_cent,
    "duration": duration,
    "moment": moment,
    "coded": coded,
}
"""What the templates call them."""
