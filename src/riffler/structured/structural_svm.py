"""A structural SVM for any task: joint features, a loss, and the output that violates the margin most."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from riffler.errors import InputError
from riffler.records import FloatArray
from riffler.structured.convergence import Turn, end_line, teller
from riffler.structured.one_by_one import OneByOne
from riffler.structured.problem import Problem
from riffler.structured.settings import keep_turns, need_numbers_above_zero, need_rescaling
from riffler.structured.solvers import Solver, solver_from_name
from riffler.structured.task import BatchedTask, FittedTask, ScaledTask, Task

Inputs = Any
"""A list of what the task takes; a matrix with a row an example, where the task takes rows."""


class StructuralSVM(BaseEstimator):
    """Learn weights so that the true output of each example scores higher than all others, by a margin of their loss.

    Minimises ``|w|^2 / 2 + C * mean over examples of max over outputs of (loss - w . (phi(x, y) - phi(x, output)))``.

    Parameters
    ----------
    task : Task
        What inputs and outputs are: ``joint_feature``, ``loss``, ``argmax`` and ``loss_augmented_argmax``.
    solver : {"block-descent", "frank-wolfe", "one-slack", "n-slack", "subgradient"} or a solver object
    C : float
        Weight of the mean loss beside the penalty. It multiplies a mean, so it keeps its meaning with more examples.
    tol : float
        Stop when the gap between the objective and a proven lower bound is at most this share of the objective.
    rescaling : {"margin", "slack"}
        Whether the loss is the margin to keep, or what a violation of a margin of 1 is multiplied by.
    random_state : int, RandomState or None
        The order of the examples.
    progress : callable, "line" or None
        Called with a :class:`Turn` after each turn of the solver: objective, bound, oracle calls, seconds. "line" shows
        them as one line that changes, ``print`` as one after the other.

    Attributes
    ----------
    coef_ : array of shape (n_weights,)
    task_ : Task
        The task, knowing the labels and columns of the data.
    turns_ : tuple of Turn
        How objective and bound went; :func:`riffler.evaluation.convergence_chart.convergence_chart` draws them.
    gap_, primal_, dual_ : float
        Of the last turn.
    n_oracle_calls_ : int

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from riffler import Multiclass, StructuralSVM
    >>> X, y = load_iris(return_X_y=True)
    >>> X = np.column_stack([X - X.mean(axis=0), np.ones(len(X))])  # the ones give each class a threshold
    >>> model = StructuralSVM(Multiclass(), C=100, random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.95
    True
    """

    def __init__(
        self,
        task: Task,
        *,
        solver: str | Solver = "block-descent",
        C: float = 1.0,
        tol: float = 0.01,
        rescaling: str = "margin",
        random_state: Any = None,  # noqa: ANN401 - int, RandomState or None
        progress: Callable[[Turn], None] | str | None = None,
    ) -> None:
        self.task = task
        self.solver = solver
        self.C = C
        self.tol = tol
        self.rescaling = rescaling
        self.random_state = random_state
        self.progress = progress

    def fit(self, X: Inputs, Y: Inputs) -> Self:
        """Learn from inputs and their true outputs, one of each an example."""
        self._check_settings()
        need_examples(X, Y)
        self.task_ = self.task.for_data(X, Y) if isinstance(self.task, FittedTask) else self.task
        problem = problem_of(self.task_, X, Y, self.rescaling)
        solver = solver_from_name(self.solver) if isinstance(self.solver, str) else self.solver
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        found = solver.solve(problem, float(self.C), tol=self.tol, rng=rng, tell=teller(self.progress))
        end_line(self.progress)
        self.coef_: FloatArray = found.weights
        keep_turns(self, found, 'a solver with more turns, or (for a large C) solver="one-slack"')
        self._warn_of_nothing()
        return self

    def predict(self, X: Inputs) -> list[Any]:
        """Give the best output of every input."""
        check_is_fitted(self)
        if isinstance(self.task_, BatchedTask):
            return self.task_.argmax_of_all(X, self.coef_)
        return [self.task_.argmax(x, self.coef_) for x in X]

    def score(self, X: Inputs, Y: Inputs) -> float:
        """Give 1 - the loss of the predictions, as a share of the largest loss where the task tells it."""
        need_examples(X, Y)
        losses = [self.task_.loss(y, other) for y, other in zip(Y, self.predict(X), strict=True)]
        largest = [self.task_.largest_loss(y) for y in Y] if isinstance(self.task_, ScaledTask) else [1.0] * len(Y)
        return 1.0 - float(np.sum(losses)) / max(float(np.sum(largest)), 1e-300)

    def _check_settings(self) -> None:
        if isinstance(self.task, type) or not isinstance(self.task, Task):
            raise InputError(
                "task must be an object with joint_feature, loss, argmax and loss_augmented_argmax, got "
                f"{self.task!r}. See riffler.structured.task.Task."
            )
        if not isinstance(self.solver, str) and (isinstance(self.solver, type) or not hasattr(self.solver, "solve")):
            raise InputError(f"solver must be a name or an object with solve, got {self.solver!r}.")
        need_numbers_above_zero(self, "C", "tol")
        need_rescaling(self.rescaling)

    def _warn_of_nothing(self) -> None:
        if self.primal_ == 0:
            warnings.warn(
                "Nothing was learned: at weights of 0 no output costs more than the truth. There may be one label; "
                "in a task of your own, see that wrong outputs cost more than 0, and that loss_augmented_argmax adds "
                "the loss.",
                UserWarning,
                stacklevel=3,
            )


def problem_of(task: Task, X: Inputs, Y: Inputs, rescaling: str) -> Problem:
    """Give the task's own batched problem, or ask it example by example."""
    if isinstance(task, BatchedTask):
        return task.problem(X, Y, rescaling)
    return OneByOne(task, X, Y, rescaling)


def need_examples(X: Inputs, Y: Inputs) -> None:
    """Raise unless there is an output for each input, and at least one."""
    n_inputs, n_outputs = (one.shape[0] if hasattr(one, "shape") else len(one) for one in (X, Y))
    if n_inputs != n_outputs:
        raise InputError(f"X has {n_inputs} inputs, Y has {n_outputs} outputs. Pass one output for each input.")
    if n_inputs == 0:
        raise InputError("There are no examples. Pass at least one input and its output.")
