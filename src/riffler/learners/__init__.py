"""Rank the top: scikit-learn estimators, one a file. The family's one name table is here."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from riffler.errors import UnknownName

RANKERS: dict[str, str] = {
    "1pmb": "riffler.learners.one_pass:OnePassMiniBatch",
    "gradient-at-k": "riffler.learners.gradient_at_k:GradientAtK",
    "perceptron-at-k": "riffler.learners.perceptron_at_k:PerceptronAtK",
    "sgd-at-k": "riffler.learners.sgd_at_k:SGDAtK",
    "top-k": "riffler.learners.top_k_ranker:TopKRanker",
}
"""Where each ranker lives; paths, so that listing the names loads no estimator."""


def ranker_from_name(name: str, **params: Any) -> Any:  # noqa: ANN401 - an estimator, by name
    """Build the ranker of that name; parameters that it does not have are left out.

    >>> ranker_from_name("sgd-at-k", k=50, random_state=0)
    SGDAtK(k=50, random_state=0)
    """
    if name not in RANKERS:
        raise UnknownName.among("ranker", name, RANKERS)
    module, _, attribute = RANKERS[name].partition(":")
    ranker = getattr(import_module(module), attribute)
    known = ranker._get_param_names()
    return ranker(**{key: value for key, value in params.items() if key in known})
