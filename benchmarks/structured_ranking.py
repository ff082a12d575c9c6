"""NdcgRanker beside RankSVM and LightGBM on graded queries, and the oracle of precision at k beside a sort.

Called by structured.py. Settings are chosen on validation queries for all methods, nothing on test queries.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from riffler import RankSVM, datasets, metric_by_group, ndcg_at
from riffler.errors import DataSetMissing
from riffler.learners.ndcg_ranker import NdcgRanker
from riffler.records import FloatArray, IntArray
from riffler.structured.measures import PrecisionAtK

LETOR = ("letor-ohsumed", "letor-mq2008")
SPLIT_ONCE = ("lightgbm-rank", "mslr-msn1-5k")
C_GRID = (0.1, 1.0, 10.0, 100.0, 1000.0, 10_000.0, 100_000.0)
PLACES = tuple(range(1, 11))
MARGIN = 0.01
N_RESAMPLES = 10_000


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Rows, grades and queries, rows of a query together."""

    X: FloatArray
    y: FloatArray
    qid: IntArray

    def ndcg(self, scores: FloatArray, n: int) -> FloatArray:
        """NDCG of each query with a relevant document."""
        return metric_by_group(ndcg_at, self.y, scores, self.qid, n=n).values


Fold = tuple[Part, Part, Part]
"""To learn from, to choose settings by, to test on."""

Score = Callable[[FloatArray], FloatArray]
Method = Callable[[Part, Part], Score]


def ranking() -> list[dict[str, Any]]:
    """Mean NDCG at 1 to 10 over the test queries of all folds, and how far each method is from NdcgRanker.

    The difference is NdcgRanker's NDCG at 10 less the method's, with its 95 % bootstrap interval over queries.
    """
    rows = []
    for name in (*LETOR, *SPLIT_ONCE):
        try:
            made = list(folds(name))
        except DataSetMissing:
            continue
        rows += _rows_of(name, made)
    return rows


def _rows_of(name: str, made: list[Fold]) -> list[dict[str, Any]]:
    found: dict[str, dict[int, FloatArray]] = {}
    seconds: dict[str, float] = {}
    for method, fit in METHODS.items():
        start = perf_counter()
        scored = [(test, fit(learn, choose)(test.X)) for learn, choose, test in made]
        seconds[method] = perf_counter() - start
        found[method] = {n: np.concatenate([test.ndcg(scores, n) for test, scores in scored]) for n in PLACES}
        print(name, method, f"{found[method][10].mean():.4f}", f"{seconds[method]:.1f} s", flush=True)
    return [
        {
            "data": name,
            "method": method,
            "folds": len(made),
            "queries": len(values[10]),
            **{f"NDCG@{n}": float(values[n].mean()) for n in PLACES},
            **_difference(found["NdcgRanker"][10], values[10]),
            "seconds, settings chosen": seconds[method],
        }
        for method, values in found.items()
    ]


def _difference(ours: FloatArray, theirs: FloatArray) -> dict[str, Any]:
    """How much better we are, over resampled queries; "not worse" is a mean difference of no less than -.01."""
    drawn = np.random.default_rng(0).integers(len(ours), size=(N_RESAMPLES, len(ours)))
    low, high = np.quantile((ours - theirs)[drawn].mean(axis=1), [0.025, 0.975])
    mean = float((ours - theirs).mean())
    return {
        "ours - theirs": mean,
        "low": float(low),
        "high": float(high),
        "not worse": mean >= -MARGIN,
        "surely not worse": bool(low >= -MARGIN),
    }


def folds(name: str) -> Iterator[Fold]:
    """The five folds of LETOR (three parts to learn from, one to choose by, one to test on), or a split made thrice."""
    if name in LETOR:
        parts = [_part(datasets.load(name, split=f"S{number}")) for number in range(1, 6)]
        for first in range(5):
            turned = [parts[(first + step) % 5] for step in range(5)]
            yield _joined(turned[:3]), turned[3], turned[4]
        return
    train, test = _part(datasets.load(name, split="train")), _part(datasets.load(name, split="test"))
    queries = np.unique(train.qid)
    for seed in range(3):
        held_out = np.isin(train.qid, np.random.RandomState(seed).permutation(queries)[: len(queries) // 4])
        learn, choose = _some(train, ~held_out), _some(train, held_out)
        scaler = StandardScaler().fit(learn.X)
        yield tuple(Part(scaler.transform(one.X), one.y, one.qid) for one in (learn, choose, test))  # type: ignore[misc]


def _part(table: Any) -> Part:  # noqa: ANN401 - a table
    order = np.argsort(table.qid, kind="stable")
    X = table.X.toarray() if hasattr(table.X, "toarray") else np.asarray(table.X)
    return Part(X[order].astype(np.float64), np.asarray(table.y, dtype=np.float64)[order], table.qid[order])


def _some(part: Part, rows: Any) -> Part:  # noqa: ANN401 - a mask
    return Part(part.X[rows], part.y[rows], part.qid[rows])


def _joined(parts: list[Part]) -> Part:
    return Part(*(np.concatenate([getattr(one, field) for one in parts]) for field in ("X", "y", "qid")))


def _linear(make: Callable[[float], Any]) -> Method:
    def fit(learn: Part, choose: Part) -> Score:
        def quality(model: Any) -> float:  # noqa: ANN401 - an estimator
            return float(choose.ndcg(model.decision_function(choose.X), 10).mean())

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # of a C that is far too large
            models = [make(C).fit(learn.X, learn.y, qid=learn.qid) for C in C_GRID]
        score: Score = max(models, key=quality).decision_function
        return score

    return fit


def _lightgbm(learn: Part, choose: Part) -> Score:
    """Lambdarank with early stopping on the validation queries, the size of its trees chosen there too."""
    import lightgbm

    def fitted(leaves: int, at_least: int) -> Any:  # noqa: ANN401 - an estimator
        model = lightgbm.LGBMRanker(
            n_estimators=500, learning_rate=0.05, num_leaves=leaves, min_child_samples=at_least, random_state=0,
            n_jobs=1, verbose=-1,
        )  # fmt: skip
        sizes, sizes_choose = (np.unique(part.qid, return_counts=True)[1] for part in (learn, choose))
        stop = lightgbm.early_stopping(50, verbose=False)
        return model.fit(
            learn.X, learn.y.astype(int), group=sizes, eval_set=[(choose.X, choose.y.astype(int))],
            eval_group=[sizes_choose], eval_at=[10], callbacks=[stop],
        )  # fmt: skip

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The argument 'eval_set' is deprecated")  # older ones know no other
        models = [fitted(*setting) for setting in product((4, 8, 16, 31), (5, 20, 50))]
    score: Score = max(models, key=lambda model: float(choose.ndcg(model.predict(choose.X), 10).mean())).predict
    return score


METHODS: dict[str, Method] = {
    "NdcgRanker": _linear(lambda C: NdcgRanker(10, C)),
    "NdcgRanker, no pairs": _linear(lambda C: NdcgRanker(10, C, pairs=0.0)),
    "RankSVM": _linear(lambda C: RankSVM(C, random_state=0)),
    "LightGBM lambdarank": _lightgbm,
}


def oracle_speed(n_rows: int = 1_000_000, repeats: int = 15) -> list[dict[str, Any]]:
    """The most violating labelling for precision at k on a million rows beside one np.sort of the scores; medians."""
    rng = np.random.default_rng(0)
    scores, labels = rng.normal(size=n_rows), rng.random(n_rows) < 0.1
    rows = []
    for k in (100, n_rows // 40, n_rows // 10, n_rows // 2):
        measure = PrecisionAtK(k)
        times = np.array(
            [
                [_seconds(lambda: np.sort(scores)), _seconds(lambda m=measure: m.most_violating(scores, labels))]  # type: ignore[misc]
                for _ in range(repeats)
            ]
        )
        sort, oracle = np.median(times, axis=0).tolist()
        milliseconds = {"np.sort ms": 1e3 * sort, "oracle ms": 1e3 * oracle}
        rows.append({"rows": n_rows, "k": k, **milliseconds, "ratio": oracle / sort})
    return rows


def _seconds(work: Callable[[], object]) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start
