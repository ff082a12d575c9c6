"""Thompson sampling on the weights of a logistic regression: every item is an arm, told by its features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from riffler.errors import InputError
from riffler.ledger import RELEVANT, UNKNOWN
from riffler.records import FloatArray, IntArray, Matrix, is_sparse
from riffler.search.chances import logistic
from riffler.search.view import SearchView


@dataclass(frozen=True, slots=True)
class WeightThompson:
    """The best item under weights drawn from their posterior, drawn anew for each item or for a few.

    The posterior is Laplace's with a diagonal covariance: normal around the fitted weights, with precision
    1 / C + Σ_i p_i (1 − p_i) x_ij² for column j, over labelled rows and some presumed irrelevant. Columns that no
    labelled row has are as wide open as before any label, so among many columns this explores for very long (the weak
    baseline of Renders 2017). Each draw costs one pass over the collection. While nothing relevant is known the best
    scores win.

    Parameters
    ----------
    C : float
        Variance of a weight before any label.
    items_per_draw : int
        Items chosen by the same weights.
    presumed : int
        Unreviewed items, drawn at random, that are taken for irrelevant.

    >>> from riffler.engine import LocalEngine
    >>> from riffler.search.ranking import Scores
    >>> view = SearchView(
    ...     LocalEngine([np.array([[9.0, 0.0], [0.0, 9.0], [8.0, 0.0], [0.0, 8.0]])]), ranking=Scores(np.zeros(4)),
    ...     reviewed=np.arange(4) < 2, items=np.array([0, 1]), answers=np.array([1, 0]), rounds=np.array([0, 0]),
    ...     round=1, rng=np.random.default_rng(0),
    ... )
    >>> WeightThompson(presumed=0).propose(view, 5).tolist()
    [2, 3]
    """

    C: float = 1.0
    items_per_draw: int = 1
    presumed: int = 100

    def __post_init__(self) -> None:
        if not self.C > 0:
            raise InputError(f"C must be above 0, got {self.C!r}.")
        if self.items_per_draw < 1:
            raise InputError(f"items_per_draw must be at least 1, got {self.items_per_draw!r}.")
        if self.presumed < 0:
            raise InputError(f"presumed must be at least 0, got {self.presumed!r}.")

    def propose(self, view: SearchView, n: int) -> IntArray:
        """Return at most n items, in the order of their draws."""
        if view.relevant.size == 0:
            return view.best(n)
        mean, spread = self.posterior(view)
        taken = view.reviewed.copy()
        chosen = np.empty(0, dtype=np.int64)
        n = min(n, int((~taken).sum()))
        while chosen.size < n:
            weights = mean + spread * view.rng.standard_normal(mean.size)
            wanted = min(self.items_per_draw, n - chosen.size)
            best = view.engine.best(weights[:-1], wanted, taken, float(weights[-1]), view.ties).rows
            taken[best] = True
            chosen = np.concatenate([chosen, best])
        return chosen

    def posterior(self, view: SearchView) -> tuple[FloatArray, FloatArray]:
        """Return mean and standard deviation of the weights of all columns and, last, of the intercept."""
        known, presumed = view.answers != UNKNOWN, self._presumed(view)
        rows = view.engine.rows(np.concatenate([view.items[known], presumed]))
        signs = np.where(view.answers[known] == RELEVANT, 1.0, -1.0)
        mean = fit_logistic(rows, np.concatenate([signs, -np.ones(presumed.size)]), self.C)
        return mean, 1.0 / np.sqrt(1.0 / self.C + information(rows, mean))

    def _presumed(self, view: SearchView) -> IntArray:
        """Draw from the unreviewed, sorted so that the order of the collection makes no difference."""
        free = np.flatnonzero(~view.reviewed)
        if view.ties is not None:
            free = free[np.argsort(view.ties[free])]
        return view.rng.choice(free, min(self.presumed, free.size), replace=False)


def fit_logistic(rows: Matrix, signs: FloatArray, C: float) -> FloatArray:
    """Weights and, last, the intercept of the smallest Σ_i log(1 + exp(−sign_i · score_i)) + ‖w‖² / (2 C)."""
    from scipy.optimize import minimize

    def value_and_slope(w: FloatArray) -> tuple[float, FloatArray]:
        margins = signs * (rows @ w[:-1] + w[-1])
        pull = -signs * logistic(-margins)
        slope = np.append(rows.T @ pull, pull.sum()) + w / C
        return float(np.logaddexp(0.0, -margins).sum() + w @ w / (2 * C)), slope

    start = np.zeros(rows.shape[1] + 1)
    weights: FloatArray = minimize(value_and_slope, start, jac=True, method="L-BFGS-B", options={"maxiter": 100}).x
    return weights


def information(rows: Matrix, weights: FloatArray) -> FloatArray:
    """Σ_i p_i (1 − p_i) x_ij² over some rows, for each column and, last, for the intercept."""
    chance = logistic(rows @ weights[:-1] + weights[-1])
    doubt = chance * (1.0 - chance)
    squares = rows.multiply(rows) if is_sparse(rows) else rows**2
    return np.append(squares.T @ doubt, doubt.sum())
