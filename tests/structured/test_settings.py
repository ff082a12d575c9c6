"""Settings of structural SVMs: what cannot be used is said by name, with its value."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from riffler.errors import InputError, UnknownName
from riffler.structured.convergence import Solution, Turn
from riffler.structured.kernel_svm import KernelStructuralSVM
from riffler.structured.kernel_task import MulticlassKernel
from riffler.structured.settings import keep_turns, need_counts_above_zero, need_numbers_above_zero, need_rescaling


def with_settings(**settings: object) -> KernelStructuralSVM:
    model = KernelStructuralSVM(MulticlassKernel())
    model.set_params(**settings)
    return model


@pytest.mark.parametrize("value", ["1", None, 0, -1.0, float("nan"), float("inf"), True, [1.0], np.array([1.0])])
def test_what_is_no_number_above_0_is_shown(value: object) -> None:
    with pytest.raises(InputError, match="tol must be above 0, got") as error:
        need_numbers_above_zero(with_settings(tol=value), "C", "tol")
    assert repr(value) in str(error.value)


@pytest.mark.parametrize("value", [1, 0.5, np.float32(0.5), np.int64(3)])
def test_numbers_of_all_kinds_pass(value: float) -> None:
    need_numbers_above_zero(with_settings(C=value), "C")


@pytest.mark.parametrize("value", ["1", None, 0, 1.5, True])
def test_what_is_no_count_is_shown(value: object) -> None:
    with pytest.raises(InputError, match="max_rounds must be an integer of 1 or more, got") as error:
        need_counts_above_zero(with_settings(max_rounds=value), "max_rounds")
    assert repr(value) in str(error.value)


def test_counts_of_numpy_pass() -> None:
    need_counts_above_zero(with_settings(max_rounds=np.int64(3)), "max_rounds")


@pytest.mark.parametrize("value", ["margins", None, ["margin"]])
def test_known_rescalings_are_listed(value: object) -> None:
    with pytest.raises(UnknownName, match=r"Known: margin, slack\."):
        need_rescaling(value)


def test_the_last_turn_is_kept_and_a_gap_is_told_where_fit_was_called() -> None:
    model = with_settings(tol=0.01)
    turns = (Turn(5, 0.1, 3.0, 1.0), Turn(10, 0.2, 2.0, 1.5))

    def fit() -> None:
        keep_turns(model, Solution(np.zeros(1), turns, converged=False), "more rounds")

    with pytest.warns(
        ConvergenceWarning, match=r"a gap of 0\.25 of the objective, tol is 0\.01.* more rounds\."
    ) as told:
        fit()
    assert told[0].filename == __file__
    assert (model.turns_, model.primal_, model.dual_, model.gap_, model.n_oracle_calls_) == (turns, 2.0, 1.5, 0.5, 10)


def test_nothing_is_told_of_a_solver_that_got_there() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        keep_turns(with_settings(), Solution(np.zeros(1), (Turn(1, 0.0, 1.0, 1.0),), converged=True), "more rounds")
