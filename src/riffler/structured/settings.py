"""What all structural SVMs share: checks of their settings, and what they keep of the turns of a solver."""

from __future__ import annotations

import warnings
from numbers import Integral, Real

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from riffler.errors import InputError, UnknownName
from riffler.structured.convergence import Solution
from riffler.structured.problem import RESCALINGS


def need_numbers_above_zero(estimator: BaseEstimator, *names: str) -> None:
    """Raise unless these parameters are finite numbers above 0.

    >>> from sklearn.svm import LinearSVC
    >>> need_numbers_above_zero(LinearSVC(C="1"), "tol", "C")
    Traceback (most recent call last):
    riffler.errors.InputError: C must be above 0, got '1'. Pass a finite number.
    """
    for name in names:
        value = getattr(estimator, name)
        if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) < np.inf:
            raise InputError(f"{name} must be above 0, got {value!r}. Pass a finite number.")


def need_counts_above_zero(estimator: BaseEstimator, *names: str) -> None:
    """Raise unless these parameters are integers above 0.

    >>> from sklearn.svm import LinearSVC
    >>> need_counts_above_zero(LinearSVC(max_iter=0), "max_iter")
    Traceback (most recent call last):
    riffler.errors.InputError: max_iter must be an integer of 1 or more, got 0.
    """
    for name in names:
        value = getattr(estimator, name)
        if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
            raise InputError(f"{name} must be an integer of 1 or more, got {value!r}.")


def need_rescaling(rescaling: object) -> None:
    """Raise unless this is the name of a rescaling."""
    if not isinstance(rescaling, str) or rescaling not in RESCALINGS:
        raise UnknownName.among("rescaling", rescaling, RESCALINGS)


def keep_turns(estimator: BaseEstimator, found: Solution, advice: str) -> None:
    """Keep how a solver got on as turns_, primal_, dual_, gap_ and n_oracle_calls_; to be called by ``fit`` itself.

    advice : what to ask for where the solver did not get there, such as "more rounds"
    """
    last = found.turns[-1]
    estimator.turns_ = found.turns
    estimator.primal_, estimator.dual_, estimator.gap_ = last.primal, last.dual, last.gap
    estimator.n_oracle_calls_ = last.oracle_calls
    if not found.converged:
        warnings.warn(
            f"{type(estimator).__name__} stopped at a gap of {last.gap / max(last.primal, 1e-300):.2g} of the "
            f"objective, tol is {estimator.tol}: ask for a smaller C, a larger tol, or {advice}.",
            ConvergenceWarning,
            stacklevel=3,  # where fit was called
        )
