"""What the panel says of the goal."""

from __future__ import annotations

import pytest

from riffler.review.panel import advice_of
from riffler.review.settings import ReviewSettings
from riffler.stopping.progress import Decision


@pytest.mark.parametrize(
    "decision", [Decision(True, "Proved.", True, 0.999, 0), Decision(False, "No.", True, n_more=9)]
)
def test_the_goal_is_claimed_as_it_was_set(decision: Decision) -> None:
    _, sentence = advice_of(decision, ReviewSettings(target=0.999, confidence=0.955))
    assert "at least 99.9% of all relevant documents are found, with 95.5% confidence" in sentence
