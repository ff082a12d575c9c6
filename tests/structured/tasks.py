"""Small tasks of a few lines, as a user would write them: outputs are enumerated, so nothing in them can be wrong."""

# ruff: noqa: ANN401 - inputs and outputs are the task's own business
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from riffler.records import FloatArray
from riffler.structured.one_by_one import OneByOne


class Enumerated:
    """A task that tries all outputs."""

    def outputs(self, x: Any) -> Sequence[Any]:
        raise NotImplementedError

    def joint_feature(self, x: Any, y: Any) -> FloatArray:
        raise NotImplementedError

    def loss(self, y: Any, other: Any) -> float:
        return float(np.sum(np.atleast_1d(y) != np.atleast_1d(other)))

    def argmax(self, x: Any, weights: FloatArray) -> Any:
        return max(self.outputs(x), key=lambda other: float(weights @ self.joint_feature(x, other)))

    def loss_augmented_argmax(self, x: Any, y: Any, weights: FloatArray) -> Any:
        return max(
            self.outputs(x), key=lambda other: self.loss(y, other) + float(weights @ self.joint_feature(x, other))
        )

    def slack_augmented_argmax(self, x: Any, y: Any, weights: FloatArray) -> Any:
        truth = self.joint_feature(x, y)
        return max(
            self.outputs(x),
            key=lambda other: self.loss(y, other) * (1 - float(weights @ (truth - self.joint_feature(x, other)))),
        )


@dataclass(frozen=True)
class Classes(Enumerated):
    """One of some classes: x stands in the block of its class."""

    n_classes: int

    def outputs(self, x: FloatArray) -> Sequence[int]:
        return range(self.n_classes)

    def joint_feature(self, x: FloatArray, y: int) -> FloatArray:
        return np.kron(np.eye(self.n_classes)[y], x)


@dataclass(frozen=True)
class Tags(Enumerated):
    """A short sequence of tags: rows of x stand in the block of their tag, pairs of tags are counted."""

    n_tags: int

    def outputs(self, x: FloatArray) -> Sequence[tuple[int, ...]]:
        return list(product(range(self.n_tags), repeat=len(x)))

    def joint_feature(self, x: FloatArray, y: Sequence[int]) -> FloatArray:
        eye = np.eye(self.n_tags)
        tags = eye[np.array(y, dtype=int)]
        return np.concatenate([(tags.T @ x).ravel(), (tags[:-1].T @ tags[1:]).ravel()])


class Spiteful(Classes):
    """Classes whose oracle minimises where it should maximise, and never thinks of the truth."""

    def loss_augmented_argmax(self, x: Any, y: Any, weights: FloatArray) -> Any:
        others = [other for other in self.outputs(x) if other != y]
        return min(others, key=lambda other: self.loss(y, other) + float(weights @ self.joint_feature(x, other)))


def class_examples(n: int = 40, n_columns: int = 4, n_classes: int = 3, seed: int = 0) -> tuple[FloatArray, list[int]]:
    """Rows around the centres of their classes, which overlap."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, n_classes, n)
    return rng.normal(size=(n_classes, n_columns))[labels] + rng.normal(size=(n, n_columns)), labels.tolist()


def tag_examples(
    n: int = 15, n_columns: int = 3, n_tags: int = 3, seed: int = 0
) -> tuple[list[FloatArray], list[tuple[int, ...]]]:
    """Sequences of one to four rows whose tags depend on the row and on the tag before."""
    rng = np.random.default_rng(seed)
    X: list[FloatArray] = []
    Y: list[tuple[int, ...]] = []
    centres = rng.normal(size=(n_tags, n_columns))
    for length in rng.integers(1, 5, n):
        start = int(rng.integers(n_tags))
        tags = tuple((start + step) % n_tags for step in range(length))
        X.append(centres[list(tags)] + rng.normal(size=(length, n_columns)))
        Y.append(tags)
    return X, Y


def class_problem(rescaling: str = "margin", **settings: int) -> OneByOne:
    """The examples of classes as a problem for the solvers."""
    X, y = class_examples(**settings)
    return OneByOne(Classes(max(y) + 1), list(X), y, rescaling)


def tag_problem(rescaling: str = "margin", **settings: int) -> OneByOne:
    """The examples of tags as a problem for the solvers."""
    X, Y = tag_examples(**settings)
    return OneByOne(Tags(3), X, Y, rescaling)
