"""Streams as a case wants them: thinned, sampled, in an order that an adversary chose; and the run through one.

Batches of every order have the same size and the same share of positives; what differs is which rows come when.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from riffler.evaluation.active_runs import ActiveRun, held_out_precision, run_stream
from riffler.evaluation.active_stream import Stream, random_stream, thinned
from riffler.learners.active import ActiveRanker
from riffler.oracles import ArrayOracle, Oracle
from riffler.records import BoolArray, FloatArray, IntArray
from riffler.reproduction.active_at_k_cases import Case, Feed
from riffler.reproduction.problems import Problem

WITHHELD = "no positives below the cut"
WITHHELD_REACH = 10
"""How far below the cut the positives are withheld, in multiples of k."""


def run_case(case: Case, problem: Problem, seed: int) -> ActiveRun:
    """Run one seed of a case."""
    stream = stream_of(case.feed, problem, seed)
    oracle = ArrayOracle(flipped(stream.labels, case.feed.flipped, seed))
    learner = case.way.learner(case.k, seed)
    if case.feed.order == WITHHELD:
        return run_withheld(learner, stream, oracle, WITHHELD_REACH * case.k)
    return run_stream(learner, stream, oracle)


def stream_of(feed: Feed, problem: Problem, seed: int) -> Stream:
    """Deal the rows of a problem as the feed says."""
    X, labels = problem.X, problem.y
    if feed.share is not None:
        rows = thinned(X, labels, feed.share, seed)
        X, labels = X[rows], labels[rows]
    if feed.n_rows is not None and feed.n_rows < len(labels):
        rows = np.sort(np.random.default_rng(seed).choice(len(labels), feed.n_rows, replace=False))
        X, labels = X[rows], labels[rows]
    stream = random_stream(X, labels, seed, n_batches_of(len(labels), feed), feed.held_out)
    return ORDERS[feed.order](stream, seed)


def n_batches_of(n_rows: int, feed: Feed) -> int:
    """The logarithm of the rows that arrive.

    >>> n_batches_of(488_565, Feed("cod-rna", held_out=0)), n_batches_of(488_565, Feed("x", held_out=0, log_base=2))
    (13, 19)
    """
    n_arriving = n_rows - round(feed.held_out * n_rows)
    return max(2, round(math.log(n_arriving, feed.log_base)))


def flipped(labels: IntArray, share: float, seed: int) -> IntArray:
    """Turn a random share of the labels round; another draw than that of the stream."""
    if share == 0:
        return labels
    wrong = np.random.default_rng([seed, 1]).random(len(labels)) < share
    return np.where(wrong, 1 - labels, labels)


def look_alikes_first(stream: Stream, seed: int) -> Stream:
    """Let the negatives that look most like positives come in the first batches."""
    positives, negatives = _arriving(stream)
    return _dealt(stream, positives, negatives[np.argsort(-_looks(stream)[negatives], kind="stable")])


def look_alikes_last(stream: Stream, seed: int) -> Stream:
    """Let the negatives that look most like positives come in the last batches."""
    positives, negatives = _arriving(stream)
    return _dealt(stream, positives, negatives[np.argsort(_looks(stream)[negatives], kind="stable")])


def one_kind_late(stream: Stream, seed: int) -> Stream:
    """Let the smaller of two clusters of the positives come when the larger has passed."""
    from sklearn.cluster import KMeans

    positives, negatives = _arriving(stream)
    kind = KMeans(2, n_init=1, random_state=seed).fit_predict(_standardised(stream.X)[positives])
    late = int(np.bincount(kind, minlength=2).argmin())
    return _dealt(stream, positives[np.argsort(kind == late, kind="stable")], negatives)


ORDERS: dict[str, Callable[[Stream, int], Stream]] = {
    "random": lambda stream, seed: stream,
    "look-alikes first": look_alikes_first,
    "look-alikes last": look_alikes_last,
    "one kind of positive late": one_kind_late,
    WITHHELD: lambda stream, seed: stream,
}
"""Which rows come when; the last one is decided batch by batch, after the adversary has seen the scores."""


def run_withheld(learner: ActiveRanker, stream: Stream, oracle: Oracle, reach: int) -> ActiveRun:
    """Run a stream in which the ``reach`` rows right below the cut of every batch but the first are all negative.

    The adversary scores the batch with the learner's state and leaves out the positives that rank there.
    """
    parts: list[ActiveRun] = []
    nobody = np.empty(0, dtype=np.int64)
    for rows in stream.batches:
        if parts:
            rows = rows[~_just_below(learner.decision_function(stream.X[rows]), stream.labels[rows], learner.k, reach)]
        parts.append(run_stream(learner, replace(stream, batches=(rows,), held_out=nobody), oracle))
    return joined(parts, held_out_precision(learner, stream))


def joined(parts: Sequence[ActiveRun], held_out: float) -> ActiveRun:
    """Put runs of one learner and one oracle behind each other."""
    return ActiveRun(
        precision=np.concatenate([part.precision for part in parts]),
        n_asked=np.cumsum([part.n_labels for part in parts]),
        n_asked_below=np.cumsum([part.n_asked_below[-1] for part in parts]),
        seconds=np.concatenate([part.seconds for part in parts]),
        held_out_precision=held_out,
    )


def _just_below(scores: FloatArray, labels: IntArray, k: int, reach: int) -> BoolArray:
    """Mark the positives at the ranks k + 1 to k + reach."""
    ranked = np.argsort(-scores, kind="stable")[k : k + reach]
    marks = np.zeros(len(labels), dtype=bool)
    marks[ranked[labels[ranked] == 1]] = True
    return marks


def _arriving(stream: Stream) -> tuple[IntArray, IntArray]:
    """Positives and negatives that arrive, each in the stream's random order."""
    rows = np.concatenate(stream.batches)
    return rows[stream.labels[rows] == 1], rows[stream.labels[rows] == 0]


def _dealt(stream: Stream, positives: IntArray, negatives: IntArray) -> Stream:
    """Deal both classes in the order given, every batch its share of each."""
    n_batches = len(stream.batches)
    pairs = zip(np.array_split(positives, n_batches), np.array_split(negatives, n_batches), strict=True)
    return replace(stream, batches=tuple(np.concatenate(pair) for pair in pairs))


def _looks(stream: Stream) -> FloatArray:
    """How much each row looks like a positive: the least-squares fit of all labels, which the adversary knows."""
    columns = np.column_stack([_standardised(stream.X), np.ones(len(stream.labels))])
    fit: FloatArray = columns @ np.linalg.lstsq(columns, stream.labels.astype(float), rcond=None)[0]
    return fit


def _standardised(X: FloatArray) -> FloatArray:
    X = X.astype(np.float64)
    spread = X.std(axis=0)
    scaled: FloatArray = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return scaled
