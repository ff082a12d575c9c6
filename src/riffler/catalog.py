"""The name tables of all families, gathered for the command line and the pages; each family owns its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from riffler.errors import UnknownName


def _data_sets() -> Iterable[str]:
    from riffler.data.public import names

    return names()


def _rankers() -> Iterable[str]:
    from riffler.learners import RANKERS

    return RANKERS


def _surrogates() -> Iterable[str]:
    from riffler.losses import SURROGATES

    return SURROGATES


FAMILIES: dict[str, Callable[[], Iterable[str]]] = {
    "data set": _data_sets,
    "ranker": _rankers,
    "surrogate": _surrogates,
}
"""How to ask each family for its names; asked one by one, as some tables are read from files."""


def known_names(family: str) -> tuple[str, ...]:
    """Give the names a user may write, sorted.

    >>> known_names("surrogate")
    ('avg', 'max', 'ramp', 'struct')
    """
    if family not in FAMILIES:
        raise UnknownName.among("family", family, FAMILIES)
    return tuple(sorted(FAMILIES[family]()))
