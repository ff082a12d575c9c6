"""What the top costs in AUC: the curve along ``order_weight``, and its far end against logistic regression."""

from __future__ import annotations

from typing import Any

import sets
from sklearn.linear_model import LogisticRegression

from riffler import TopKRanker, precision_at_k, roc_auc

WEIGHTS = (0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)


def curve(titles: tuple[str, ...] = ("ijcnn1", "cod-rna"), seed: int = 0) -> list[dict[str, Any]]:
    """Precision at 25 % of the positives and AUC on the test part, for each weight, with logistic regression beside."""
    points = []
    for source in (source for source in sets.SOURCES if source.title in titles):
        split = sets.load(source, seed)
        if split is None:
            continue
        points += [
            {"weight": weight, **_measured(split, TopKRanker(order_weight=weight, random_state=seed))}
            for weight in WEIGHTS
        ]
        plain = _measured(split, LogisticRegression(max_iter=500))
        points.append({"weight": None, **plain})
    return points


def far_end(seed: int = 0) -> list[dict[str, Any]]:
    """AUC at ``order_weight=1`` and by default, beside logistic regression, on every set."""
    rows = []
    for source in sets.SOURCES:
        split = sets.load(source, seed)
        if split is None:
            continue
        ends = {
            "order_weight=1": TopKRanker(order_weight=1.0, random_state=seed),
            "default": TopKRanker(random_state=seed),
            "LogisticRegression": LogisticRegression(max_iter=500),
        }
        found = {name: _measured(split, ranker)["auc"] for name, ranker in ends.items()}
        rows.append({"data": split.title, **found, "short_by": found["LogisticRegression"] - found["order_weight=1"]})
    return rows


def _measured(split: sets.Split, ranker: Any) -> dict[str, Any]:  # noqa: ANN401 - an estimator
    labels = split.y[split.test]
    scores = ranker.fit(split.X[split.learn], split.y[split.learn]).decision_function(split.X[split.test])
    return {
        "data": split.title,
        "method": type(ranker).__name__,
        "precision": precision_at_k(labels, scores, 0.25),
        "auc": roc_auc(labels, scores),
    }
