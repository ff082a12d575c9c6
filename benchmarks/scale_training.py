"""Rankers that learn from rows on disk and from the same rows in memory: results, memory, time."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scale_index import collection_of, folder_of
from scale_memory import PeakOfOwn, in_new_process
from scale_steps import first_blocks
from scipy import sparse

from riffler.disk import open_collection
from riffler.features.blocked_rows import BlockedRows
from riffler.learners.rank_svm import RankSVM
from riffler.learners.sgd_at_k import SGDAtK
from riffler.learners.top_k_ranker import TopKRanker

RANKERS: dict[str, Callable[[int], Any]] = {
    "SGDAtK": lambda seed: SGDAtK(k=0.5, n_epochs=2, random_state=seed),
    "RankSVM": lambda seed: RankSVM(C=10.0, random_state=seed),
    "TopKRanker": lambda seed: TopKRanker(k=0.5, random_state=seed),
}


def measure_training(out: Path, n: int, n_collection: int, seed: int, methods: Sequence[str]) -> list[dict[str, Any]]:
    """Fit each ranker in two processes of its own, out of core and in memory, on the first n rows of a collection."""
    collection_of(out, n_collection, seed)
    folder = folder_of(out, n_collection, seed)
    found = []
    for method in methods:
        blocked, whole = (in_new_process(_fitted, (folder, n, method, seed, where)) for where in ("blocks", "memory"))
        apart = float(np.abs(blocked["weights"] - whole["weights"]).max() / np.abs(whole["weights"]).max())
        same = float(np.mean(np.isin(blocked["top"], whole["top"])))
        row = {
            "method": method, "rows": n, "row_mb": blocked["row_mb"], "difference": apart, "same_top": same,
            **{f"{where}_{key}": one[key] for where, one in (("blocks", blocked), ("memory", whole))
               for key in ("seconds", "peak_own_mb")},
        }  # fmt: skip
        found.append(row)
        print(
            f"training: {method}, {n:,} rows of {row['row_mb']:,.0f} MB: out of core {row['blocks_seconds']:.0f} s and "
            f"at most {row['blocks_peak_own_mb']:,.0f} MB of its own, in memory {row['memory_seconds']:.0f} s and "
            f"{row['memory_peak_own_mb']:,.0f} MB; weights differ by {apart:.1e} of the largest, {100 * same:.1f} % of "
            f"the first 1,000 are the same",
            flush=True,
        )
    return found


def _fitted(folder: Path, n: int, method: str, seed: int, where: str) -> dict[str, Any]:
    collection = open_collection(folder)
    assert collection.labels is not None
    labels = collection.labels[:n] == 1
    blocks = first_blocks(collection, n)
    row_mb = sum(block.data.nbytes + block.indices.nbytes + block.indptr.nbytes for block in blocks) / 1e6
    with PeakOfOwn() as peak:
        X: Any = BlockedRows(blocks) if where == "blocks" else sparse.vstack(blocks, format="csr")
        start = time.perf_counter()
        ranker = RANKERS[method](seed).fit(X, labels)
        seconds = time.perf_counter() - start
        scores = np.asarray(ranker.decision_function(X))
    weights = np.ravel(ranker.coef_)
    return {
        "seconds": seconds, "peak_own_mb": peak.megabytes, "weights": weights, "row_mb": row_mb,
        "top": np.argsort(-scores, kind="stable")[:1000],
    }  # fmt: skip
