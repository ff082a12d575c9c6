"""Every active ranker passes scikit-learn's own checks with known labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.utils.estimator_checks import parametrize_with_checks

from riffler.learners import ACTIVE_RANKERS, active_ranker_from_name

EXPECTED_FAILURES = {
    "ActivePerceptronAtK": {
        "check_parameters_default_constructible": (
            "readings is a frozen record; scikit-learn allows only plain values as defaults, lest they be changed"
        ),
    }
}


def every_ranker() -> list[Any]:
    return [active_ranker_from_name(name, k=5) for name in ACTIVE_RANKERS]


def expected_failures(ranker: Any) -> dict[str, str]:  # noqa: ANN401 - an estimator
    return EXPECTED_FAILURES.get(type(ranker).__name__, {})


@parametrize_with_checks(every_ranker(), expected_failed_checks=expected_failures)  # type: ignore[untyped-decorator]
def test_scikit_learn_checks(estimator: Any, check: Callable[[Any], None]) -> None:  # noqa: ANN401 - an estimator
    check(estimator)
