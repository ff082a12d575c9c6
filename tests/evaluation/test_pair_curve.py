"""Curves of AUC against pairs: more pairs come closer to all pairs, and the chart is one."""

from __future__ import annotations

import time

import numpy as np
import pytest
from scipy import sparse

from riffler.data.table import Schema, Table
from riffler.evaluation.pair_curve import ALL_PAIRS, WARM_UP_ROWS, pair_chart, pair_curves
from riffler.learners.rank_svm import RankSVM


def table(n: int, seed: int, *, csr: bool) -> Table:
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.3).astype(np.int64)
    X = rng.normal(size=(n, 5)) * [1, 10, 100, 1, 1] + y[:, None] * [1, 5, 0, 0, 0]
    rows = sparse.csr_matrix(X / [1, 10, 100, 1, 1]) if csr else X
    return Table(X=rows, y=y, qid=None, ids=np.arange(n), source="made up", schema=Schema(n_features=5, dense=not csr))


@pytest.mark.parametrize("csr", [False, True])
def test_curves_end_near_all_pairs(csr: bool) -> None:
    seen: list[float] = []
    curves = pair_curves(
        table(1000, 0, csr=csr), table(1000, 1, csr=csr), n_pairs=2000, progress=lambda share, _: seen.append(share)
    )
    assert [curve.method for curve in curves] == ["active-pairs (soft-correct)", "active-pairs (random)", ALL_PAIRS]
    assert all(curve.n_pairs[-1] == 2000 for curve in curves[:2])
    assert all(list(curve.seconds) == sorted(curve.seconds) for curve in curves)
    assert max(abs(curve.auc[-1] - curves[-1].auc[0]) for curve in curves) < 0.01
    assert seen == sorted(seen)
    spec = pair_chart(curves).to_dict()
    assert len(spec["hconcat"]) == 2


def test_compiling_is_no_part_of_the_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    fits: list[int] = []
    whole = RankSVM.fit

    def fit(self: RankSVM, X: np.ndarray, *given: object, **named: object) -> RankSVM:
        fits.append(X.shape[0])
        time.sleep(0.5 if len(fits) == 1 else 0.0)  # as if the first fit compiled
        return whole(self, X, *given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(RankSVM, "fit", fit)
    curves = pair_curves(table(1000, 0, csr=False), table(100, 1, csr=False), samplings=["random"], n_pairs=10)
    assert fits == [WARM_UP_ROWS, 1000]
    assert curves[-1].seconds[0] < 0.5
