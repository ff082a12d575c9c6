"""A structural SVM from a joint kernel finds what a generic solver finds, and what weights find where there are any."""

# ruff: noqa: ANN401 - inputs and outputs are the task's own business
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from pandas import DataFrame  # type: ignore[import-untyped]
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import pairwise_kernels

from riffler.errors import InputError, LabelError, OracleError, UnknownName
from riffler.records import FloatArray
from riffler.structured.kernel_svm import KernelStructuralSVM
from riffler.structured.kernel_task import KernelTask, MulticlassKernel
from riffler.structured.n_slack import NSlack
from riffler.structured.one_by_one import OneByOne
from tests.naive.cut_dual import best_shares
from tests.structured.tasks import Enumerated, Tags, class_examples, tag_examples


@dataclass(frozen=True)
class ByFeatures:
    """A kernel task of three methods: inner products of the features of another task."""

    task: Enumerated = field(default_factory=lambda: Tags(3))

    def joint_kernel(self, x: Any, y: Any, x2: Any, y2: Any) -> float:
        return float(self.task.joint_feature(x, y) @ self.task.joint_feature(x2, y2))

    def loss(self, y: Any, other: Any) -> float:
        return self.task.loss(y, other)

    def candidates(self, x: Any) -> Sequence[Any]:
        return self.task.outputs(x)


def generic_solution(task: MulticlassKernel, X: FloatArray, y: list[int], C: float) -> tuple[float, Any]:
    """The optimum of the dual with all cuts there are, and its scores of the classes of a row."""
    cuts = [(i, other) for i in range(len(y)) for other in task.candidates(X[i]) if other != y[i]]

    def score(x: FloatArray, label: int, i: int, other: int) -> float:
        return task.joint_kernel(x, label, X[i], y[i]) - task.joint_kernel(x, label, X[i], other)

    gram = np.array([[score(X[i], y[i], *cut) - score(X[i], other, *cut) for cut in cuts] for i, other in cuts])
    offsets, owners = np.ones(len(cuts)), np.array([i for i, _ in cuts])
    shares = best_shares(gram, offsets, owners, C / len(y))

    def scores(x: FloatArray) -> list[float]:
        kernels = [[score(x, label, *cut) for cut in cuts] for label in task.candidates(x)]
        return [float(score) for score in np.array(kernels) @ shares]

    return float(shares.sum() - shares @ gram @ shares / 2), scores


@pytest.mark.parametrize("C", [0.5, 20.0])
def test_multiclass_rbf_is_that_of_a_generic_solver(C: float) -> None:
    X, y = class_examples(n=10, n_columns=2)
    task = MulticlassKernel("rbf", gamma=0.7).for_data(X, y)
    best, scores = generic_solution(task, X, y, C)
    model = KernelStructuralSVM(task, C=C, tol=1e-7, random_state=0).fit(X, y)
    assert model.dual_ == pytest.approx(best, rel=1e-6)
    assert model.primal_ == pytest.approx(best, rel=1e-6)
    new = class_examples(n=5, n_columns=2, seed=1)[0]
    found, expected = np.array(model.decision_function(new)), np.array([scores(x) for x in new])
    np.testing.assert_allclose(found, expected, atol=2e-3 * C**0.5)
    assert model.predict(new) == [int(np.argmax(scores(x))) for x in new]


@pytest.mark.parametrize("rescaling", ["margin", "slack"])
def test_a_kernel_of_features_gives_the_solution_by_weights(rescaling: str) -> None:
    X, Y = tag_examples(n=4)
    problem = OneByOne(Tags(3), X, Y, rescaling)
    by_weights = NSlack().solve(problem, 5.0, tol=1e-4, rng=np.random.default_rng(0))
    model = KernelStructuralSVM(ByFeatures(), C=5.0, tol=1e-4, rescaling=rescaling, random_state=0).fit(X, Y)
    assert model.primal_ == pytest.approx(by_weights.turns[-1].primal, rel=2e-4)
    scores = model.decision_function(X[:1])[0]
    expected = [by_weights.weights @ Tags(3).joint_feature(X[0], output) for output in Tags(3).outputs(X[0])]
    np.testing.assert_allclose(scores, expected, atol=0.05)
    assert model.score(X, Y) > 0


def test_a_table_of_kernels_says_what_single_kernels_say() -> None:
    X, y = class_examples(n=6)
    task = MulticlassKernel("rbf").for_data(X, y)
    single = [[task.joint_kernel(X[i], y[i], X[j], y[j]) for j in range(6)] for i in range(6)]
    np.testing.assert_allclose(task.kernel_matrix(X, y, X, y), np.array(single))
    others = [(label + 1) % 3 for label in y]
    signs = ((y, y, 1), (y, others, -1), (others, y, -1), (others, others, 1))
    slow = np.sum([sign * task.kernel_matrix(X, left, X, right) for left, right, sign in signs], axis=0)
    np.testing.assert_allclose(task.difference_matrix((X, y, others), (X, y, others)), slow)


def test_sparse_rows_are_scored_as_dense_ones() -> None:
    X, y = class_examples(n=30)
    dense = KernelStructuralSVM(MulticlassKernel("rbf"), C=10, tol=1e-5, random_state=0).fit(X, y)
    rows = sparse.csr_matrix(X)
    thin = KernelStructuralSVM(MulticlassKernel("rbf"), C=10, tol=1e-5, random_state=0).fit(rows, y)
    assert thin.primal_ == pytest.approx(dense.primal_, rel=2e-5)
    assert thin.predict(rows) == dense.predict(X)


def test_bounds_never_fall_and_every_round_asks_every_example_once() -> None:
    X, y = class_examples(n=60)
    model = KernelStructuralSVM(MulticlassKernel("rbf"), C=50, tol=1e-4, random_state=0).fit(X, y)
    duals = [turn.dual for turn in model.turns_]
    assert np.diff(duals).min() >= 0
    assert [turn.oracle_calls for turn in model.turns_] == [60 * n for n in range(1, len(duals) + 1)]


def test_rounds_that_run_out_are_said() -> None:
    X, y = class_examples(n=30)
    with pytest.warns(ConvergenceWarning, match="stopped at a gap of"):
        KernelStructuralSVM(MulticlassKernel("rbf"), C=50, tol=1e-6, max_rounds=2).fit(X, y)


def test_a_truth_that_is_no_candidate_is_named() -> None:
    X, y = class_examples(n=6)
    with pytest.raises(InputError, match="true output of example 0 is not among its 2 candidates"):
        KernelStructuralSVM(MulticlassKernel(gamma=1.0, classes=("a", "b"))).fit(X, y)


def test_a_loss_below_zero_is_named() -> None:
    class Negative(ByFeatures):
        def loss(self, y: Any, other: Any) -> float:
            return -super().loss(y, other)

    with pytest.raises(OracleError, match=r"Negative.loss gave -\d\.0 for example 0"):
        KernelStructuralSVM(Negative()).fit(*tag_examples(n=3))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"C": 0}, "C must be above 0, got 0"),
        ({"C": "1"}, "C must be above 0, got '1'"),
        ({"tol": -1}, "tol must be above 0, got -1"),
        ({"tol": None}, "tol must be above 0, got None"),
        ({"max_rounds": 0}, "max_rounds must be an integer of 1 or more, got 0"),
        ({"max_rounds": 2.5}, r"max_rounds must be an integer of 1 or more, got 2\.5"),
    ],
)
def test_settings_that_cannot_be_used_are_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        KernelStructuralSVM(MulticlassKernel(), **settings).fit(*class_examples(n=6))


def test_input_that_does_not_fit_is_named() -> None:
    X, y = class_examples(n=6)
    with pytest.raises(InputError, match="X has 6 inputs, Y has 5 outputs"):
        KernelStructuralSVM(MulticlassKernel()).fit(X, y[:5])
    with pytest.raises(InputError, match="There are no examples"):
        KernelStructuralSVM(MulticlassKernel()).fit([], [])
    with pytest.raises(UnknownName, match="No rescaling called 'both'"):
        KernelStructuralSVM(MulticlassKernel(), rescaling="both").fit(X, y)
    with pytest.raises(InputError, match="task must have joint_kernel, loss and candidates; Tags has not"):
        KernelStructuralSVM(Tags(3)).fit(X, y)  # type: ignore[arg-type]
    with pytest.raises(LabelError, match="There is no class 7 among those known: 0, 1, 2"):
        MulticlassKernel(gamma=1.0, classes=(0, 1, 2)).kernel_matrix(X, [7] * 6, X, y)
    with pytest.raises(InputError, match="does not know its classes yet"):
        MulticlassKernel().candidates(X[0])


def test_all_rows_equal_still_end() -> None:
    task: KernelTask = MulticlassKernel("rbf")
    model = KernelStructuralSVM(task, C=10).fit(np.ones((6, 2)), [0, 1, 0, 1, 0, 1])
    assert model.gap_ <= 0.01 * model.primal_
    assert model.primal_ == pytest.approx(10.0)  # nothing can be told apart


@pytest.mark.parametrize("kernel", ["cosine", "linear", "poly", "laplacian", "chi2"])
def test_kernels_with_and_without_a_gamma(kernel: str) -> None:
    X, y = class_examples(n=20)
    X = X - X.min()  # chi2 takes nothing below 0
    model = KernelStructuralSVM(MulticlassKernel(kernel), C=10, random_state=0).fit(X, y)
    assert model.gap_ <= 0.01 * model.primal_
    task = MulticlassKernel(kernel).for_data(X, y)
    slow = pairwise_kernels(X, X, metric=kernel, filter_params=True, gamma=task.gamma)
    np.testing.assert_allclose(task.kernel_matrix(X, [0] * 20, X, [0] * 20), slow)


def test_a_kernel_that_is_no_inner_product_is_told() -> None:
    X, y = class_examples(n=20)
    with pytest.raises(OracleError, match="MulticlassKernel gives numbers that are no inner products"):
        KernelStructuralSVM(MulticlassKernel("additive_chi2"), C=10).fit(X - X.min(), y)

    class Negative(ByFeatures):
        def joint_kernel(self, x: Any, y: Any, x2: Any, y2: Any) -> float:
            return -super().joint_kernel(x, y, x2, y2)

    with pytest.raises(OracleError, match="Negative gives numbers that are no inner products"):
        KernelStructuralSVM(Negative()).fit(*tag_examples(n=3))


@pytest.mark.parametrize("form", [sparse.coo_matrix, sparse.csc_array, DataFrame, np.ndarray.tolist])
def test_tables_of_every_kind_are_learned_from_alike(form: Any) -> None:
    X, y = class_examples(n=30)
    plain, other = (
        KernelStructuralSVM(MulticlassKernel(), C=10, tol=1e-4, random_state=0).fit(table, y) for table in (X, form(X))
    )
    assert other.primal_ == pytest.approx(plain.primal_, rel=2e-4)
    assert other.predict(form(X)) == plain.predict(X)
    assert len(other.decision_function(form(X))) == 30
    assert other.score(form(X), y) == plain.score(X, y)


def test_classes_of_different_kinds_keep_their_kinds() -> None:
    X, y = class_examples(n=30)
    names = [("a", 1, 2.5)[code] for code in y]
    model = KernelStructuralSVM(MulticlassKernel(), C=100, random_state=0).fit(X, names)
    assert set(model.predict(X)) == {"a", 1, 2.5}
    assert model.score(X, names) > 0.8


@pytest.mark.parametrize("nothing", [[], np.empty((0, 4)), sparse.csr_matrix((0, 4))])
def test_no_inputs_have_no_outputs(nothing: Any) -> None:
    model = KernelStructuralSVM(MulticlassKernel(), random_state=0).fit(*class_examples(n=10))
    assert model.predict(nothing) == []
    assert model.decision_function(nothing) == []
    with pytest.raises(InputError, match="There are no examples"):
        model.score(nothing, [])


def test_rows_that_the_kernel_cannot_compare_are_told() -> None:
    X, y = class_examples(n=10)
    with pytest.raises(InputError, match=r"X must be rows of finite numbers.*NaN"):
        KernelStructuralSVM(MulticlassKernel()).fit(np.where(X[0, 0] == X, np.nan, X), y)
    model = KernelStructuralSVM(MulticlassKernel(), random_state=0).fit(X, y)
    with pytest.raises(InputError, match=r"The kernel 'rbf' cannot compare these rows\..*NaN"):
        model.predict(np.full((1, 4), np.nan))
    with pytest.raises(InputError, match=r"The kernel 'rbf' cannot compare these rows\..*Incompatible dimension"):
        model.predict(X[:, :3])
    with pytest.raises(UnknownName, match=r"No kernel called 'rbg'\. Known: .*rbf"):
        KernelStructuralSVM(MulticlassKernel("rbg")).fit(X, y)
