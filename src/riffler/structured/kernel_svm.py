"""A structural SVM from a joint kernel: no feature vectors, and outputs that can be tried one by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from riffler.errors import InputError
from riffler.records import FloatArray, IntArray
from riffler.structured.convergence import Turn, teller
from riffler.structured.kernel_cuts import KernelCuts, KernelExamples, first_highest
from riffler.structured.kernel_task import FittedKernelTask, Inputs, KernelTask, as_inputs, candidate_scores
from riffler.structured.n_slack import generate_cuts
from riffler.structured.settings import keep_turns, need_counts_above_zero, need_numbers_above_zero, need_rescaling
from riffler.structured.structural_svm import need_examples


class KernelStructuralSVM(BaseEstimator):
    """Learn to score the true output of each example above all others, by a margin of their loss, with a joint kernel.

    Minimises ``|w|^2 / 2 + C * mean over examples of max over outputs of (loss - w . (phi(x, y) - phi(x, output)))`` by
    the n-slack cutting plane; phi is known by inner products only. Memory grows with the square of the number of cuts
    that matter, not with that of the examples.

    Parameters
    ----------
    task : KernelTask
        An object with ``joint_kernel``, ``loss`` and ``candidates``, such as :class:`MulticlassKernel`.
    C : float
        Weight of the mean loss beside the penalty.
    tol : float
        Stop when the gap between the objective and a proven lower bound is at most this share of the objective.
    rescaling : {"margin", "slack"}
    max_rounds : int
        Times that all examples are asked at most; a ConvergenceWarning tells when they run out.
    random_state : int, RandomState or None
        The order of the examples.
    progress : callable, "line" or None
        Called with a :class:`Turn` after each round.

    Attributes
    ----------
    support_X_, support_outputs_, dual_coef_ : inputs, outputs and coefs of the points whose kernels make up a score
    task_, turns_, gap_, primal_, dual_, n_oracle_calls_ : as of :class:`StructuralSVM`

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> from riffler.structured.kernel_task import MulticlassKernel
    >>> model = KernelStructuralSVM(MulticlassKernel("rbf"), C=100, random_state=0).fit(X, y)
    >>> bool((model.predict(X) == y).mean() > 0.95)
    True
    """

    def __init__(
        self,
        task: KernelTask,
        *,
        C: float = 1.0,
        tol: float = 0.01,
        rescaling: str = "margin",
        max_rounds: int = 1000,
        random_state: Any = None,  # noqa: ANN401 - int, RandomState or None
        progress: Callable[[Turn], None] | str | None = None,
    ) -> None:
        self.task = task
        self.C = C
        self.tol = tol
        self.rescaling = rescaling
        self.max_rounds = max_rounds
        self.random_state = random_state
        self.progress = progress

    def fit(self, X: Inputs, Y: Sequence[Any]) -> Self:
        """Learn from inputs and their true outputs, one of each an example."""
        self._check_settings()
        need_examples(X, Y)
        X = as_inputs(X)
        self.task_ = self.task.for_data(X, Y) if isinstance(self.task, FittedKernelTask) else self.task
        examples = KernelExamples(self.task_, X, Y)
        cuts = KernelCuts(examples, self.rescaling)
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        found = generate_cuts(cuts, float(self.C), self.max_rounds, tol=self.tol, rng=rng, tell=teller(self.progress))
        self._keep_points(examples, cuts, found.weights)
        keep_turns(self, found, "more rounds")
        return self

    def decision_function(self, X: Inputs) -> list[FloatArray]:
        """Give the scores of all candidates of every input."""
        check_is_fitted(self)
        X, candidates = self._with_candidates(X)
        if not candidates:
            return []
        return np.split(self._scores(X, candidates), np.cumsum([len(some) for some in candidates])[:-1])

    def predict(self, X: Inputs) -> list[Any]:
        """Give the best output of every input."""
        check_is_fitted(self)
        X, candidates = self._with_candidates(X)
        if not candidates:
            return []
        starts = np.cumsum([0, *map(len, candidates)])
        best = first_highest(self._scores(X, candidates), starts)
        return [some[place] for some, place in zip(candidates, best, strict=True)]

    def score(self, X: Inputs, Y: Sequence[Any]) -> float:
        """Give 1 - the mean loss of the predictions."""
        need_examples(X, Y)
        losses = [self.task_.loss(y, other) for y, other in zip(Y, self.predict(X), strict=True)]
        return 1.0 - float(np.mean(losses))

    def _with_candidates(self, X: Inputs) -> tuple[Inputs, list[list[Any]]]:
        inputs = as_inputs(X)
        return inputs, [list(self.task_.candidates(x)) for x in inputs]

    def _scores(self, X: Inputs, candidates: list[list[Any]]) -> FloatArray:
        points = self.support_X_, self.support_outputs_
        return candidate_scores(self.task_, X, candidates, points, self.dual_coef_)

    def _check_settings(self) -> None:
        if not isinstance(self.task, KernelTask):
            raise InputError(f"task must have joint_kernel, loss and candidates; {type(self.task).__name__} has not.")
        need_numbers_above_zero(self, "C", "tol")
        need_counts_above_zero(self, "max_rounds")
        need_rescaling(self.rescaling)

    def _keep_points(self, examples: KernelExamples, cuts: KernelCuts, shares: FloatArray) -> None:
        """Sum what the cuts give each point: the truth of an example, or another of its candidates."""
        used = np.flatnonzero(shares)
        owners, places = cuts.owners[used], cuts.places[used]
        coefs = shares[used] * cuts.factors(owners, places)
        owners, places = np.tile(owners, 2), np.concatenate([examples.truths[owners], places])
        numbers, of = np.unique(examples.starts[owners] + places, return_inverse=True)
        totals: FloatArray = np.zeros(len(numbers))
        np.add.at(totals, of, np.concatenate([coefs, -coefs]))
        first: IntArray = np.unique(of, return_index=True)[1]
        self.support_X_, self.support_outputs_ = examples.points(owners[first], places[first])
        self.dual_coef_ = totals
