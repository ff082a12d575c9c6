"""The data of the benchmarks: which sets, which class is positive, and how they are split.

Every set is pooled (official train and test parts together), thinned at random to ``MAX_ROWS`` rows (fewer for wide
dense sets: ``MAX_VALUES``), and split
60 / 20 / 20 into fit, validation and test, stratified, anew for each seed. Sets of at most ``DENSE_COLUMNS`` columns
are made dense and standardised on the fit part; sparse text sets are left as they are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from riffler import datasets
from riffler.errors import DataSetMissing
from riffler.records import IntArray, Matrix, is_sparse

MAX_ROWS = 20_000
MAX_VALUES = 6_000_000  # rows x columns of a dense set
DENSE_COLUMNS = 2000


@dataclass(frozen=True, slots=True)
class Source:
    """A named set of ``riffler.datasets`` and the label that counts as positive (None: the set is binary)."""

    name: str
    positive: str | int | None = None

    @property
    def title(self) -> str:
        """Name in the tables."""
        short = self.name.split("/")[-1]
        return short if self.positive is None else f"{short}:{self.positive}"


# One class of a multi-class set is taken blindly; the classes used while TopKRanker was designed are others.
SOURCES = (
    Source("cod-rna"),
    Source("ijcnn1"),
    Source("a9a"),
    Source("w8a"),
    Source("letter", 15),
    Source("covtype-100k"),
    Source("reuters-moneyfx"),
    Source("sector", 7),
    Source("bank-marketing"),
    Source("kddcup99", 0),
    Source("kddcup99", 17),
    Source("adbench/10_cover"),
    Source("adbench/11_donors"),
    Source("adbench/1_ALOI"),
    Source("adbench/32_shuttle"),
    Source("adbench/28_pendigits"),
    Source("adbench/2_annthyroid"),
    Source("adbench/27_PageBlocks"),
    Source("adbench/17_InternetAds"),
    Source("usps", 3),
    Source("mnist", 5),
    Source("ida-sylva"),
    Source("ida-ada"),
    Source("connect-4", 1),
    Source("optdigits", 9),
    Source("phishing"),
)


@dataclass(frozen=True, slots=True)
class Split:
    """The three parts of one set for one seed: rows of X and y."""

    title: str
    X: Matrix
    y: IntArray
    fit: IntArray
    validation: IntArray
    test: IntArray

    @property
    def learn(self) -> IntArray:
        """Rows of fit and validation."""
        return np.concatenate([self.fit, self.validation])


def load(source: Source, seed: int) -> Split | None:
    """Read, thin, split and scale one set; None where it is not on this machine."""
    try:
        table = datasets.load(source.name, split="all", positive=source.positive, dtype=np.float64)
    except DataSetMissing:
        return None
    X, y = table.X, np.asarray(table.labels()).astype(np.int64)
    rows = np.arange(len(y))
    n_kept = MAX_ROWS if X.shape[1] > DENSE_COLUMNS else min(MAX_ROWS, MAX_VALUES // X.shape[1])
    if len(y) > n_kept:
        rows, _ = train_test_split(rows, train_size=n_kept, stratify=y, random_state=seed)
    learn, test = train_test_split(rows, test_size=0.2, stratify=y[rows], random_state=seed)
    fit, validation = train_test_split(learn, test_size=0.25, stratify=y[learn], random_state=seed)
    rows = np.concatenate([fit, validation, test])
    X, y = X[rows], y[rows]
    places = np.split(np.arange(len(rows)), [len(fit), len(fit) + len(validation)])
    if is_sparse(X) and X.shape[1] <= DENSE_COLUMNS:
        X = X.toarray()
    if not is_sparse(X):
        X = np.ascontiguousarray(StandardScaler().fit(X[: len(fit)]).transform(X))
    return Split(source.title, X, y, *places)
