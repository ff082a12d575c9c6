"""AUC along the way of rankers that learn from pairs: against the pairs they were given, and against time."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from riffler.data.table import Table
from riffler.evaluation.comparison import Progress, binary_labels_of, grades_of
from riffler.losses.pairwise import PreferencePairs
from riffler.records import FloatArray, IntArray, Matrix, is_sparse

if TYPE_CHECKING:
    from riffler.evaluation.charts import Chart
    from riffler.learners.pair_ranker import PairRanker

ALL_PAIRS = "ranksvm (all pairs)"
WARM_UP_ROWS = 100


@dataclass(frozen=True, slots=True)
class PairCurve:
    """Pairs learned from, seconds of work and AUC on the test items, after each round; one point for all pairs."""

    method: str
    n_pairs: tuple[int, ...]
    seconds: tuple[float, ...]
    auc: tuple[float, ...]


def pair_curves(
    train: Table,
    test: Table,
    *,
    samplings: Sequence[str] = ("soft-correct", "random"),
    n_pairs: int = 10_000,
    seed: int = 0,
    progress: Progress = lambda share, doing: None,
) -> list[PairCurve]:
    """Learn from ``n_pairs`` pairs in each of the ways, and from all of them; dense columns are standardised.

    Of a ranking file, pairs are within queries, and AUC is the share of them that is in order.
    """
    from riffler.learners.active_rank_svm import ActiveRankSVM

    labels = binary_labels_of(train) if train.qid is None else grades_of(train)
    judge = PreferencePairs(binary_labels_of(test) if test.qid is None else grades_of(test), test.qid)
    X, X_test = _scaled(train.X, test.X)
    curves = []
    for number, sampling in enumerate(samplings):
        progress(number / (len(samplings) + 1), f"pairs by {sampling}")
        ranker = ActiveRankSVM(sampling, n_pairs=n_pairs, random_state=seed)
        _warm_up(ranker, X, train.qid)
        rounds = [
            (found.n_pairs, found.seconds, judge.share_in_order(np.asarray(X_test @ found.weights, dtype=np.float64)))
            for found in ranker.rounds(X, labels, qid=train.qid)
        ]
        numbers, seconds, areas = zip(*rounds, strict=True)
        curves.append(PairCurve(f"active-pairs ({sampling})", numbers, seconds, areas))
    progress(len(samplings) / (len(samplings) + 1), "all pairs")
    return [*curves, _all_pairs(X, labels, train.qid, X_test, judge, seed)]


def _all_pairs(
    X: Matrix, labels: IntArray | FloatArray, qid: IntArray | None, X_test: Matrix, judge: PreferencePairs, seed: int
) -> PairCurve:
    from riffler.learners.rank_svm import RankSVM

    ranker = RankSVM(random_state=seed)
    _warm_up(ranker, X, qid)
    start = perf_counter()
    ranker.fit(X, labels, qid=qid)
    seconds = perf_counter() - start
    n_pairs = int(PreferencePairs(labels, qid).total)
    scores = np.asarray(ranker.decision_function(X_test), dtype=np.float64)
    return PairCurve(ALL_PAIRS, (n_pairs,), (seconds,), (judge.share_in_order(scores),))


def _warm_up(ranker: PairRanker, X: Matrix, qid: IntArray | None) -> None:
    """Fit to a few rows of the same kind: compiling, the first time in a process, is no part of the seconds."""
    from sklearn.base import clone
    from sklearn.exceptions import ConvergenceWarning

    few = X[:WARM_UP_ROWS]
    n_rows = few.shape[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # nobody asked for this ranker
        clone(ranker).fit(few, np.arange(n_rows) % 2, qid=None if qid is None else np.zeros(n_rows, np.int64))


def _scaled(X: Any, X_test: Any) -> tuple[Any, Any]:  # noqa: ANN401 - dense or CSR
    if is_sparse(X):
        return X, X_test
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler().fit(X)
    return scaler.transform(X), scaler.transform(X_test)


def pair_chart(curves: Sequence[PairCurve], title: str = "AUC from a few pairs") -> Chart:
    """Draw AUC against pairs and against seconds (log axes), a line a way of choosing pairs, a mark for all pairs."""
    import altair as alt
    import polars as pl

    from riffler.evaluation.charts import method_colour, styled

    rows = [
        {"method": curve.method, "pairs": n, "seconds": seconds, "auc": auc}
        for curve in curves
        for n, seconds, auc in zip(curve.n_pairs, curve.seconds, curve.auc, strict=True)
    ]
    frame = pl.DataFrame(rows)
    colour = method_colour([curve.method for curve in curves])
    y = alt.Y("auc:Q", title="AUC on the test items").scale(zero=False)
    tooltip = [
        alt.Tooltip("method:N"),
        alt.Tooltip("pairs:Q", format=","),
        alt.Tooltip("seconds:Q", format=".3g"),
        alt.Tooltip("auc:Q", format=".4f"),
    ]
    panels = []
    for column, words, form in (("pairs", "pairs learned from", "~s"), ("seconds", "seconds of work", "~g")):
        x = alt.X(f"{column}:Q", title=words).scale(type="log", nice=False, padding=12).axis(format=form, tickCount=5)
        base = alt.Chart(frame).encode(x=x, y=y, color=colour, tooltip=tooltip)
        panels.append(
            (base.mark_line(strokeWidth=2.2) + base.mark_point(filled=True, size=50, opacity=1)).properties(
                width=330, height=300
            )
        )
    return styled(alt.hconcat(*panels, spacing=30).resolve_scale(y="shared"), title)
