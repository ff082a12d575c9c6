"""The problem of any task, by its four methods: what it answers is checked, as a task may be a user's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from riffler.errors import InputError, OracleError
from riffler.records import FloatArray, IntArray
from riffler.structured.by_cuts import ByCuts
from riffler.structured.cutting_plane import Plane
from riffler.structured.problem import Cut, as_cut_vector, difference
from riffler.structured.task import SlackTask, Task

ROUNDING = 1e-6  # of the sums compared, by which an oracle may miss the truth: some sum in single precision


class OneByOne(ByCuts):
    """The problem of any task, asked one example after the other through its four methods."""

    def __init__(self, task: Task, X: Sequence[Any], Y: Sequence[Any], rescaling: str = "margin") -> None:
        if rescaling == "slack" and not isinstance(task, SlackTask):
            raise InputError(
                f"{type(task).__name__} has no slack_augmented_argmax, which slack rescaling asks for. "
                'Write that method, or use rescaling="margin".'
            )
        self._task, self._X, self._Y = task, X, Y
        self._rescaling = rescaling
        self._truths = [as_cut_vector(task.joint_feature(x, y)) for x, y in zip(X, Y, strict=True)]
        self.n_examples, self.n_weights = len(X), _common_length(task, self._truths)
        for example, y in enumerate(Y):
            if task.loss(y, y) != 0:
                raise OracleError(
                    f"{type(task).__name__}.loss gave {task.loss(y, y)} for the truth itself, in example {example}: it "
                    "must cost 0. Check that method."
                )

    def cut(self, example: int, weights: FloatArray) -> Cut:
        """Ask the task for the output that violates the margin most, and check that it is no worse than the truth."""
        x, y = self._X[example], self._Y[example]
        seen = weights.view()
        seen.flags.writeable = False  # the solver goes on with these
        if self._rescaling == "slack":
            other = self._task.slack_augmented_argmax(x, y, seen)  # type: ignore[attr-defined] # checked above
        else:
            other = self._task.loss_augmented_argmax(x, y, seen)
        loss = float(self._task.loss(y, other))
        indices, values = difference(self._truths[example], as_cut_vector(self._task.joint_feature(x, other)))
        if self._rescaling == "slack":
            values = loss * values
        cut = Cut(indices, values, loss)
        self._need_sound(example, cut, weights)
        return cut

    def plane(self, weights: FloatArray) -> Plane:
        """Sum the cuts of all examples."""
        slopes: FloatArray = np.zeros(self.n_weights)
        offset = 0.0
        for example in range(self.n_examples):
            cut = self.cut(example, weights)
            cut.add_to(slopes, 1.0 / self.n_examples)
            offset += cut.offset / self.n_examples
        return Plane(slopes, offset)

    def _need_sound(self, example: int, cut: Cut, weights: FloatArray) -> None:
        """Raise where a loss is impossible, or the answer is worse than the truth, whose violation is 0."""
        name = type(self._task).__name__
        if not (np.isfinite(cut.offset) and cut.offset >= 0):
            raise OracleError(
                f"{name}.loss gave {cut.offset} for example {example}: a loss is a finite number, 0 or more. "
                "Check that method."
            )
        if not np.isfinite(cut.values).all():
            raise OracleError(f"{name}.joint_feature gave a number that is not finite for example {example}.")
        height = cut.height(weights)
        scale = abs(cut.offset) + float(np.abs(cut.values) @ np.abs(weights[cut.indices]))
        if height < -ROUNDING * max(scale, 1.0):
            method = "slack" if self._rescaling == "slack" else "loss"
            raise OracleError(
                f"{name}.{method}_augmented_argmax gave a worse output than the truth for example {example}: its "
                f"violation is {height:.6g}, that of the truth is 0. The output must maximise the loss plus the score; "
                "check the sign of the loss, and that the true output is among those looked at."
            )


def _common_length(task: Task, vectors: list[tuple[IntArray, FloatArray, int]]) -> int:
    """Give the number of weights; raises where examples disagree about it."""
    for example, (_, values, length) in enumerate(vectors):
        if length != vectors[0][2]:
            raise OracleError(
                f"{type(task).__name__}.joint_feature gave {vectors[0][2]} numbers for example 0 and {length} for "
                f"example {example}. All vectors of a task have the same length."
            )
        if not np.isfinite(values).all():
            raise InputError(f"Example {example} has a joint feature that is not finite. Fix or drop that example.")
    return vectors[0][2]
