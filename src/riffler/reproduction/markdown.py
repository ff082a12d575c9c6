"""How pages write: tables, and a mean with its spread."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    r"""Write a table in Markdown.

    >>> print(table(["a", "b"], [["1", "|w|"]]))
    | a | b |
    | --- | --- |
    | 1 | \|w\| |
    """
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def deviation(values: Sequence[float]) -> float:
    """Standard deviation of a sample; 0 of a single value.

    >>> deviation([1.0, 3.0]).__round__(3), deviation([1.0])
    (1.414, 0.0)
    """
    return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0


def with_spread(values: Sequence[float], form: str = ".3f") -> str:
    """Write the mean and the standard deviation.

    >>> with_spread([0.5, 0.7], ".2f")
    '0.60 ± 0.14'
    """
    return f"{float(np.mean(values)):{form}} ± {deviation(values):{form}}"
