"""The paper's reason to sample: "more robust to adversarial or noisy data". Wrong answers, and unkind orders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from riffler.reproduction.active_at_k_cases import Case, Feed, with_all_schemes
from riffler.reproduction.active_at_k_feeds import ORDERS


def flipped_cases(feed: Feed, k: int, shares: Sequence[float]) -> dict[float, list[Case]]:
    """Give the four schemes for each share of wrong answers."""
    return {share: with_all_schemes(replace(feed, flipped=share), k) for share in shares}


def ordered_cases(feed: Feed, k: int) -> dict[str, list[Case]]:
    """Give the four schemes for each order in which an adversary may send the rows."""
    return {order: with_all_schemes(replace(feed, order=order), k) for order in ORDERS}
