"""The name tables of all families, gathered for the command line and the pages; each family owns its own."""

from __future__ import annotations


def catalog() -> dict[str, tuple[str, ...]]:
    """Give the names a user may write, by family.

    >>> catalog()["surrogate"]
    ('avg', 'max', 'ramp', 'struct')
    """
    from riffler.data.public import names
    from riffler.learners import RANKERS
    from riffler.losses import SURROGATES

    return {"data set": names(), "ranker": tuple(sorted(RANKERS)), "surrogate": tuple(sorted(SURROGATES))}
