"""What is searched: the topics of RCV1 that the paper chose, or a small made-up collection of the same kind."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from riffler.data.atomic import atomic_write
from riffler.data.collection import Collection
from riffler.data.texts import Texts
from riffler.errors import UnknownName
from riffler.evaluation.search_problem import Problem
from riffler.records import Matrix

if TYPE_CHECKING:
    from riffler.features.clusters import SoftClusters

DATA = "rcv1v2-subsets"


def news(topics: Sequence[str]) -> dict[str, Problem]:
    """Load the searches for topics of RCV1, all in the same rows; DataSetMissing where it is not here."""
    from riffler import datasets

    X = datasets.load(DATA, positive=topics[0]).X
    folder = datasets.path(DATA)
    codes = (folder / "topic_codes.txt").read_text(encoding="utf-8").split()
    for topic in topics:
        if topic not in codes:
            raise UnknownName.among("topic", topic, codes)
    labels = _topics_of_rows(folder / datasets.info(DATA).parts["train"].file)
    collection = _nameless(X.shape[0], DATA)
    return {
        topic: Problem(topic, collection, np.array([codes.index(topic) in row for row in labels], dtype=np.int8), X)
        for topic in topics
    }


def made_up(topics: Sequence[str], n_items: int = 1500, n_facets: int = 5, seed: int = 0) -> dict[str, Problem]:
    """Make documents of 30 subjects with words of their own; what is sought are some whole subjects, a few each.

    >>> {name: (one.n_items, one.n_relevant) for name, one in made_up(["A", "B"]).items()}
    {'A': (1500, 85), 'B': (1500, 78)}
    """
    from scipy import sparse
    from sklearn.preprocessing import normalize

    rng = np.random.default_rng(seed)
    n_subjects, own = 30, 12
    # the first subjects, which hold what is sought, are rare
    sizes = np.r_[np.full(len(topics) * n_facets, 1.0), np.full(n_subjects - len(topics) * n_facets, 4.0)]
    subject = rng.choice(n_subjects, size=n_items, p=sizes / sizes.sum())
    words = np.where(
        rng.random((n_items, 15)) < 0.4,
        subject[:, None] * own + rng.integers(0, own, (n_items, 15)),
        n_subjects * own + rng.integers(0, 300, (n_items, 15)),
    )
    rows = np.repeat(np.arange(n_items), 15)
    X = sparse.csr_matrix(
        (np.ones(rows.size, dtype=np.float32), (rows, words.ravel())), (n_items, n_subjects * own + 300)
    )
    collection, features = _nameless(n_items, "made up"), normalize(X)
    return {
        topic: Problem(topic, collection, (subject // n_facets == place).astype(np.int8), features)
        for place, topic in enumerate(topics)
    }


def clusters_of(features: Matrix, n_clusters: int, fingerprint: str, folder: Path | None) -> SoftClusters:
    """Fit LDA, or take the memberships that an earlier run left in the folder."""
    from scipy import sparse

    from riffler.features.clusters import SoftClusters, soft_clusters

    path = None if folder is None else folder / f"active-search-lda-{n_clusters}-{fingerprint}.npz"
    if path is not None and path.exists():
        return SoftClusters(sparse.csr_matrix(sparse.load_npz(path)), "lda")
    made = soft_clusters(features, method="lda", n_clusters=n_clusters, seed=0)
    if path is not None:
        with atomic_write(path) as draft, draft.open("wb") as file:
            sparse.save_npz(file, made.memberships)
    return made


def fingerprint_of(features: Matrix) -> str:
    """A short text that changes with the features."""
    from hashlib import sha256

    digest = sha256(np.ascontiguousarray(features.data).data)
    digest.update(np.ascontiguousarray(features.indices).data)
    return digest.hexdigest()[:8]


def _topics_of_rows(path: Path) -> list[set[int]]:
    """Numbers of the topics of each row: the first field of its line."""
    from riffler.data.opening import open_bytes

    with open_bytes(path) as lines:
        return [{int(one) for one in line.split(maxsplit=1)[0].split(b",")} for line in lines if b":" in line]


def _nameless(n_items: int, source: str) -> Collection:
    """Items that are rows of features only, named by their number."""
    import polars as pl

    blank = Texts(pl.Series([""], dtype=pl.String).new_from_index(0, n_items))
    ids = tuple(str(row) for row in range(n_items))
    return Collection(ids, blank, blank, None, pl.DataFrame(), source)
