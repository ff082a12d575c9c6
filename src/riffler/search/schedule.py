"""How many items to review before learning again."""

from __future__ import annotations

from riffler.errors import InputError


def autotar_batch(n_answered: int) -> int:
    """Items to review next after so many answers: batches of 1, 2, 3, ... that grow by a tenth, rounded up.

    B ← B + ⌈B / 10⌉, from 1 on (AutoTAR): retraining is frequent while it matters, and 54 batches make 10,000 answers.
    In the middle of a batch its rest is due, so batches end at the same totals however the answers come.

    >>> [autotar_batch(n) for n in (0, 1, 3, 4, 6)]
    [1, 2, 3, 2, 4]
    """
    if n_answered < 0:
        raise InputError(f"n_answered must be at least 0, got {n_answered!r}.")
    size, end = 1, 1
    while end <= n_answered:
        size += -(-size // 10)
        end += size
    return end - n_answered
