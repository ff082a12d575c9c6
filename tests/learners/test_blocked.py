"""Rankers that learn from rows on disk find what they find in memory, and hold a few blocks at a time."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from riffler.errors import FeatureMismatch, InputError, LabelError
from riffler.features import blocked_rows
from riffler.features.blocked_rows import BlockedRows, ChosenRows
from riffler.learners import sgd_at_k as sgd_module
from riffler.learners.perceptron_at_k import PerceptronAtK
from riffler.learners.rank_svm import RankSVM
from riffler.learners.sgd_at_k import SGDAtK
from riffler.learners.top_k_ranker import TopKRanker
from riffler.losses import Avg
from riffler.records import IntArray, Matrix
from tests.engine.partitions import cut, on_disk

KINDS = ["float64", "float32", "csr"]


def problem(kind: str, n_rows: int = 1200, seed: int = 0) -> tuple[Matrix, IntArray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 12))
    y = (X[:, 0] + 0.5 * X[:, 1] + 0.7 * rng.normal(size=n_rows) > 1.3).astype(int)
    if kind == "csr":
        return sparse.csr_matrix((X * (np.abs(X) > 0.6)).astype(np.float32)), y
    return X.astype(kind), y


def rankers() -> list[Any]:
    return [
        TopKRanker(k=0.5, max_iter=5, random_state=0),
        SGDAtK(k=0.5, n_epochs=2, batch_size=100, random_state=0),
        SGDAtK(k=20, surrogate=OwnSurrogate(), n_epochs=1, random_state=0),
        RankSVM(C=10.0, random_state=0),
    ]


class OwnSurrogate:
    """A surrogate that no compiled loop knows."""

    def value_and_slope(self, *batch: Any) -> Any:  # noqa: ANN401 - as the surrogate that it wraps
        return Avg().value_and_slope(*batch)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("cuts", [[], [500], [3, 3, 400, 401, 1100]])
def test_blocks_give_the_weights_of_the_whole(kind: str, cuts: list[int], tmp_path: Path) -> None:
    X, y = problem(kind)
    blocks = BlockedRows([on_disk(part, tmp_path, str(at)) for at, part in enumerate(cut(X, cuts))])
    precise = 1e-4 if kind == "float32" else 1e-7 if kind == "csr" else 1e-8
    weight = np.random.default_rng(1).integers(0, 3, len(y))
    for ranker in rankers():
        whole = type(ranker)(**ranker.get_params()).fit(X, y, sample_weight=weight)
        ranker.fit(blocks, y, sample_weight=weight)
        scale = float(np.abs(whole.coef_).max())
        assert_allclose(ranker.coef_, whole.coef_, rtol=0, atol=precise * scale, err_msg=repr(ranker))
        assert_allclose(ranker.decision_function(blocks), whole.decision_function(X), rtol=0, atol=1e-4 * scale * 12)
        assert ranker.score(blocks, y) == pytest.approx(ranker.score(X, y))


def test_where_sparse_blocks_end_makes_no_difference_to_where_a_path_ends() -> None:
    rng = np.random.default_rng(0)
    X: Matrix = sparse.random(6000, 300, density=0.05, format="csr", dtype=np.float32, random_state=rng)
    y = (X @ rng.normal(size=300) + 0.2 * rng.normal(size=6000) > 0.9).astype(int)
    by_class = np.argsort(y, kind="stable")
    X, y = X[by_class], y[by_class]
    whole = TopKRanker(k=0.5, random_state=0).fit(X, y)
    for cuts in ([int(np.sum(y == 0))], [1, 7, 5990], list(range(100, 6000, 100))):
        found = TopKRanker(k=0.5, random_state=0).fit(BlockedRows(cut(X, cuts)), y)
        assert_allclose(found.coef_, whole.coef_, rtol=0, atol=1e-6 * np.abs(whole.coef_).max())


@given(cuts=st.lists(st.integers(0, 300), max_size=5), kind=st.sampled_from(KINDS), seed=st.integers(0, 99))
@settings(max_examples=15, phases=[Phase.generate])
def test_stochastic_steps_are_the_same_bit_for_bit_however_many_rows_are_gathered(
    cuts: list[int], kind: str, seed: int
) -> None:
    X, y = problem(kind, 300, seed)
    blocks = BlockedRows(cut(X, cuts))
    ranker = SGDAtK(k=0.5, n_epochs=2, batch_size=30, random_state=seed)
    whole = ranker.fit(blocks, y).coef_
    with pytest.MonkeyPatch.context() as patched:
        for most in (5000, 100):  # some batches at a time, and less than one of them
            patched.setattr(sgd_module, "GATHERED_BYTES", most)
            patched.setattr(blocked_rows, "GATHERED_BYTES", most)
            patched.setattr(blocked_rows, "STRETCH_BYTES", most)
            assert_array_equal(ranker.fit(blocks, y).coef_, whole)
        assert_allclose(
            ranker.fit(BlockedRows([X]), y).coef_, whole, rtol=1e-5, atol=1e-9
        )  # the unit is summed by blocks


def test_a_stream_of_blocks_is_learned_as_one_of_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = problem("csr")
    monkeypatch.setattr(sgd_module, "GATHERED_BYTES", 1000)
    whole, blocked = (SGDAtK(k=0.5, random_state=0) for _ in range(2))
    for rows in (slice(0, 500), slice(500, 1200)):
        whole.partial_fit(X[rows], y[rows])
        blocked.partial_fit(BlockedRows(cut(X[rows], [100])), y[rows])
    assert_allclose(blocked.coef_, whole.coef_, rtol=1e-5, atol=1e-9)


def test_pairs_start_from_a_part_that_is_not_gathered(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = problem("csr", 6000)
    blocks = BlockedRows(cut(X, [1000, 2500]))
    for most, stretch in ((10**9, 10**9), (100, 2000)):
        monkeypatch.setattr(blocked_rows, "GATHERED_BYTES", most)
        monkeypatch.setattr(blocked_rows, "STRETCH_BYTES", stretch)
        found = RankSVM(C=10.0, random_state=0).fit(blocks, y)
        assert_allclose(found.coef_, RankSVM(C=10.0, random_state=0).fit(X, y).coef_, rtol=1e-4, atol=1e-6)


def test_chosen_rows_are_those_that_were_chosen() -> None:
    X, _ = problem("csr", 300)
    numbers = np.array([5, 17, 299, 0, 17])
    chosen = ChosenRows(BlockedRows(cut(X, [100])), numbers)
    together = sparse.vstack([block for _, _, block in chosen])
    assert_array_equal(together.toarray(), X[numbers].toarray())
    assert_array_equal(chosen[np.array([2, 0])].toarray(), X[[299, 5]].toarray())
    assert (chosen.shape, chosen.dtype, chosen.is_sparse) == ((5, 12), X.dtype, True)


def test_bad_blocks_are_named() -> None:
    X, y = problem("float64", 100)
    for ranker in rankers():
        with pytest.raises(InputError, match=r"\[100, 99\]"):
            ranker.fit(BlockedRows([X]), y[:-1])
        with pytest.raises((LabelError, InputError)):
            ranker.fit(BlockedRows([X]), None)
        with pytest.raises(InputError, match="all float32 or all float64"):
            ranker.fit(BlockedRows([X[:50], X[50:].astype(np.float32)]), y)
        worse = X.copy()
        worse[70, 3] = np.nan
        for bad in (cut(worse, [60]), cut(sparse.csr_matrix(worse), [60])):
            with pytest.raises(InputError, match="X holds nan in row 70, column 3"):
                ranker.fit(BlockedRows(bad), y)
        ranker.fit(BlockedRows([X]), y)
        with pytest.raises(FeatureMismatch, match="X has 5 features"):
            ranker.decision_function(BlockedRows([X[:, :5]]))
    with pytest.raises(InputError, match="PerceptronAtK learns in memory only"):
        PerceptronAtK().fit(BlockedRows([X]), y)
    with pytest.raises(InputError, match="kernel='rbf' learns in memory only"):
        TopKRanker(kernel="rbf").fit(BlockedRows([X]), y)
    twice = sparse.csr_matrix((np.ones(2), np.array([1, 1]), np.array([0, 2, *[2] * 99])), shape=(100, 3))
    with pytest.raises(InputError, match="holds an entry twice"):
        RankSVM().fit(BlockedRows([twice]), y)


FIT = """
import json, sys, threading, time
from pathlib import Path
import numpy as np
from riffler.features.blocked_rows import BlockedRows, ChosenRows, rows_of
from riffler.learners import ranker_from_name
from scipy import sparse

def anonymous():
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith("RssAnon")).split()[1])

def opened(folder, number):
    arrays = [np.load(folder / f"{number}.{part}.npy", mmap_mode="r") for part in ("data", "indices", "indptr")]
    return sparse.csr_matrix(tuple(arrays), shape=(len(arrays[2]) - 1, 2000), copy=False)

def fit(X, y):
    settings = dict(k=0.5, n_epochs=1, max_iter=2, random_state=0)
    ranker_from_name(sys.argv[2], **settings).fit(X, y)

folder = Path(sys.argv[1])
y = np.load(folder / f"y-{sys.argv[4]}.npy")
blocks = [opened(folder, number) for number in range(8)]
import warnings
warnings.simplefilter("ignore")
few = BlockedRows([blocks[0][:2000]])
fit(few, y[:2000])
X = BlockedRows(blocks)
if sys.argv[3] == "part":  # as a hold-out leaves it
    kept = np.flatnonzero(np.random.default_rng(0).random(X.shape[0]) < 0.7)
    X, y = rows_of(X, kept), y[kept]
    assert isinstance(X, ChosenRows)
before, peak, done = anonymous(), 0, False

def watch():
    global peak
    while not done:
        peak = max(peak, anonymous())
        time.sleep(0.002)

watcher = threading.Thread(target=watch)
watcher.start()
fit(X, y)
done = True
watcher.join()
print(json.dumps({"peak": peak - before}))
"""


N_ROWS, N_BLOCKS = 25_000, 8
SHARES = (0.1, 0.0002)
"""Of positives. Where they are rare a batch that has enough of them is long."""


@pytest.fixture(scope="module")
def many_rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write 192 MB of rows, 960 bytes each, and their labels."""
    folder = tmp_path_factory.mktemp("rows")
    rng = np.random.default_rng(0)
    n_entries, width = 120, 16
    for number in range(N_BLOCKS):
        columns = rng.integers(0, width, (N_ROWS, n_entries)) + width * np.arange(n_entries)
        values = rng.random(N_ROWS * n_entries, dtype=np.float32)
        starts = n_entries * np.arange(N_ROWS + 1, dtype=np.int32)
        block = sparse.csr_matrix((values, columns.ravel().astype(np.int32), starts), shape=(N_ROWS, 2000))
        on_disk(block, folder, str(number))
    for share in SHARES:
        y = rng.random(N_BLOCKS * N_ROWS) < share
        y[0] = True
        np.save(folder / f"y-{share}.npy", y.astype(np.int8))
    return folder


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs the memory report of Linux")
@pytest.mark.parametrize("rows", ["all", "part"])
@pytest.mark.parametrize(
    ("name", "share"), [("top-k", 0.1), ("sgd-at-k", 0.1), ("sgd-at-k", 0.0002), ("ranksvm", 0.1), ("ranksvm", 0.0002)]
)
def test_memory_is_that_of_few_blocks_and_vectors(name: str, share: float, rows: str, many_rows: Path) -> None:
    """A fit holds a few blocks, and vectors of at most 240 bytes a row."""
    command = [sys.executable, "-c", FIT, str(many_rows), name, rows, str(share)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    peak = json.loads(done.stdout)["peak"]
    assert peak < 240 * N_BLOCKS * N_ROWS + 64e6, f"{name} held {peak / 1e6:.0f} MB beside 192 MB of rows on disk"
