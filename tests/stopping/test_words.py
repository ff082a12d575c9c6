"""Shares in words: never more than they are, and as exact as they were set."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from riffler.stopping.words import per_cent

NOISE = Fraction(1, 10**11)


@pytest.mark.parametrize("decimals", [0, 1, 6])
def test_a_share_is_never_rounded_up(decimals: int) -> None:
    shares = [*np.random.default_rng(5).random(2000), 0.999, 0.9999, 0.99999999, 1 - 1e-15, 0.0, 1e-9]
    for share in shares:
        said = Fraction(per_cent(float(share), decimals).removesuffix("%")) / 100
        exact = Fraction(float(share))
        assert exact - Fraction(1, 10 ** (decimals + 2)) <= said <= exact + NOISE
        assert said < 1


def test_a_goal_keeps_the_digits_it_was_set_with() -> None:
    for thousandths in range(1, 1000):
        assert Fraction(per_cent(thousandths / 1000).removesuffix("%")) == Fraction(thousandths, 10)
