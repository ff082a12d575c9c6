"""Streams are what they are said to be: thinned, sampled, ordered; batches keep their size and share of positives."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from riffler.evaluation.active_runs import run_stream
from riffler.evaluation.active_stream import Stream
from riffler.oracles import ArrayOracle
from riffler.reproduction.active_at_k_cases import Case, Feed, Way
from riffler.reproduction.active_at_k_feeds import (
    ORDERS,
    WITHHELD,
    WITHHELD_REACH,
    flipped,
    joined,
    run_case,
    run_withheld,
    stream_of,
)
from riffler.reproduction.problems import two_gaussians

PROBLEM = two_gaussians(n_rows=3000)
FEED = Feed(PROBLEM.name)


def test_rows_are_thinned_then_sampled() -> None:
    stream = stream_of(replace(FEED, share=0.1, n_rows=1500, held_out=0.2), PROBLEM, seed=0)
    assert len(stream.labels) == 1500
    assert stream.labels.mean() == pytest.approx(0.1, abs=0.02)
    assert len(stream.held_out) == 300
    assert len(stream.batches) == 7  # ln 1200


def test_the_base_of_the_logarithm_says_how_many_batches() -> None:
    assert len(stream_of(replace(FEED, log_base=2.0), PROBLEM, seed=0).batches) == 11  # log2 2700


@pytest.mark.parametrize("order", ORDERS)
def test_every_order_deals_the_same_rows_in_batches_of_one_size_and_share(order: str) -> None:
    plain, stream = stream_of(FEED, PROBLEM, seed=0), stream_of(replace(FEED, order=order), PROBLEM, seed=0)
    assert sorted(np.concatenate(plain.batches)) == sorted(np.concatenate(stream.batches))
    assert {len(batch) for batch in stream.batches} <= {
        336,
        337,
        338,
        339,
    }  # 2,700 rows in 8 batches, both classes dealt evenly
    if order not in ("random", WITHHELD):
        positives = [int(stream.labels[batch].sum()) for batch in stream.batches]
        assert max(positives) - min(positives) <= 1


def test_look_alikes_come_first_or_last() -> None:
    def looks(stream: Stream) -> list[float]:
        """The two columns that tell the classes apart, mean over the negatives of each batch."""
        return [float(stream.X[batch[stream.labels[batch] == 0], :2].sum(axis=1).mean()) for batch in stream.batches]

    first = looks(stream_of(replace(FEED, order="look-alikes first"), PROBLEM, seed=0))
    last = looks(stream_of(replace(FEED, order="look-alikes last"), PROBLEM, seed=0))
    assert first == sorted(first, reverse=True)
    assert last == sorted(last)


def test_the_late_kind_comes_when_the_other_has_passed() -> None:
    far = replace(PROBLEM, X=PROBLEM.X.copy())
    positives = np.flatnonzero(far.y)
    far.X[positives[: len(positives) // 4], 5] += 30  # a quarter of the positives is another kind
    stream = stream_of(replace(FEED, order="one kind of positive late"), far, seed=0)
    late = [int((stream.X[batch, 5] > 15).sum()) for batch in stream.batches]
    assert sum(late[:5]) == 0
    assert sum(late[6:]) > 0


def test_answers_are_flipped_as_often_as_wanted_and_precision_is_by_the_truth() -> None:
    labels = np.zeros(20_000, dtype=np.int64)
    assert flipped(labels, 0.05, seed=0).mean() == pytest.approx(0.05, abs=0.01)
    assert flipped(labels, 0.0, seed=0) is labels
    run = run_case(Case(replace(FEED, flipped=1.0), Way("sequential"), 20), PROBLEM, seed=0)
    assert run.mean_precision < 0.2  # it was told the opposite


class Watched:
    """Keeps the batches that a learner was given."""

    def __init__(self) -> None:
        self.learner = Way("sequential").learner(10, 0)
        self.k = 10
        self.labels_below: list[int] = []

    def step(self, X: np.ndarray, oracle: ArrayOracle, items: list[int]) -> object:
        if hasattr(self.learner, "n_rounds_"):
            ranked = np.argsort(-self.learner.decision_function(X), kind="stable")
            below = ranked[self.k : self.k + 20]
            self.labels_below.append(int(PROBLEM.y[np.array(items)[below]].sum()))
        return self.learner.step(X, oracle, items=items)

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(self.learner.decision_function(X))


def test_no_positive_is_left_right_below_the_cut() -> None:
    watched, stream = Watched(), stream_of(FEED, PROBLEM, seed=0)
    run = run_withheld(watched, stream, ArrayOracle(stream.labels), reach=100)  # type: ignore[arg-type]
    # 100 ranks are emptied of positives, of which some three quarters were: at least the first 20 left are negatives
    assert watched.labels_below == [0] * (len(stream.batches) - 1)
    assert len(run.precision) == len(stream.batches)
    assert run.held_out_precision > 0


def test_withholding_costs_the_walk_more_labels() -> None:
    kind, unkind = (
        run_case(Case(replace(FEED, order=order), Way("sequential"), 10), PROBLEM, seed=0)
        for order in ("random", WITHHELD)
    )
    assert WITHHELD_REACH * 10 < 300  # smaller than a batch
    assert unkind.n_asked_below[-1] > kind.n_asked_below[-1]


def test_runs_batch_by_batch_are_the_run_of_the_whole_stream() -> None:
    stream = stream_of(FEED, PROBLEM, seed=0)
    whole = run_stream(Way().learner(10, 0), stream, ArrayOracle(stream.labels))
    learner, oracle = Way().learner(10, 0), ArrayOracle(stream.labels)
    parts = [run_stream(learner, replace(stream, batches=(rows,)), oracle) for rows in stream.batches]
    again = joined(parts, parts[-1].held_out_precision)
    for name in ("precision", "n_asked", "n_asked_below"):
        np.testing.assert_array_equal(getattr(again, name), getattr(whole, name))
    assert again.held_out_precision == whole.held_out_precision
