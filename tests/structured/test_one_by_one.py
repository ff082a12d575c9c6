"""A task of a user's own may err: what it answers is checked, and the method and the example are named."""

# ruff: noqa: ANN401 - inputs and outputs are the task's own business
from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from riffler.errors import InputError, OracleError
from riffler.records import FloatArray
from riffler.structured.one_by_one import OneByOne
from riffler.structured.structural_svm import StructuralSVM
from tests.structured.tasks import Classes


class LossTakenOff(Classes):
    """Its oracle subtracts the loss: at weights of 0 it answers the truth, which violates nothing."""

    def loss_augmented_argmax(self, x: Any, y: Any, weights: FloatArray) -> Any:
        return max(
            self.outputs(x), key=lambda other: float(weights @ self.joint_feature(x, other)) - self.loss(y, other)
        )


class Growing(Classes):
    """Its vectors have another length for each class."""

    def joint_feature(self, x: Any, y: Any) -> FloatArray:
        return np.ones(3 + y)


X, Y = list(np.eye(3)), [0, 1, 2]


def test_a_loss_of_the_wrong_sign_is_told_though_the_truth_is_answered() -> None:
    with pytest.warns(UserWarning, match="Nothing was learned: at weights of 0 no output costs more than the truth"):
        StructuralSVM(LossTakenOff(3), random_state=0).fit(X, Y)


def test_a_sound_task_passes() -> None:
    assert StructuralSVM(Classes(3), C=10, random_state=0).fit(X, Y).score(X, Y) == 1.0


def test_vectors_of_other_lengths_are_named() -> None:
    with pytest.raises(OracleError, match=r"gave 3 numbers for example 0 and 4 for example 1"):
        OneByOne(Growing(3), X, Y)


def test_features_that_are_not_finite_are_named() -> None:
    with pytest.raises(InputError, match="Example 1 has a joint feature that is not finite"):
        OneByOne(Classes(3), [X[0], X[1] * np.nan, X[2]], Y)


def test_slack_rescaling_needs_its_method() -> None:
    class Margin:
        joint_feature, loss, argmax = Classes.joint_feature, Classes.loss, Classes.argmax
        loss_augmented_argmax = Classes.loss_augmented_argmax

    with pytest.raises(InputError, match="Margin has no slack_augmented_argmax"):
        OneByOne(Margin(), X, Y, "slack")


class Forgetful(Classes):
    """Its oracle forgets the loss: what it gives is never worse than the truth, but not the worst there is."""

    def loss_augmented_argmax(self, x: Any, y: Any, weights: FloatArray) -> Any:
        return self.argmax(x, weights)


@pytest.mark.parametrize("solver", ["block-descent", "n-slack", "one-slack"])
def test_a_bound_above_the_objective_tells_of_an_oracle_that_is_not_exact(solver: str) -> None:
    rng = np.random.default_rng(0)
    rows, classes = list(rng.normal(size=(30, 3))), rng.integers(3, size=30).tolist()
    with pytest.raises(OracleError, match=r"stands above an objective of .* does not find the most violating output"):
        StructuralSVM(Forgetful(3), solver=solver, C=10, tol=1e-3, random_state=0).fit(rows, classes)


def test_the_truth_costs_nothing() -> None:
    class Dear(Classes):
        def loss(self, y: Any, other: Any) -> float:
            return 1.0

    with pytest.raises(OracleError, match=r"Dear\.loss gave 1\.0 for the truth itself, in example 0"):
        OneByOne(Dear(3), X, Y)


def test_a_task_cannot_change_the_weights_of_the_solver() -> None:
    class Grabbing(Classes):
        def loss_augmented_argmax(self, x: Any, y: Any, weights: FloatArray) -> Any:
            weights /= 2
            return super().loss_augmented_argmax(x, y, weights)

    with pytest.raises(ValueError, match="read-only"):
        StructuralSVM(Grabbing(3), random_state=0).fit(X, Y)
