"""Runs of active rankers: precision is the true one, only what was asked is counted, and seeds repeat."""

from __future__ import annotations

import numpy as np
import pytest

from riffler import ActivePerceptronAtK, ArrayOracle
from riffler.errors import InputError
from riffler.evaluation.active_runs import ActiveRun, run_many, run_stream
from riffler.evaluation.active_stream import Stream, random_stream
from riffler.metrics import precision_at_k
from riffler.oracles import Oracle


def problem(n_rows: int = 1500, seed: int = 0) -> Stream:
    rng = np.random.default_rng(seed)
    labels = (rng.random(n_rows) < 0.2).astype(int)
    return random_stream(rng.normal(size=(n_rows, 3)) + labels[:, None], labels, seed, n_batches=5)


def stream_of(seed: int) -> Stream:
    return problem(seed=seed)


def learner(seed: int = 0, sampler: str = "exponential") -> ActivePerceptronAtK:
    return ActivePerceptronAtK(k=15, sampler=sampler, random_state=seed)


def test_precision_and_counts_are_those_of_the_steps() -> None:
    stream, oracle, ranker = problem(), ArrayOracle(problem().labels), learner()
    run = run_stream(ranker, stream, oracle)

    again, asking = learner(), ArrayOracle(stream.labels)
    for number, rows in enumerate(stream.batches):
        step = again.step(stream.X[rows], asking, items=rows.tolist())
        assert run.precision[number] == stream.labels[rows[step.predicted]].mean()
        assert run.n_asked[number] == asking.n_asked
        outside = [entry for entry in asking.ledger if not entry.in_top]
        assert run.n_asked_below[number] == len(outside)
    assert {entry.item for entry in oracle.ledger} == {entry.item for entry in asking.ledger}
    assert run.mean_precision == pytest.approx(run.precision[1:].mean())
    assert run.n_labels == oracle.n_asked
    assert run.seconds.min() > 0
    held = stream.held_out
    assert run.held_out_precision == precision_at_k(stream.labels[held], ranker.decision_function(stream.X[held]), 15)


def test_a_lying_oracle_does_not_change_how_precision_is_measured() -> None:
    stream = problem()
    run = run_stream(learner(), stream, ArrayOracle(np.ones_like(stream.labels)))
    assert run.precision.max() < 1.0  # the oracle says that every row is relevant
    assert run.n_asked_below[-1] == 0  # and so no mistake is ever seen


def test_a_budget_of_nothing_and_one_batch() -> None:
    stream = problem()
    run = run_stream(learner(), stream, ArrayOracle(stream.labels, budget=0))
    assert run.n_labels == 0
    alone = Stream(stream.X, stream.labels, stream.batches[:1], stream.held_out[:0])
    run = run_stream(learner(), alone, ArrayOracle(stream.labels))
    assert np.isnan(run.mean_precision)
    assert np.isnan(run.held_out_precision)


def same(one: ActiveRun, two: ActiveRun) -> bool:
    return bool(np.array_equal(one.precision, two.precision) and np.array_equal(one.n_asked, two.n_asked))


def test_many_runs_are_the_single_ones_in_order_in_any_number_of_processes() -> None:
    told: list[float] = []
    runs = run_many(learner, stream_of, n_runs=3, progress=lambda share, doing: told.append(share))
    assert told == pytest.approx([0, 1 / 3, 2 / 3, 1])
    for seed, run in enumerate(runs):
        stream = problem(seed=seed)
        assert same(run, run_stream(learner(seed), stream, ArrayOracle(stream.labels)))
    beside = run_many(learner, stream_of, n_runs=3, n_jobs=2)
    assert all(map(same, runs, beside))


def test_oracles_of_runs_are_made_from_stream_and_seed() -> None:
    def flipped(stream: Stream, seed: int) -> Oracle:
        flips = np.random.default_rng(seed).random(len(stream.labels)) < 0.1
        return ArrayOracle(np.where(flips, 1 - stream.labels, stream.labels), budget=50)

    runs = run_many(learner, stream_of, flipped, n_runs=2)
    assert [run.n_labels for run in runs] == [50, 50]
    with pytest.raises(InputError, match="n_runs"):
        run_many(learner, stream_of, n_runs=0)
