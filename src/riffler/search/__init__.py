"""Find them all: propose what to review next, and learn from each answer. The family's one name table is here."""

from __future__ import annotations

from collections.abc import Callable

from riffler.errors import UnknownName
from riffler.search.adaptive import Adaptive
from riffler.search.mix import Mix
from riffler.search.mmr import MaximalMarginalRelevance
from riffler.search.policies import Greedy, Random, Uncertainty
from riffler.search.schedule import autotar_batch
from riffler.search.thompson import ClusterThompson
from riffler.search.view import Policy, SearchView
from riffler.search.weight_thompson import WeightThompson

POLICIES: dict[str, Callable[[], Policy]] = {
    "default": Adaptive,
    "greedy": Greedy,
    "mix": Mix,
    "mmr": MaximalMarginalRelevance,
    "random": Random,
    "thompson": ClusterThompson,
    "uncertainty": Uncertainty,
    "weight-thompson": WeightThompson,
}

WITH_CLUSTERS = ("thompson",)
"""Policies that use soft clusters; without any they do as greedy does, and the others never look at them."""

__all__ = [
    "POLICIES",
    "WITH_CLUSTERS",
    "Adaptive",
    "ClusterThompson",
    "Greedy",
    "MaximalMarginalRelevance",
    "Mix",
    "Policy",
    "Random",
    "SearchView",
    "Uncertainty",
    "WeightThompson",
    "autotar_batch",
    "policy_from",
    "policy_name",
]


def policy_from(given: str | Policy) -> Policy:
    """Return the policy itself, or the one that has this name."""
    if not isinstance(given, str):
        return given
    if given not in POLICIES:
        raise UnknownName.among("search policy", given, POLICIES)
    return POLICIES[given]()


def policy_name(policy: Policy) -> str:
    """Return the name that a policy has in the table; one that is not in it is called by its class.

    >>> policy_name(ClusterThompson())
    'thompson'
    """
    return next((name for name, made in POLICIES.items() if made is type(policy)), type(policy).__name__)
