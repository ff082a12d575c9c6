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


PAIR_RANKERS: dict[str, str] = {
    "active-pairs": "riffler.learners.active_rank_svm:ActiveRankSVM",
    "crr": "riffler.learners.combined_ranking:CombinedRankingRegression",
    "hinge-ranksvm": "riffler.learners.hinge_rank_svm:HingeRankSVM",
    "ndcg": "riffler.learners.ndcg_ranker:NdcgRanker",
    "ranksvm": "riffler.learners.rank_svm:RankSVM",
    "wsvm": "riffler.learners.weighted_svm:WeightedSVM",
}
"""Where each ranker lives that learns the whole order, from pairs of rows."""


ACTIVE_RANKERS: dict[str, str] = {
    "active-modified-perceptron": "riffler.learners.modified_perceptron:ActiveModifiedPerceptron",
    "active-top-k": "riffler.learners.active_top_k:ActiveTopK",
    "active-perceptron-at-k": "riffler.learners.active_at_k:ActivePerceptronAtK",
    "iwal": "riffler.learners.importance_weighted:ImportanceWeightedActive",
    "selective-sampling": "riffler.learners.selective_sampling:SelectiveSamplingPerceptron",
}
"""Where each ranker lives that buys its labels with ``step``."""


def ranker_from_name(name: str, **params: Any) -> Any:  # noqa: ANN401 - an estimator, by name
    """Build the ranker of that name; parameters that it does not have are left out.

    >>> ranker_from_name("sgd-at-k", k=50, random_state=0)
    SGDAtK(k=50, random_state=0)
    >>> ranker_from_name("ranksvm", k=50, random_state=0)
    RankSVM(random_state=0)
    """
    return _built("ranker", RANKERS | PAIR_RANKERS, name, params)


def active_ranker_from_name(name: str, **params: Any) -> Any:  # noqa: ANN401 - an estimator, by name
    """Build the active ranker of that name; parameters that it does not have are left out.

    >>> active_ranker_from_name("selective-sampling", k=20, random_state=0)
    SelectiveSamplingPerceptron(k=20, random_state=0)
    """
    return _built("active ranker", ACTIVE_RANKERS, name, params)


def _built(kind: str, table: dict[str, str], name: str, params: dict[str, Any]) -> Any:  # noqa: ANN401 - an estimator
    if name not in table:
        raise UnknownName.among(kind, name, table)
    module, _, attribute = table[name].partition(":")
    ranker = getattr(import_module(module), attribute)
    known = ranker._get_param_names()
    return ranker(**{key: value for key, value in params.items() if key in known})
