"""L2 logistic regression with a posterior: the weights, how sure they are, and a penalty learned from the labels alone.

The penalty of each group of columns is the precision of a normal prior on its weights, set by maximising the evidence
(MacKay's fixed point): no labels are held out, so it works from the first few on. Columns that do not help are
switched off as a group.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve, cholesky, solve_triangular

from riffler.records import FloatArray, IntArray

INTERCEPT_PRECISION = 1e-4  # all but free
LEAST_PRECISION, MOST_PRECISION = 1e-3, 1e3
EVIDENCE_ROUNDS = 3  # a round after each refit is enough: refits are many, and start where the last one ended


@dataclass(frozen=True, slots=True, eq=False)
class Posterior:
    """Weights of the columns and, last, the intercept: mean, and the inverse Cholesky factor of their precision.

    ``spread`` is an upper triangular matrix R with covariance R R'.
    """

    mean: FloatArray  # (D + 1,)
    spread: FloatArray  # (D + 1, D + 1)
    precisions: FloatArray  # one a group

    def scores(self, Z: FloatArray) -> FloatArray:
        """Mean logit of each row."""
        scores: FloatArray = Z @ self.mean[:-1] + self.mean[-1]
        return scores

    def variances(self, Z: FloatArray) -> FloatArray:
        """Variance of the logit of each row."""
        spread = self.spread.astype(Z.dtype)  # float32 rows stay float32: this is the costly product
        reach = Z @ spread[:-1] + spread[-1]
        variances: FloatArray = np.einsum("ij,ij->i", reach, reach).astype(np.float64)
        return variances

    def moderated(self, Z: FloatArray) -> FloatArray:
        """Logit of the chance of each row to be relevant, averaged over the weights (MacKay's approximation).

        ``mean / sqrt(1 + pi / 8 * variance)``: a row that looks relevant only because nothing like it was ever asked
        ranks behind one that is known to be.
        """
        moderated: FloatArray = self.scores(Z) / np.sqrt(1.0 + np.pi / 8.0 * self.variances(Z))
        return moderated

    def draws(self, Z: FloatArray, n_draws: int, rng: np.random.Generator) -> FloatArray:
        """Logits of each row under ``n_draws`` draws of the weights, shape (n_rows, n_draws)."""
        weights = self.mean[:, None] + self.spread @ rng.standard_normal((len(self.mean), n_draws))
        logits: FloatArray = Z @ weights[:-1] + weights[-1]
        return logits


class LaplaceLogistic:
    """Fits and refits the posterior of a logistic regression on growing data, each time from where it was.

    Parameters
    ----------
    groups : array of ints, shape (D,)
        Group of each column, from 0; each has a precision of its own.
    """

    def __init__(self, groups: IntArray) -> None:
        self._groups = groups
        self._sizes = np.bincount(groups)
        self._precisions: FloatArray = np.ones(len(self._sizes))
        self._weights: FloatArray = np.zeros(len(groups) + 1)

    def fit(self, Z: FloatArray, labels: IntArray, weight: FloatArray | None = None) -> Posterior:
        """Return the posterior given rows (n, D), labels 0/1 and how much each row counts (None: once)."""
        rows = np.column_stack([Z, np.ones(len(Z), dtype=Z.dtype)])
        weight = np.ones(len(Z)) if weight is None else weight
        for _ in range(EVIDENCE_ROUNDS):
            self._weights, factor = _newton(rows, labels, weight, self._penalty(), self._weights)
            spread = solve_triangular(factor, np.eye(len(factor)))  # the covariance is spread @ spread.T
            self._update_precisions(np.einsum("ij,ij->i", spread, spread))
        return Posterior(self._weights.copy(), spread, self._precisions.copy())

    def _penalty(self) -> FloatArray:
        return np.append(self._precisions[self._groups], INTERCEPT_PRECISION)

    def _update_precisions(self, variances: FloatArray) -> None:
        taken = np.bincount(self._groups, weights=variances[:-1])
        squares = np.bincount(self._groups, weights=self._weights[:-1] ** 2)
        # a weak gamma prior, worth one weight of size 1, keeps a group from running away on a handful of labels
        well_determined = self._sizes - self._precisions * taken
        found = (np.maximum(well_determined, 0.0) + 1.0) / (squares + 1.0)
        self._precisions = np.clip(found, LEAST_PRECISION, MOST_PRECISION)


def _newton(
    rows: FloatArray, labels: IntArray, weight: FloatArray, penalty: FloatArray, start: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Minimise the penalised logistic loss; return the weights and the upper Cholesky factor of the Hessian."""
    weights = start
    loss = _loss(rows, labels, weight, penalty, weights)
    for _ in range(50):
        slope, hessian = _derivatives(rows, labels, weight, penalty, weights)
        step = cho_solve(cho_factor(hessian), slope)
        gain = float(slope @ step)
        if gain < 1e-6 * max(1.0, loss):
            break
        length = 1.0
        while True:
            trial = weights - length * step
            trial_loss = _loss(rows, labels, weight, penalty, trial)
            if trial_loss <= loss - 1e-4 * length * gain or length < 1e-4:
                break
            length /= 2
        weights, loss = trial, trial_loss
    _, hessian = _derivatives(rows, labels, weight, penalty, weights)
    return weights, cholesky(hessian)


def _loss(rows: FloatArray, labels: IntArray, weight: FloatArray, penalty: FloatArray, weights: FloatArray) -> float:
    logits = rows @ weights
    return float(weight @ (np.logaddexp(0.0, logits) - labels * logits) + 0.5 * (penalty @ weights**2))


def _derivatives(
    rows: FloatArray, labels: IntArray, weight: FloatArray, penalty: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    chance = probability_of(rows @ weights)
    slope = rows.T @ (weight * (chance - labels)) + penalty * weights
    curved = rows * np.sqrt(weight * chance * (1.0 - chance))[:, None]
    hessian = curved.T @ curved
    hessian[np.diag_indices_from(hessian)] += penalty
    return slope, hessian


def probability_of(logits: FloatArray) -> FloatArray:
    """Logistic function, safe for any logit."""
    chance: FloatArray = 0.5 * (1.0 + np.tanh(0.5 * logits))
    return chance
