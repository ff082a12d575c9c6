"""What a structured problem is made of: four methods, and some that a task may have for speed.

A task gives every input x and output y a vector of joint features; the score of y is its inner product with the
weights. Everything else about inputs and outputs is the task's own business: the solvers look at neither.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from riffler.records import FloatArray

if TYPE_CHECKING:
    from riffler.structured.problem import Problem

JointVector = Any
"""A 1-D array, or a SciPy sparse matrix of one row."""


@runtime_checkable
class Task(Protocol):
    """Joint features, a loss, the best output, and the output that violates the margin most."""

    def joint_feature(self, x: Any, y: Any) -> JointVector:  # noqa: ANN401 - the task's own inputs and outputs
        """Give phi(x, y); all vectors of a task have the same length."""
        ...

    def loss(self, y: Any, other: Any) -> float:  # noqa: ANN401
        """Give what it costs to answer ``other`` where ``y`` is true: 0 for y itself, never below 0."""
        ...

    def argmax(self, x: Any, weights: FloatArray) -> Any:  # noqa: ANN401
        """Give the output of the highest score, weights . phi(x, output)."""
        ...

    def loss_augmented_argmax(self, x: Any, y: Any, weights: FloatArray) -> Any:  # noqa: ANN401
        """Give the output that maximises loss(y, output) + weights . phi(x, output)."""
        ...


@runtime_checkable
class SlackTask(Task, Protocol):
    """A task that can also be trained with slack rescaling."""

    def slack_augmented_argmax(self, x: Any, y: Any, weights: FloatArray) -> Any:  # noqa: ANN401
        """Give the output that maximises loss(y, output) * (1 - weights . (phi(x, y) - phi(x, output)))."""
        ...


@runtime_checkable
class FittedTask(Task, Protocol):
    """A task that learns its sizes (labels, columns) from the data, before anything else is asked of it."""

    def for_data(self, X: Sequence[Any], Y: Sequence[Any]) -> Task:
        """Give a copy that knows the labels and columns of these examples; raises InputError where they do not fit."""
        ...


@runtime_checkable
class ScaledTask(Task, Protocol):
    """A task whose losses depend on the size of the output, such as the number of wrong labels of a sequence."""

    def largest_loss(self, y: Any) -> float:  # noqa: ANN401
        """Give the loss of the worst output where y is true; scores are shares of it."""
        ...


@runtime_checkable
class BatchedTask(Task, Protocol):
    """A task that looks at all examples at once, in compiled loops; everything it does equals the four methods."""

    def problem(self, X: Sequence[Any], Y: Sequence[Any], rescaling: str) -> Problem:
        """Give the examples as a problem for the solvers; ``rescaling`` is "margin" or "slack"."""
        ...

    def argmax_of_all(self, X: Sequence[Any], weights: FloatArray) -> list[Any]:
        """Give the best output of every input."""
        ...
