"""Which labels may follow each other, and what it costs to mistake one for another."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from riffler.errors import InputError, UnknownName
from riffler.records import BoolArray, FloatArray

LabelCosts = ArrayLike
"""A square table: what it costs to say the label of the column where that of the row is true."""


@dataclass(frozen=True, slots=True, eq=False)
class Allowed:
    """Which labels may begin and end a sequence, and which may come after which.

    labels : the labels the two others speak of, in their order
    first : one truth value a label
    after : after[a, b]: b may follow a
    last : one truth value a label; None: all may come last
    """

    labels: tuple[Hashable, ...]
    first: BoolArray
    after: BoolArray
    last: BoolArray | None = None


def barriers(allowed: Allowed | None, labels: tuple[Hashable, ...]) -> tuple[FloatArray, FloatArray]:
    """Give 0 where labels may come first, last (two rows) and after each other, minus infinity where they may not."""
    n = len(labels)
    if allowed is None:
        return np.zeros((2, n)), np.zeros((n, n))
    place = {label: number for number, label in enumerate(allowed.labels)}
    missing = [label for label in labels if label not in place]
    if missing:
        raise UnknownName(f"The rules of what may follow do not know the label {missing[0]!r}. Name it in them.")
    chosen = [place[label] for label in labels]
    everywhere = np.ones(len(allowed.labels), bool)
    ends = np.array([allowed.first, everywhere if allowed.last is None else allowed.last], dtype=bool)[:, chosen]
    after = np.asarray(allowed.after, dtype=bool)[np.ix_(chosen, chosen)]
    if not ends.any(axis=1).all():
        raise InputError("No label may come first, or none may come last. Allow at least one.")
    return np.where(ends, 0.0, -np.inf), np.where(after, 0.0, -np.inf)


def label_costs(costs: LabelCosts | None, n_labels: int) -> FloatArray:
    """Check a table of costs; None stands for 1 wherever labels differ."""
    if costs is None:
        return 1.0 - np.eye(n_labels)
    table = np.asarray(costs, dtype=np.float64)
    if table.shape != (n_labels, n_labels):
        raise InputError(
            f"costs has shape {table.shape}, there are {n_labels} labels. Pass a row and a column for each."
        )
    if not np.isfinite(table).all() or (table < 0).any() or np.diag(table).any():
        raise InputError("costs must be finite and 0 or more, and 0 on the diagonal, where nothing is mistaken.")
    return table
