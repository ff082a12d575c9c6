"""The methods compared on precision against time, each with the settings it is tuned over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from riffler.learners.gradient_at_k import GradientAtK
from riffler.learners.one_pass import OnePassMiniBatch
from riffler.learners.perceptron_at_k import PerceptronAtK
from riffler.learners.sgd_at_k import SGDAtK
from riffler.learners.top_k_ranker import TopKRanker

K = 0.25
"""prec@0.25: as many rows at the top as a quarter of the positives."""

Settings = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Method:
    """A method: how it is made, its grid, and the parameter that says how long it trains."""

    name: str
    make: Callable[..., Any]
    grid: tuple[Settings, ...] = ({},)
    lengths: tuple[int, ...] = ()  # none where the length is not a choice
    length: str = "n_epochs"
    fixed: Settings = field(default_factory=dict)
    seeded: bool = True
    new: bool = False  # proposed by the paper

    def model(self, settings: Settings, length: int | None, seed: int) -> Any:  # noqa: ANN401 - an estimator
        """Build the estimator with these settings."""
        given = {**self.fixed, **settings}
        if length is not None:
            given[self.length] = length
        if self.seeded:
            given["random_state"] = seed
        return self.make(**given)


def methods() -> tuple[Method, ...]:
    """Give the paper's methods, its baselines, and TopKRanker; lengths are chosen on validation rows as well."""
    from sklearn.linear_model import SGDClassifier

    epochs = (1, 3, 10, 30)
    rates = (1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0)
    return (
        Method("Perceptron@k-avg", PerceptronAtK, lengths=epochs, fixed={"k": K, "surrogate": "avg"}, new=True),
        Method("Perceptron@k-max", PerceptronAtK, lengths=epochs, fixed={"k": K, "surrogate": "max"}, new=True),
        Method(
            "SGD@k-avg",
            SGDAtK,
            _grid(learning_rate=rates, alpha=(0.0, 1e-3, 0.1)),
            epochs,
            fixed={"k": K, "surrogate": "avg"},
            new=True,
        ),
        Method("1PMB", OnePassMiniBatch, _grid(learning_rate=rates, radius=(0.1, 1.0, 10.0)), fixed={"k": K}),
        Method(
            "struct, full batch",
            GradientAtK,
            _grid(learning_rate=(0.1, 1.0, 10.0), alpha=(1e-3, 1e-2, 0.1, 1.0, 10.0)),
            lengths=(10, 30, 100),
            length="max_iter",
            fixed={"k": K, "surrogate": "struct", "tol": 0.0},
            seeded=False,
        ),
        Method(
            "point-wise SGD",
            SGDClassifier,
            _grid(alpha=(1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1.0)),
            epochs,
            length="max_iter",
            fixed={"loss": "log_loss", "tol": None},
        ),
        Method("TopKRanker", TopKRanker, fixed={"k": K}),
    )


def _grid(**values: tuple[float, ...]) -> tuple[Settings, ...]:
    """Every combination of the values.

    >>> _grid(alpha=(0.0, 1.0))
    ({'alpha': 0.0}, {'alpha': 1.0})
    """
    return tuple(dict(zip(values, chosen, strict=True)) for chosen in product(*values.values()))
