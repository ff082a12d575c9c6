"""Learning from labels that are all known: the same for every active ranker, but for what is learned."""

from __future__ import annotations

import numpy as np
import pytest

from riffler import ActivePerceptronAtK, ArrayOracle, InputError, KClippedWarning
from riffler.learners import ACTIVE_RANKERS
from tests.contracts.active_streams import BATCH, ranker, stream

X, y = stream()

every_ranker = pytest.mark.parametrize("name", ACTIVE_RANKERS)


@every_ranker
def test_fit_forgets_what_came_before(name: str) -> None:
    fresh = ranker(name).fit(X, np.where(y > 0, "yes", "no"))
    used = ranker(name)
    used.step(X[:BATCH] * 7.0, ArrayOracle(y))
    used.partial_fit(-X[:BATCH], 1 - y[:BATCH])
    used.fit(X, np.where(y > 0, "yes", "no"))
    assert used.n_rounds_ == fresh.n_rounds_
    assert used.classes_.tolist() == ["no", "yes"]
    np.testing.assert_array_equal(used.decision_function(X), fresh.decision_function(X))


@every_ranker
def test_each_batch_is_a_round_and_ends_with_a_cut(name: str) -> None:
    learner = ranker(name)
    for number in range(3):
        rows = slice(number * BATCH, (number + 1) * BATCH)
        learner.partial_fit(X[rows], y[rows], classes=[0, 1])
        assert learner.n_rounds_ == number + 1
        assert 0 < learner.predict(X[rows]).sum() <= learner.k


@every_ranker
def test_settings_are_refused_before_anything_is_learned(name: str) -> None:
    learner = ranker(name).set_params(k=0)
    for learn in (learner.fit, learner.partial_fit):
        with pytest.raises(InputError, match="k must be a whole number of at least 1, got 0"):
            learn(X, y)
    assert not hasattr(learner, "n_rounds_")


def test_a_batch_smaller_than_k_is_warned_of_where_it_was_passed() -> None:
    with pytest.warns(KClippedWarning, match="k=50 asks for more than the 20 rows of this batch") as caught:
        ActivePerceptronAtK(k=50, random_state=0).partial_fit(X[:20], y[:20], classes=[0, 1])
    assert caught[0].filename == __file__
