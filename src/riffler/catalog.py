"""The name tables of all families, gathered for the command line and the pages; each family owns its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from riffler.errors import UnknownName


def _active_rankers() -> Iterable[str]:
    from riffler.learners import ACTIVE_RANKERS

    return ACTIVE_RANKERS


def _data_sets() -> Iterable[str]:
    from riffler.data.public import names

    return names()


def _kernels() -> Iterable[str]:
    from riffler.scorers import KERNELS

    return KERNELS


def _pair_rankers() -> Iterable[str]:
    from riffler.learners import PAIR_RANKERS

    return PAIR_RANKERS


def _rankers() -> Iterable[str]:
    from riffler.learners import RANKERS

    return RANKERS


def _replayed_rules() -> Iterable[str]:
    from riffler.evaluation.stopping_replay import REPLAYED

    return REPLAYED


def _samplers() -> Iterable[str]:
    from riffler.samplers import SAMPLERS

    return SAMPLERS


def _search_policies() -> Iterable[str]:
    from riffler.search import POLICIES

    return POLICIES


def _stopping_rules() -> Iterable[str]:
    from riffler.stopping import STOPPING_RULES

    return STOPPING_RULES


def _surrogates() -> Iterable[str]:
    from riffler.losses import SURROGATES

    return SURROGATES


FAMILIES: dict[str, Callable[[], Iterable[str]]] = {
    "active ranker": _active_rankers,
    "data set": _data_sets,
    "kernel": _kernels,
    "pair ranker": _pair_rankers,
    "ranker": _rankers,
    "replayed stopping rule": _replayed_rules,
    "sampler": _samplers,
    "search policy": _search_policies,
    "stopping rule": _stopping_rules,
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
