"""The catalog lists what the families have, and every ranker it names is one."""

from __future__ import annotations

import pytest

from riffler.catalog import FAMILIES, known_names
from riffler.errors import UnknownName
from riffler.learners import ACTIVE_RANKERS, RANKERS, active_ranker_from_name, ranker_from_name


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_has_sorted_names(family: str) -> None:
    names = known_names(family)
    assert names
    assert list(names) == sorted(set(names))


@pytest.mark.parametrize("name", RANKERS)
def test_every_ranker_offers_what_the_command_line_asks_for(name: str) -> None:
    ranker = ranker_from_name(name, k=5, random_state=0)
    assert callable(ranker.fit)
    assert callable(ranker.decision_function)
    assert ranker.get_params()["k"] == 5


@pytest.mark.parametrize("name", ACTIVE_RANKERS)
def test_every_active_ranker_steps(name: str) -> None:
    ranker = active_ranker_from_name(name, k=5, random_state=0)
    assert callable(ranker.step)
    assert callable(ranker.decision_function)
    assert ranker.get_params()["k"] == 5


def test_an_unknown_active_ranker_lists_the_known_ones() -> None:
    with pytest.raises(UnknownName, match=r"No active ranker called 'nonsense'\. Known: .*iwal"):
        active_ranker_from_name("nonsense")


def test_an_unknown_family_lists_the_known_ones() -> None:
    with pytest.raises(
        UnknownName, match="ranker, replayed stopping rule, sampler, search policy, stopping rule, surrogate"
    ):
        known_names("nonsense")
