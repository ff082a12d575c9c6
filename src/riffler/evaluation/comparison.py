"""Fit several rankers on one table and score another: the run behind ``riffler rank``."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from inspect import signature
from time import perf_counter
from typing import Any

import numpy as np

from riffler.data.table import Table
from riffler.errors import InputError, KClippedWarning, LabelError
from riffler.features import blocked_rows
from riffler.features.blocked_rows import BlockedRows, has_sparse_rows
from riffler.learners import ranker_from_name
from riffler.losses.pairwise import PreferencePairs
from riffler.records import FloatArray, IntArray

BASELINE = "logistic regression"
"""The line every ranking is compared with, fitted in the same run."""

HELD_OUT = 0.3
"""Share of the items held out where no test table is given."""

OUT_OF_CORE = ("top-k", "sgd-at-k", "ranksvm", "logistic")
"""Methods that learn from rows on disk."""

Progress = Callable[[float, str], None]
"""Called with the share done, from 0 to 1, and a word on what is going on."""


@dataclass(frozen=True, slots=True, eq=False)
class ScoredMethod:
    """A fitted method and its scores of the test items."""

    method: str
    model: Any
    scores: FloatArray
    seconds: float


def held_out(table: Table, seed: int) -> tuple[Table, Table]:
    """Split a table into a train part and a stratified test part of 30 %; of a ranking file, 30 % of the queries."""
    if table.qid is not None:
        return _queries_held_out(table, table.qid, seed)
    train_rows, test_rows = rows_held_out(binary_labels_of(table), seed, table.source)
    return _part(table, train_rows), _part(table, test_rows)


def rows_held_out(labels: IntArray, seed: int, source: str) -> tuple[IntArray, IntArray]:
    """Split rows of labels 0 and 1 into those of a train part and those of a stratified test part of 30 %."""
    from sklearn.model_selection import train_test_split

    fewest = int(min(labels.sum(), len(labels) - labels.sum()))
    if fewest < 4:
        raise LabelError(
            f"{source}: to hold out 30 % for the test, each class needs at least 4 items; the smaller has "
            f"{fewest}. Label more items, or pass a test file."
        )
    rows = np.arange(len(labels))
    train_rows, test_rows = train_test_split(rows, test_size=HELD_OUT, stratify=labels, random_state=seed)
    return np.sort(train_rows), np.sort(test_rows)


def _queries_held_out(table: Table, qid: IntArray, seed: int) -> tuple[Table, Table]:
    queries = np.unique(qid)
    if len(queries) < 2:
        raise LabelError(
            f"{table.source}: to hold out queries for the test at least 2 are needed, all rows are of query "
            f"{queries[0]}. Pass a test file."
        )
    n_test = max(1, round(HELD_OUT * len(queries)))
    chosen = np.isin(qid, np.random.RandomState(seed).permutation(queries)[:n_test])
    return _part(table, np.flatnonzero(~chosen)), _part(table, np.flatnonzero(chosen))


def grades_of(table: Table) -> FloatArray:
    """Give the labels of a ranking file that is to be learned from or measured: any numbers, of two kinds at least."""
    if table.y is None:
        raise LabelError(f"{table.source}: no labels to learn from. Name the label column (--label).")
    grades = np.asarray(table.y, dtype=np.float64)
    if (grades == grades[0]).all():
        raise LabelError(f"{table.source}: all {len(grades):,} labels are {grades[0]:g}; two grades are needed.")
    try:
        PreferencePairs(grades, table.qid)
    except LabelError:
        raise LabelError(
            f"{table.source}: no query has items of two different grades, so there is nothing to put in order. "
            "Check the labels, and that the query ids name the query of each row."
        ) from None
    return grades


def binary_labels_of(table: Table) -> IntArray:
    """Give the labels of a table that is to be learned from: there, 0 or 1, and of both kinds."""
    if table.y is None:
        raise LabelError(f"{table.source}: no labels to learn from. Name the label column (--label).")
    labels = np.asarray(table.y)
    found = np.unique(labels)
    if not np.isin(found, (0, 1)).all():
        raise LabelError(
            f"{table.source}: labels are grades from {found[0]} to {found[-1]}, two classes are needed. "
            "Say which are positive (--positive)."
        )
    if len(found) < 2:
        raise LabelError(
            f"{table.source}: all {len(labels):,} labels are {found[0]}; positives and negatives are needed."
        )
    return labels.astype(np.int64)


def compare(
    methods: Sequence[str],
    train: Table,
    test: Table,
    *,
    k: int | float,
    kernels: Sequence[str] = ("linear",),
    seed: int = 0,
    logistic: Callable[[], ScoredMethod] | None = None,
    progress: Progress = lambda share, doing: None,
) -> list[ScoredMethod]:
    """Fit each method and the baseline on the train table, and score the test table; the baseline is given last.

    Repeated names are fitted once; ``logistic`` is the baseline; a method that offers kernels is fitted with each of
    them. All models are made before the first is fitted, so a wrong name costs no time. An integer k counts items of
    the test table: a longer train table has that many more at its top. Of a ranking file, rankers of the whole order
    learn from pairs within its queries; others see the rows alone, and the baseline learns what is above the lowest
    grade. ``logistic`` makes the baseline where the rows do not fit into memory, before anything else is fitted.
    """
    places = {"n": k} if train.qid is not None else {}  # the first of each query, which NDCG looks at
    given = k
    if not isinstance(k, float):
        k = max(1, round(k * train.n_items / test.n_items))
    rankers: dict[str, Any] = {}
    for method in methods:
        if method != "logistic":
            rankers |= _rankers(method, kernels, k=k, random_state=seed, **places)
    if isinstance(train.X, BlockedRows):
        need_blocked(rankers, train.X)
    rankers[BASELINE] = baseline()
    # an engine that is not there, or goes away, shall not cost what was learned before it was asked
    order = list(rankers) if logistic is None else [BASELINE, *list(rankers)[:-1]]
    scored = {}
    for number, name in enumerate(order):

        def share_of_all(share: float, doing: str, done: int = number, name: str = name) -> None:
            progress((done + share) / len(rankers), f"{name}: {doing}")

        share_of_all(0.0, "fitting")
        if name == BASELINE and logistic is not None:
            scored[name] = logistic()
        else:
            with _long_top_in_words(given, k, train, test):
                scored[name] = _fit_and_score(name, rankers[name], train, test, share_of_all)
    return [scored[name] for name in rankers]


@contextmanager
def _long_top_in_words(given: int | float, k: int | float, train: Table, test: Table) -> Iterator[None]:
    """Let a ranker whose top has more places than there are positives say so in the k that was given."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", KClippedWarning)
        yield
    for one in caught:
        if one.category is KClippedWarning and train.qid is None:
            warnings.warn(_long_top(int(given), int(k), train, test), KClippedWarning, stacklevel=4)
        else:
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)


def _long_top(given: int, k: int, train: Table, test: Table) -> str:
    n_positive = int(binary_labels_of(train).sum())
    most = n_positive * test.n_items // train.n_items
    advice = f"Pass k={most} or less to silence this." if most else "Learn from more positives to silence this."
    return (
        f"k={given} of the {test.n_items:,} test items is as much as {k:,} of the {train.n_items:,} that are learned "
        f"from, and only {n_positive:,} of these are positive: the top was learned {n_positive:,} long, and is "
        f"measured at k={given}. {advice}"
    )


def need_blocked(rankers: Mapping[str, Any], X: BlockedRows) -> None:
    """Refuse rankers that do not learn out of core, before the first is fitted."""
    why = (
        f"learns in memory only, and the {X.shape[0]:,} rows stay on disk: they take {X.n_bytes / 1e6:,.1f} MB, and at "
        f"most {blocked_rows.GATHERED_BYTES / 1e6:,.0f} MB are read into memory."
    )
    for name, ranker in rankers.items():
        if not getattr(ranker, "takes_blocks", False):
            others = ", ".join(OUT_OF_CORE)
            raise InputError(f"{name} {why} Use a method that learns from disk ({others}), or index fewer documents.")
        if ranker.get_params().get("kernel", "linear") != "linear":
            raise InputError(f"{name} {why} Leave --kernel out, or index fewer documents.")


def _fit_and_score(method: str, ranker: Any, train: Table, test: Table, progress: Progress) -> ScoredMethod:  # noqa: ANN401
    reports = "progress" in ranker.get_params()
    if reports:
        ranker.set_params(progress=progress)
    model = ranker if has_sparse_rows(train.X) or "scale" in ranker.get_params() else standardised(ranker)
    start = perf_counter()
    if train.qid is not None and "qid" in signature(ranker.fit).parameters:
        step = "" if model is ranker else f"{model.steps[-1][0]}__"
        model.fit(train.X, grades_of(train), **{f"{step}qid": train.qid})
    elif train.qid is not None and method == BASELINE:
        grades = grades_of(train)
        model.fit(train.X, grades > grades.min())
    else:
        model.fit(train.X, binary_labels_of(train))
    seconds = perf_counter() - start
    if reports:
        ranker.set_params(progress=None)  # a model is saved without the bar it reported to
    return ScoredMethod(method, model, np.asarray(model.decision_function(test.X)), seconds)


def baseline() -> Any:  # noqa: ANN401 - a scikit-learn estimator
    """Make the plain logistic regression a user would try first."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=2000)


def standardised(ranker: Any) -> Any:  # noqa: ANN401 - scikit-learn estimators
    """Put the scaling of the train part before a ranker, so that the saved model takes columns as the file has them.

    For dense columns only: sparse ones are mostly counts or tf-idf weights, whose scale says something, and are used
    as they are. A ranker that scales by itself needs none of this.
    """
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), ranker)


def _rankers(method: str, kernels: Sequence[str], **settings: int | float) -> dict[str, Any]:
    """The method with each kernel, by the names they are reported under; a linear method once."""
    from sklearn.base import clone

    ranker = ranker_from_name(method, **settings)
    if "kernel" in ranker.get_params():
        return {
            method if kernel == "linear" else f"{method} ({kernel})": clone(ranker).set_params(kernel=kernel)
            for kernel in kernels
        }
    if "linear" not in kernels:
        raise InputError(
            f"{method} has no kernel {kernels[0]!r}: it is linear. Leave --kernel out, or use --method top-k."
        )
    return {method: ranker}


def _part(table: Table, rows: IntArray) -> Table:
    return replace(
        table,
        X=table.X[rows],
        y=None if table.y is None else table.y[rows],
        qid=None if table.qid is None else table.qid[rows],
        ids=table.ids[rows],
    )
