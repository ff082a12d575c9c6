"""How candidates are judged: folds, the k of a part, and what a candidate is worth."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import KFold

from riffler import precision_at_k, roc_auc
from riffler.errors import InputError
from riffler.learners import validation
from riffler.learners.validation import NEIGHBOURS, Judge, Worth, folds_of, part_k
from riffler.records import BoolArray, FloatArray

rng = np.random.default_rng(0)
LABELS = (np.arange(90) % 3 == 0).astype(np.int8)
ONES = np.ones(90)


def test_few_positives_give_three_folds_that_hold_out_each_row_once() -> None:
    train, held_out = folds_of(None, LABELS, ONES, np.random.RandomState(0))
    assert train.shape == held_out.shape == (3, 90)
    np.testing.assert_array_equal(train, ~held_out)
    np.testing.assert_array_equal(held_out.sum(axis=0), 1)
    assert [int(LABELS[mask].sum()) for mask in held_out] == [10, 10, 10]


def test_many_positives_give_one_split_of_a_quarter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(validation, "MANY_POSITIVES", 30)
    train, held_out = folds_of(None, LABELS, ONES, np.random.RandomState(0))
    assert train.shape == (1, 90)
    np.testing.assert_array_equal(train, ~held_out)
    assert held_out.sum() == pytest.approx(90 / 4, abs=1)


def test_rows_of_weight_zero_are_in_no_part() -> None:
    weight = ONES.copy()
    weight[:45] = 0
    train, held_out = folds_of(None, LABELS, weight, np.random.RandomState(0))
    assert not (train | held_out)[:, :45].any()
    assert (train | held_out)[:, 45:].all()


def test_a_single_positive_cannot_be_held_out() -> None:
    train, held_out = folds_of(None, np.array([1, 0, 0], dtype=np.int8), np.ones(3), np.random.RandomState(0))
    assert train.shape == held_out.shape == (0, 3)


def test_folds_as_scikit_learn_takes_them() -> None:
    train, held_out = folds_of(5, LABELS, ONES, np.random.RandomState(0))
    assert len(train) == 5
    rows = np.arange(90)
    given = [(rows[30:], rows[:30]), (rows[:60], rows[60:])]
    train, held_out = folds_of(given, LABELS, ONES, np.random.RandomState(0))
    assert held_out[0, :30].all()
    assert held_out[1, 60:].all()
    assert train.sum() == 120


def test_a_fold_of_one_class_is_named() -> None:
    in_order = np.sort(LABELS)
    with pytest.raises(InputError, match=r"The held-out part of fold 0 of cv holds one class only"):
        folds_of(KFold(3), in_order, ONES, np.random.RandomState(0))


def test_k_of_a_part() -> None:
    assert part_k(30, 50.0, 100.0, 40.0) == 15.0  # half of the rows: half of the top
    assert part_k(0.25, 50.0, 100.0, 40.0) == 10.0  # a share of the positives there
    assert part_k(30, 50.0, 100.0, 7.0) == 7.0
    assert part_k(1, 10.0, 100.0, 7.0) == 1.0


def folds() -> BoolArray:
    return folds_of(None, LABELS, ONES, np.random.RandomState(0))[1]


def some_scores() -> list[FloatArray]:
    return [LABELS + rng.normal(size=90) for _ in range(3)]


@pytest.mark.parametrize("k", [0.5, 12])
def test_worth_is_what_the_metrics_say(k: int | float) -> None:
    held_out, scores = folds(), some_scores()
    worth = Judge(k, LABELS, ONES, held_out).worth(scores)
    precisions, areas = [], []
    for mask, one in zip(held_out, scores, strict=True):
        labels, part = LABELS[mask], one[mask]
        k_here = part_k(k, 30.0, 90.0, 10.0)
        around = sorted({int(around) for around in np.round(k_here * NEIGHBOURS)})
        precisions.append(np.mean([precision_at_k(labels, part, near) for near in around]))
        areas.append(roc_auc(labels, part))
    assert worth.precision == pytest.approx(np.mean(precisions))
    assert worth.auc == pytest.approx(np.mean(areas))
    assert worth.noise == 0.0  # nothing to compare with yet


def test_noise_is_zero_for_the_same_top_and_grows_with_what_differs() -> None:
    held_out, scores = folds(), some_scores()
    judge = Judge(0.5, LABELS, ONES, held_out)
    judge.compare_with(scores)
    assert judge.worth(scores).noise == 0.0
    assert judge.worth([2 * one + 1 for one in scores]).noise == 0.0  # the same order
    other = [one.copy() for one in scores]
    mask = np.flatnonzero(held_out[0])
    ranked = mask[np.argsort(-other[0][mask])]
    outside = next(row for row in ranked[5:] if LABELS[row])
    loser = ranked[4]
    other[0][loser], other[0][outside] = other[0][outside], other[0][loser]
    changed = 1 + LABELS[loser]  # positives that came in or went out
    assert judge.worth(other).noise == pytest.approx(np.sqrt(changed) / 15)
    assert Worth(0.9, 0.8, 0.04).weighed(0.5) == pytest.approx(0.5 * (0.9 - 0.01) + 0.5 * 0.8)


def test_ties_at_the_cut_share_it() -> None:
    weight = np.array([1.0, 2.0, 1.0, 1.0])
    np.testing.assert_allclose(validation._top(np.array([3.0, 2, 2, 1]), weight, 2.0), [1, 1 / 3, 1 / 3, 0])
    np.testing.assert_allclose(validation._top(np.array([3.0, 2, 2, 1]), weight, 4.0), [1, 1, 1, 0])
