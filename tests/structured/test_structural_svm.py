"""The estimator: scikit-learn manners, what it reports, and errors that say what to do."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, KFold

from riffler.errors import InputError, OracleError, UnknownName
from riffler.structured.block_descent import BlockDescent
from riffler.structured.convergence import Turn
from riffler.structured.multiclass import Multiclass
from riffler.structured.solvers import SOLVERS
from riffler.structured.structural_svm import StructuralSVM
from tests.structured.tasks import Classes, Spiteful


@pytest.fixture(scope="module")
def flowers() -> tuple[Any, Any]:
    X, y = load_iris(return_X_y=True)
    return np.column_stack([X - X.mean(axis=0), np.ones(len(X))]), y


@pytest.mark.parametrize("solver", sorted(SOLVERS))
def test_a_fit_reports_objective_bound_calls_and_time(solver: str, flowers: tuple[Any, Any]) -> None:
    told: list[Turn] = []
    model = StructuralSVM(Multiclass(), solver=solver, C=5, tol=0.02, random_state=0, progress=told.append)
    model.fit(*flowers)
    assert told == list(model.turns_)
    assert model.gap_ == pytest.approx(model.primal_ - model.dual_)
    assert model.gap_ <= 0.02 * model.primal_
    assert model.n_oracle_calls_ >= 150
    assert [turn.seconds for turn in told] == sorted(turn.seconds for turn in told)
    assert model.score(*flowers) > 0.8


def test_the_same_seed_gives_the_same_weights(flowers: tuple[Any, Any]) -> None:
    one, other = (StructuralSVM(Multiclass(), C=5, random_state=3).fit(*flowers) for _ in range(2))
    np.testing.assert_array_equal(one.coef_, other.coef_)


def test_it_is_cloned_pickled_and_searched_over(flowers: tuple[Any, Any]) -> None:
    model = StructuralSVM(Multiclass(), C=5, random_state=0).fit(*flowers)
    copy = pickle.loads(pickle.dumps(model))
    assert copy.predict(flowers[0]) == model.predict(flowers[0])
    fresh = clone(model)
    assert fresh.get_params()["C"] == 5
    assert not hasattr(fresh, "coef_")
    folds = KFold(3, shuffle=True, random_state=0)
    search = GridSearchCV(StructuralSVM(Multiclass(), random_state=0), {"C": [0.001, 20.0]}, cv=folds).fit(*flowers)
    assert search.best_params_ == {"C": 20.0}


def test_fit_changes_nothing_that_was_given(flowers: tuple[Any, Any]) -> None:
    task = Multiclass()
    model = StructuralSVM(task, C=5, random_state=0).fit(*flowers)
    assert model.task is task
    assert task.classes is None
    assert model.task_.classes == (0, 1, 2)  # type: ignore[attr-defined]


def test_it_warns_where_turns_run_out(flowers: tuple[Any, Any]) -> None:
    with pytest.warns(ConvergenceWarning, match=r"stopped at a gap of .* of the objective, tol is 1e-06"):
        StructuralSVM(Multiclass(), solver=BlockDescent(max_passes=1), C=100, tol=1e-6, random_state=0).fit(*flowers)


def test_a_task_of_ones_own_needs_no_more_than_four_methods(flowers: tuple[Any, Any]) -> None:
    X, y = flowers
    own = StructuralSVM(Classes(3), C=5, tol=1e-3, random_state=0).fit(list(X), y.tolist())
    ours = StructuralSVM(Multiclass(), C=5, tol=1e-3, random_state=0).fit(X, y)
    assert own.primal_ == pytest.approx(ours.primal_, rel=2e-3)


def test_what_is_no_task_or_contradicts_itself_is_named(flowers: tuple[Any, Any]) -> None:
    X, y = list(flowers[0]), flowers[1].tolist()
    with pytest.raises(InputError, match=r"task must be an object with joint_feature, .* got 'chain'"):
        StructuralSVM("chain").fit(X, y)  # type: ignore[arg-type]
    with pytest.raises(OracleError, match=r"Spiteful\.loss_augmented_argmax gave a worse output than the truth"):
        StructuralSVM(Spiteful(3), C=100, random_state=0).fit(X, y)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"solver": "simplex"}, UnknownName, "No solver called 'simplex'. Known: block-descent, frank-wolfe"),
        ({"rescaling": "both"}, UnknownName, "No rescaling called 'both'. Known: margin, slack"),
        ({"C": 0}, InputError, "C must be above 0, got 0"),
        ({"tol": np.inf}, InputError, "tol must be above 0, got inf"),
    ],
)
def test_settings_are_checked(
    settings: dict[str, Any], error: type[Exception], message: str, flowers: tuple[Any, Any]
) -> None:
    with pytest.raises(error, match=message):
        StructuralSVM(Multiclass(), **settings).fit(*flowers)


def test_predicting_before_fitting_says_so(flowers: tuple[Any, Any]) -> None:
    with pytest.raises(NotFittedError):
        StructuralSVM(Multiclass()).predict(flowers[0])


@pytest.mark.parametrize(
    "settings", [{"C": "1"}, {"C": None}, {"tol": None}, {"solver": None}, {"solver": BlockDescent}]
)
def test_settings_of_another_kind_are_named(settings: dict[str, Any], flowers: tuple[Any, Any]) -> None:
    with pytest.raises(InputError, match=f"{next(iter(settings))} must be"):
        StructuralSVM(Multiclass(), **settings).fit(*flowers)


def test_a_class_is_no_task(flowers: tuple[Any, Any]) -> None:
    with pytest.raises(InputError, match="task must be an object"):
        StructuralSVM(Multiclass).fit(*flowers)  # type: ignore[arg-type]
