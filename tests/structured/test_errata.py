"""What the slides on structured estimation get wrong about ranking, and the readings that are implemented instead."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from riffler.errors import InputError
from riffler.records import FloatArray, IntArray
from riffler.structured.assignment import Assignment
from riffler.structured.partial_order import Ordered

DISCOUNT = 1 / np.log2(np.arange(2, 7))
GRADES = np.array([0.0, 2.0, 5.0, 1.0, 0.0])
ORDERS = [np.array(order) for order in permutations(range(5))]


def dcg(gain: FloatArray, order: IntArray, n: int = 5) -> float:
    return float(gain[order][:n] @ DISCOUNT[:n])


def test_the_slide_on_sorting() -> None:
    """E13: page ranks 3, 2, 3, 9, 1 under c = 1..5 score 57, sorted 71; the text wants c to fall."""
    pages, rising = np.array([3, 2, 3, 9, 1]), np.arange(1, 6)
    assert pages @ rising == 57
    assert np.sort(pages) @ rising == 71
    assert max(pages[order] @ rising for order in ORDERS) == 71  # Hardy, Littlewood and Polya
    task = Assignment(places="linear")  # c = 5/5 .. 1/5: the same sum, from scores that fall
    x, weights = pages[:, None].astype(float), np.ones(1)
    best = task.argmax(x, weights)
    assert pages[best.order].tolist() == [9, 3, 3, 2, 1]
    assert 5 * task.joint_feature(x, best) @ weights == pytest.approx(71)
    assert 5 * task.joint_feature(x, Ordered(np.arange(5)[::-1])) @ weights == pytest.approx(57)


def test_the_gain_is_a_power_less_one() -> None:
    """E11: with 2^y + 1 differences of whole lists stay, those of shares and of the first places do not."""
    minus, plus = 2**GRADES - 1, 2**GRADES + 1
    best = np.argsort(-GRADES, kind="stable")
    for order in ORDERS[::7]:
        assert dcg(plus, best) - dcg(plus, order) == pytest.approx(dcg(minus, best) - dcg(minus, order))
        assert Assignment("ndcg").loss(GRADES, Ordered(order)) == pytest.approx(
            1 - dcg(minus, order) / dcg(minus, best)
        )
    worst = best[::-1]
    assert dcg(plus, worst) / dcg(plus, best) > dcg(minus, worst) / dcg(minus, best) + 0.05
    short = np.array([0.0, 1.0])  # a list shorter than n: the +1 form gains from documents that say nothing
    assert Assignment("ndcg", n=1).loss(short, Ordered(np.array([0, 1]))) == 1.0
    assert (2 ** short[0] + 1) / (2 ** short[1] + 1) == pytest.approx(2 / 3)


def test_the_gain_is_taken_off_the_score() -> None:
    """E12: the loss is DCG(best) - DCG(order), so the worst order maximises score - gain; added, it is the best one."""
    rng = np.random.default_rng(0)
    task, weights = Assignment("ndcg", places=0.5), np.ones(1)
    gain, places = task.gains(GRADES, "y"), np.arange(1.0, 6) ** -0.5
    x = rng.normal(scale=0.3, size=(5, 1))
    violations = {tuple(order): task.loss(GRADES, Ordered(order)) + places @ x[order, 0] for order in ORDERS}
    found = tuple(task.loss_augmented_argmax(x, GRADES, weights).order)
    assert violations[found] == pytest.approx(max(violations.values()))
    as_printed = max(ORDERS, key=lambda order: places @ x[order, 0] + DISCOUNT @ gain[order])
    assert violations[tuple(as_printed)] < max(violations.values()) - 0.1
    assert task.loss(GRADES, Ordered(as_printed)) < 0.05  # hardly a violation: the printed rule seeks what is right


def test_ratings_are_whole_numbers_from_0_to_5() -> None:
    """E14: not only 0 and 5; each grade in between counts, and negative ones are refused."""
    task = Assignment("ndcg")
    swaps = [task.loss([high, low], Ordered(np.array([1, 0]))) for high, low in ((5, 0), (5, 3), (5, 4), (1, 0))]
    assert swaps[0] > swaps[1] > swaps[2] > 0
    assert swaps[3] == pytest.approx(swaps[0])
    with pytest.raises(InputError, match="0 or more"):
        task.loss([-1, 5], Ordered(np.array([0, 1])))
