"""Measures in the form that scikit-learn's model selection takes."""

from __future__ import annotations

from collections.abc import Callable

from riffler.metrics.at_k import check_k, precision_at_k


def precision_at_k_scorer(k: int | float) -> Callable[..., float]:
    """Make a scorer for ``GridSearchCV(scoring=...)`` and ``cross_val_score``; higher is better.

    It ranks by ``decision_function``, or by the probability of the positive class where a model has no such function,
    and it can be pickled. ``k`` is read anew on every fold: an integer must not exceed the rows of a fold, a float in
    (0, 1] is a share of the positives of the fold.

    >>> from sklearn.linear_model import LogisticRegression
    >>> model = LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> precision_at_k_scorer(2)(model, [[3.0], [0.5], [2.5]], [1, 0, 1])
    1.0
    """
    from sklearn.metrics import make_scorer

    check_k(k)
    scorer: Callable[..., float] = make_scorer(
        precision_at_k, response_method=("decision_function", "predict_proba"), k=k
    )
    return scorer
