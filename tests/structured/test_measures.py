"""The most violating labelling of every measure is that of looking at all labellings, ties and all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from riffler.errors import InputError, LabelError, UnknownName
from riffler.records import BoolArray, FloatArray
from riffler.structured.contingency import largest
from riffler.structured.measures import (
    F1,
    MEASURES,
    LabelMeasure,
    PrecisionAtK,
    RocArea,
    as_relevant,
    measure_from_name,
)
from tests.naive import measures as naive

OF_LABELS = [name for name in MEASURES if name != "auc"]


def cases(n_cases: int, seed: int) -> list[tuple[FloatArray, BoolArray, int]]:
    """Scores of which many are equal, or far from 0; labels with at least one of them relevant."""
    rng = np.random.default_rng(seed)
    found: list[tuple[FloatArray, BoolArray, int]] = []
    for number in range(n_cases):
        n = int(rng.integers(1, 9))
        scores = rng.integers(-3, 4, n) / 2.0 if number % 2 else rng.normal(scale=rng.choice([0.2, 1.0, 4.0]), size=n)
        y = rng.random(n) < rng.choice([0.2, 0.5, 1.0])
        y[rng.integers(n)] = True
        found.append((scores, y, int(rng.integers(1, n + 1))))
    return found


@pytest.mark.parametrize("rescaling", ["margin", "slack"])
@pytest.mark.parametrize("name", OF_LABELS)
def test_oracles_equal_enumeration(name: str, rescaling: str) -> None:
    for scores, y, k in cases(150, seed=len(name)):
        measure = measure_from_name(name, k)
        selected = measure.most_violating(scores, y, rescaling)
        best = naive.hinge(name, k, scores, y, rescaling)
        assert naive.height(name, k, scores, y, selected, rescaling) == pytest.approx(best, abs=1e-12)
        assert measure.loss(y, selected) == pytest.approx(naive.loss(name, k, y, selected), abs=1e-12)
        found = measure.oracle(y, rescaling)(scores)
        margin = found.loss - found.moves @ scores
        assert margin == pytest.approx(naive.height(name, k, scores, y, selected, "margin"), abs=1e-12)


def test_roc_area_equals_all_pairs() -> None:
    for scores, y, _ in cases(150, seed=1):
        if y.all():
            continue
        found = RocArea().oracle(y)(scores)
        assert found.loss - found.moves @ scores == pytest.approx(naive.roc_hinge(scores, y.astype(int)), abs=1e-12)
        swapped = (scores[y][:, None] - scores[~y] < 1).mean()
        assert found.loss == pytest.approx(swapped, abs=1e-12)


@pytest.mark.parametrize("name", OF_LABELS)
def test_every_loss_is_that_of_its_definition(name: str) -> None:
    for _, y, k in cases(40, seed=3):
        for other in naive.allowed(name, k, y):
            assert measure_from_name(name, k).loss(y, other) == pytest.approx(naive.loss(name, k, y, other))


def test_many_rows_are_no_trouble() -> None:
    """All tables of 100,000 relevant rows and 900,000 others would be 90 billion."""
    rng = np.random.default_rng(0)
    scores, y = rng.normal(size=1_000_000), rng.random(1_000_000) < 0.1
    selected = F1().most_violating(scores, y)
    at = naive.height("f1", 1, scores, y, selected, "margin")
    order = np.argsort(-scores)
    for n in (0, 1000, 100_000, 500_000, int(selected.sum())):  # no selection of the best scored is worse
        top = np.zeros(len(y), dtype=bool)
        top[order[:n]] = True
        assert naive.height("f1", 1, scores, y, top, "margin") <= at + 1e-9
    assert naive.height("f1", 1, scores, y, selected, "margin") > 0


def test_the_largest_of_equal_values_are_as_many_as_asked_for() -> None:
    rng = np.random.default_rng(5)
    for n in (1, 4, 9):
        values = rng.integers(0, 3, 9).astype(float)
        marked = largest(values, n)
        assert marked.sum() == n
        assert np.sort(values[marked]).tolist() == np.sort(values)[-n:].tolist()
    assert not largest(values, 0).any()


def test_names_and_labels_that_are_not_known() -> None:
    with pytest.raises(UnknownName, match=r"No measure called 'f2'\. Known: auc, error, f1"):
        measure_from_name("f2")
    with pytest.raises(LabelError, match="None of the 2 rows is relevant"):
        F1().oracle([0, 0])
    with pytest.raises(LabelError, match="one row of 0 and 1"):
        F1().loss([0, 2], [0, 1])
    with pytest.raises(InputError, match="k=5 asks for 5 rows at the top, there are 3"):
        PrecisionAtK(5).most_violating(np.zeros(3), [1, 0, 0])
    with pytest.raises(InputError, match="k must be a positive integer"):
        PrecisionAtK(0)
    with pytest.raises(InputError, match="no oracle for slack rescaling"):
        RocArea().oracle([1, 0], "slack")


def test_every_measure_of_labels_says_so() -> None:
    assert all(isinstance(measure_from_name(name), LabelMeasure) for name in OF_LABELS)
    assert [measure_from_name(name).name for name in MEASURES] == list(MEASURES)


@pytest.mark.parametrize("labels", [[[True, False]], [[1, 0]], True, 1, [1, 2], ["yes", "no"]])
def test_labels_are_one_row_of_0_and_1(labels: Any) -> None:  # noqa: ANN401 - what is no such row
    with pytest.raises(LabelError, match="The labels of a set are one row of 0 and 1"):
        as_relevant(labels)
