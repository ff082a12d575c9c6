"""Find them all: propose what to review next, and learn from each answer. The family's one name table is here."""

from __future__ import annotations

from collections.abc import Callable

from riffler.errors import UnknownName
from riffler.search.policies import Greedy, Random, Uncertainty
from riffler.search.view import Policy, SearchView

POLICIES: dict[str, Callable[[], Policy]] = {"greedy": Greedy, "random": Random, "uncertainty": Uncertainty}

__all__ = ["POLICIES", "Greedy", "Policy", "Random", "SearchView", "Uncertainty", "policy_from"]


def policy_from(given: str | Policy) -> Policy:
    """Return the policy itself, or the one that has this name."""
    if not isinstance(given, str):
        return given
    if given not in POLICIES:
        raise UnknownName.among("search policy", given, POLICIES)
    return POLICIES[given]()
