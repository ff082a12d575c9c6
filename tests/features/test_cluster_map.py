"""A map of a collection: like items together, with words of their own, on a plane where no bubble hides another."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from riffler import InputError, TextFeatures
from riffler.features.cluster_map import ClusterMap, cluster_map

TOPICS = {
    "snow": ["snow", "ice", "alps", "winter", "ski"],
    "sea": ["sea", "wave", "ship", "harbour", "fish"],
    "market": ["market", "bond", "price", "trade", "stock"],
    "music": ["music", "song", "violin", "opera", "tune"],
}


def texts(n: int = 400, seed: int = 0) -> tuple[list[str], list[str]]:
    rng = np.random.default_rng(seed)
    names = list(TOPICS)
    homes = [names[int(one)] for one in rng.choice(4, n, p=[0.4, 0.3, 0.2, 0.1])]
    return [" ".join([*rng.choice(TOPICS[home], 6), "the", "of", "report"]) for home in homes], homes


def mapped(n_clusters: int | None = 4, n: int = 400) -> tuple[ClusterMap, list[str]]:
    words, homes = texts(n)
    features = TextFeatures(ngram_range=(1, 2), stop_words=None, min_df=2)
    return cluster_map(features.fit_transform(words), features.feature_names(), n_clusters, seed=1), homes


def test_topics_are_clusters_with_their_own_words() -> None:
    made, homes = mapped()
    for at in range(made.n_clusters):
        inside = [home for home, cluster in zip(homes, made.cluster_of, strict=True) if cluster == at]
        topic = max(set(inside), key=inside.count)
        assert inside.count(topic) > 0.95 * len(inside)
        assert len(made.words[at]) == 3
        assert set(" ".join(made.words[at]).split()) <= set(TOPICS[topic])


def test_sizes_fall_and_add_up_and_bubbles_do_not_overlap() -> None:
    made, _ = mapped(n_clusters=None)
    assert made.n_clusters == 8
    assert made.size.tolist() == sorted(made.size.tolist(), reverse=True)
    np.testing.assert_array_equal(np.bincount(made.cluster_of), made.size)
    gaps = np.hypot(made.x[:, None] - made.x, made.y[:, None] - made.y)
    close = gaps < made.radius[:, None] + made.radius - 1e-3
    assert not (close & ~np.eye(made.n_clusters, dtype=bool)).any()
    np.testing.assert_allclose(made.radius**2 / made.size, made.radius[0] ** 2 / made.size[0])


def test_like_clusters_lie_close_to_each_other() -> None:
    """Two clusters share half of their words, a third has none of these."""
    rng = np.random.default_rng(0)
    rows = np.zeros((300, 30))
    for at, columns in enumerate((range(10), range(5, 15), range(20, 30))):
        rows[100 * at : 100 * at + 100, list(columns)] = 1.0 + 0.1 * rng.random((100, 10))
    made = cluster_map(sparse.csr_matrix(rows.astype(np.float32)), n_clusters=3)
    first, second, far = (int(made.cluster_of[row]) for row in (0, 100, 200))

    def gap(a: int, b: int) -> float:
        return float(np.hypot(made.x[a] - made.x[b], made.y[a] - made.y[b]))

    assert gap(first, second) < min(gap(first, far), gap(second, far))
    assert made.words == ((), (), ())


def test_the_same_seed_gives_the_same_map() -> None:
    first, again = mapped()[0], mapped()[0]
    np.testing.assert_array_equal(first.cluster_of, again.cluster_of)
    np.testing.assert_array_equal(first.x, again.x)
    assert first.words == again.words


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
def test_rows_without_features_are_on_the_map_too(make: object) -> None:
    assert callable(make)
    rows = np.zeros((12, 3), dtype=np.float32)
    rows[:4, 0], rows[4:9, 1] = 1.0, 1.0
    made = cluster_map(make(rows), ["a1", "b1", "c1"], n_clusters=2)
    assert len(set(made.cluster_of[9:].tolist()) | set(made.cluster_of[:2].tolist())) == 2
    assert made.size.sum() == 12
    empty = cluster_map(make(np.zeros((5, 3), dtype=np.float32)))
    assert empty.size.tolist() == [5]
    one = cluster_map(make(rows[:1]))
    assert (one.size.tolist(), one.x.tolist()) == ([1], [0.5])


def test_what_cannot_be_mapped_is_refused() -> None:
    with pytest.raises(InputError, match="got 3 names, and X has 2 columns"):
        cluster_map(np.eye(2), ["a", "b", "c"])
    with pytest.raises(InputError, match="n_clusters must be at least 1"):
        cluster_map(np.eye(4), n_clusters=0)
