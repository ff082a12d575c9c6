"""1PMB (Kar, Narasimhan and Jain 2014): one pass of mini-batch steps on the structural surrogate, a baseline."""

from __future__ import annotations

from typing import Any

import numpy as np

from riffler.learners.sgd_at_k import SGDAtK


class OnePassMiniBatch(SGDAtK):
    """One pass of projected, averaged steps on the struct surrogate: what SVMperf minimises, from a stream.

    Parameters
    ----------
    k : int or float
        Rows at the top that matter: a number of rows of the training set, or a share of its positives.
    learning_rate : float
    radius : float
        Radius of the ball that the weights are projected on.
    batch_size : int or None
    random_state : int, RandomState or None

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(2000, weights=[0.9], class_sep=2, flip_y=0, random_state=0)
    >>> OnePassMiniBatch(k=0.25, random_state=0).fit(X, y).score(X, y) > 0.9
    True
    """

    # What SGDAtK takes as parameters is fixed here.
    surrogate = "struct"
    alpha = 0.0
    n_epochs = 1
    average = True

    def __init__(
        self,
        k: int | float = 0.25,
        *,
        learning_rate: float = 1.0,
        radius: float = np.inf,
        batch_size: int | None = None,
        random_state: Any = None,  # noqa: ANN401 - int, RandomState or None
    ) -> None:
        self.k = k
        self.learning_rate = learning_rate
        self.radius = radius
        self.batch_size = batch_size
        self.random_state = random_state
