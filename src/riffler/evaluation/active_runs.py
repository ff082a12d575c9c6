"""An active ranker on a stream whose labels are known: how precise it was, and what it paid."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from riffler.errors import InputError
from riffler.evaluation.active_stream import Stream
from riffler.evaluation.comparison import Progress
from riffler.learners.active import ActiveRanker
from riffler.metrics import precision_at_k
from riffler.oracles import ArrayOracle, Oracle
from riffler.records import FloatArray, IntArray

MakeLearner = Callable[[int], ActiveRanker]
"""Builds the learner of a run from the seed of the run."""

MakeOracle = Callable[[Stream, int], Oracle]
"""Builds the oracle of a run from its stream and its seed; items are the row numbers of the stream."""


@dataclass(frozen=True, slots=True)
class BatchResult:
    """One batch: its true precision at k, labels bought so far (in all, and below the top), seconds of the step."""

    precision: float
    n_asked: int
    n_asked_below: int
    seconds: float


@dataclass(frozen=True, slots=True, eq=False)
class ActiveRun:
    """A run through a stream.

    precision : share of true positives among the predicted rows of each batch, shape (n_batches,); by the labels of
        the stream, which neither the learner nor a noisy oracle knows
    n_asked, n_asked_below : labels bought up to each batch: all of them, and those of rows that were not predicted
    seconds : time of each step
    held_out_precision : precision at k on the held-out rows, k at most their positives; NaN where there are none
    """

    precision: FloatArray
    n_asked: IntArray
    n_asked_below: IntArray
    seconds: FloatArray
    held_out_precision: float

    @property
    def mean_precision(self) -> float:
        """Mean over the batches from the second on, as nothing is known in the first; NaN if there is only one."""
        return float(self.precision[1:].mean()) if len(self.precision) > 1 else float("nan")

    @property
    def n_labels(self) -> int:
        """Labels bought in all."""
        return int(self.n_asked[-1])


def array_oracle(stream: Stream, seed: int) -> Oracle:
    """Answer with the true labels of the stream."""
    return ArrayOracle(stream.labels)


def run_stream(
    learner: ActiveRanker,
    stream: Stream,
    oracle: Oracle,
    watch: Callable[[int, BatchResult], None] = lambda number, result: None,
) -> ActiveRun:
    """Step through all batches; ``watch`` is told the number of each batch, from 0, and what came of it.

    Rows are asked for by their numbers in the stream, so ``ArrayOracle(stream.labels)`` serves, and so does an oracle
    with other answers: precision is measured by the labels of the stream.

    >>> from riffler import ActivePerceptronAtK
    >>> from riffler.evaluation.active_stream import random_stream
    >>> rng = np.random.default_rng(0)
    >>> labels = (rng.random(3000) < 0.2).astype(int)
    >>> stream = random_stream(rng.normal(size=(3000, 2)) + 2 * labels[:, None], labels, seed=0)
    >>> run = run_stream(ActivePerceptronAtK(k=20, random_state=0), stream, ArrayOracle(labels))
    >>> run.mean_precision > 0.8, len(run.n_asked), run.n_labels < 300
    (True, 8, True)
    """
    n_before, n_below = oracle.n_asked, 0
    results: list[BatchResult] = []
    for number, rows in enumerate(stream.batches):
        start = perf_counter()
        step = learner.step(stream.X[rows], oracle, items=rows.tolist())
        seconds = perf_counter() - start
        n_below += int(np.count_nonzero(~np.isin(step.asked, step.predicted)))
        precision = float(stream.labels[rows[step.predicted]].mean())
        results.append(BatchResult(precision, oracle.n_asked - n_before, n_below, seconds))
        watch(number, results[-1])
    return ActiveRun(
        precision=np.array([one.precision for one in results]),
        n_asked=np.array([one.n_asked for one in results]),
        n_asked_below=np.array([one.n_asked_below for one in results]),
        seconds=np.array([one.seconds for one in results]),
        held_out_precision=held_out_precision(learner, stream),
    )


def held_out_precision(learner: ActiveRanker, stream: Stream) -> float:
    """Precision at k on the held-out rows, k at most their positives; NaN where there are none."""
    labels = stream.labels[stream.held_out]
    n_positive = int(labels.sum())
    if n_positive == 0:
        return float("nan")
    scores = learner.decision_function(stream.X[stream.held_out])
    return precision_at_k(labels, scores, min(int(learner.k), n_positive))


def run_many(
    make_learner: MakeLearner,
    stream_of: Callable[[int], Stream],
    make_oracle: MakeOracle = array_oracle,
    n_runs: int = 10,
    progress: Progress = lambda share, doing: None,
    n_jobs: int = 1,
) -> list[ActiveRun]:
    """Run the seeds 0 to ``n_runs - 1``, each with its own stream, learner and oracle; in their order.

    ``n_jobs`` processes (-1: one a core) share the runs; each run has one thread, so that its numbers are the same
    however many run beside it.
    """
    if n_runs < 1:
        raise InputError(f"n_runs must be at least 1, got {n_runs!r}.")
    runs: list[ActiveRun] = []
    progress(0.0, f"run 1 of {n_runs}")
    for run in _runs(make_learner, stream_of, make_oracle, n_runs, n_jobs):
        runs.append(run)
        progress(len(runs) / n_runs, f"run {min(len(runs) + 1, n_runs)} of {n_runs}")
    return runs


def _runs(
    make_learner: MakeLearner, stream_of: Callable[[int], Stream], make_oracle: MakeOracle, n_runs: int, n_jobs: int
) -> Iterable[ActiveRun]:
    if n_jobs == 1:
        return (_one_run(make_learner, stream_of, make_oracle, seed) for seed in range(n_runs))
    from joblib import Parallel, delayed  # type: ignore[import-untyped]

    parallel = Parallel(n_jobs=n_jobs, return_as="generator")
    found: Iterable[ActiveRun] = parallel(
        delayed(_one_run)(make_learner, stream_of, make_oracle, seed) for seed in range(n_runs)
    )
    return found


def _one_run(
    make_learner: MakeLearner, stream_of: Callable[[int], Stream], make_oracle: MakeOracle, seed: int
) -> ActiveRun:
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1):
        stream = stream_of(seed)
        return run_stream(make_learner(seed), stream, make_oracle(stream, seed))
