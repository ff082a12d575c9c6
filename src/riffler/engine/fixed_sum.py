"""Sums over blocks in a fixed tree, so that rounding is the same whoever adds up which of the blocks.

The tree joins neighbours, then neighbours of these, and so on: a node stands for 2^l blocks from a multiple of 2^l on.
Whoever has some neighbouring blocks can add up the nodes that lie among them; whoever gets all nodes adds up the rest.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from riffler.errors import InputError
from riffler.records import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """The sum over ``size`` blocks (a power of 2) from the block ``first`` on (a multiple of it)."""

    first: int
    size: int
    total: FloatArray


def joined(nodes: Iterable[Node]) -> list[Node]:
    """Add up neighbouring nodes where the tree joins them; of neighbouring blocks about 2 log2(blocks) are left."""
    left: list[Node] = []
    for node in nodes:
        left.append(node)
        while len(left) > 1 and _are_halves(*left[-2:]):
            upper, lower = left.pop(), left.pop()
            left.append(Node(lower.first, 2 * lower.size, lower.total + upper.total))
    return left


def _are_halves(lower: Node, upper: Node) -> bool:
    """Whether two nodes are what the tree joins to one."""
    is_next = lower.first + lower.size == upper.first
    return is_next and lower.size == upper.size and lower.first % (2 * lower.size) == 0


def total_of(nodes: Iterable[Node]) -> FloatArray:
    """Add up the nodes of all blocks, which come in order.

    >>> import numpy as np
    >>> total_of(Node(block, 1, np.array([10.0**block])) for block in range(3))
    array([111.])
    """
    left = joined(nodes)
    if not left:
        raise InputError("There is nothing to add up: no block came.")
    total = left.pop().total
    while left:
        total = left.pop().total + total
    return total
