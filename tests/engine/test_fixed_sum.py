"""Nodes of the tree of sums give the same bits whoever joined which of them before."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from riffler.engine import at_worker
from riffler.engine.fixed_sum import Node, joined, total_of

TERMS = np.random.default_rng(0).normal(size=(70, 3)) * 10.0 ** np.random.default_rng(1).integers(-9, 9, (70, 1))


@given(n=st.integers(1, 70), owners=st.lists(st.integers(0, 3), min_size=70, max_size=70))
def test_the_sum_is_that_of_one_place_whoever_has_which_blocks(n: int, owners: list[int]) -> None:
    nodes = [Node(at, 1, TERMS[at]) for at in range(n)]
    parts = [joined(node for node in nodes if owners[node.first] == owner) for owner in range(4)]
    together = sorted((node for part in parts for node in part), key=lambda node: node.first)
    assert sum(node.size for node in together) == n
    np.testing.assert_array_equal(total_of(together), total_of(nodes))


def test_neighbours_travel_as_few_nodes() -> None:
    answers = [joined([Node(at, 1, TERMS[at])]) for at in range(50)]
    found = at_worker._added_up([*answers[:20], at_worker.NotHeld(), *answers[21:]])
    assert isinstance(found[20], at_worker.NotHeld)
    nodes = [node for answer in found if isinstance(answer, list) for node in answer]
    assert [(node.first, node.size) for node in nodes] == [
        (0, 16),
        (16, 4),
        (21, 1),
        (22, 2),
        (24, 8),
        (32, 16),
        (48, 2),
    ]
    assert at_worker._added_up([at_worker.NotHeld()]) == [at_worker.NotHeld()]
