"""Small random sequences, and their best and worst labels by trying all."""

from __future__ import annotations

from itertools import pairwise, product
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from riffler.records import FloatArray
from riffler.structured.chain import Chain

LENGTHS = (4, 1, 0, 3, 5, 2)


def made_up(seed: int, *, sparse: bool, n_labels: int = 3) -> tuple[list[Any], list[list[int]]]:
    """Sequences of all short lengths, 0 and 1 among them, of rows with some zeros."""
    rng = np.random.default_rng(seed)
    X = [rng.normal(size=(length, 5)) * (rng.random((length, 5)) < 0.6) for length in LENGTHS]
    Y = [rng.integers(n_labels, size=length).tolist() for length in LENGTHS]
    Y[0][:n_labels] = range(n_labels)  # each label occurs
    return [csr_matrix(x) for x in X] if sparse else X, Y


def all_outputs(task: Chain, length: int) -> list[list[Any]]:
    """Every sequence of labels that the rules of the task allow."""
    labels = task.labels or ()
    if task.allowed is None:
        return [list(one) for one in product(labels, repeat=length)]
    place = {label: number for number, label in enumerate(task.allowed.labels)}
    return [
        list(one)
        for one in product(labels, repeat=length)
        if (not one or task.allowed.first[place[one[0]]])
        and (not one or task.allowed.last is None or task.allowed.last[place[one[-1]]])
        and all(task.allowed.after[place[a], place[b]] for a, b in pairwise(one))
    ]


def score(task: Chain, x: Any, y: list[Any], weights: FloatArray) -> float:  # noqa: ANN401 - dense or sparse
    """Inner product of joint features and weights."""
    return float((task.joint_feature(x, y) @ weights)[0])


def violation(task: Chain, x: Any, y: list[Any], other: list[Any], weights: FloatArray, rescaling: str) -> float:  # noqa: ANN401
    """What an output violates its margin by."""
    loss, ahead = task.loss(y, other), score(task, x, y, weights) - score(task, x, other, weights)
    return loss - ahead if rescaling == "margin" else loss * (1 - ahead)
