"""What a search stands on: the rows of its collection, in memory or on disk, and their scores before any answer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from riffler.data.collection import Collection
from riffler.disk import DiskCollection
from riffler.engine import Engine, LocalEngine, TlsFiles, engine_from, rows_on_disk
from riffler.errors import InputError
from riffler.features.bm25 import bm25_scores
from riffler.features.clusters import SoftClusters
from riffler.records import FloatArray, Matrix
from riffler.search import policy_name
from riffler.search.features import SearchFeatures, checked_features
from riffler.search.hashed_words import HashedWords
from riffler.search.learner import LeanLearner, Learner
from riffler.search.mix import Mix
from riffler.search.ranking import LinearScores, Ranking, Scores
from riffler.search.view import Policy


@dataclass(frozen=True, slots=True, eq=False)
class Ground:
    """Rows of a collection and where they are scored.

    features : rows in memory and what their columns mean; None for those of a collection on disk
    start : scores by the description, or all equal
    hint : the scores by the description where they are kept
    learner : how scores are learned
    words : behind hashed columns
    owned : an engine that was made for this search, and ends with it
    """

    engine: Engine
    features: SearchFeatures | None
    start: Ranking
    hint: FloatArray | None
    learner: type[Learner]
    words: HashedWords | None = None
    owned: Engine | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """Where the heavy steps run: the name of an engine, and the certificates that it needs."""

    engine: str = "local"
    tls: TlsFiles | None = None


def ground_in_memory(
    collection: Collection, features: Matrix | SearchFeatures | None, description: str | None, engine: str | Engine
) -> Ground:
    """Make the rows of a collection in memory, or take those given."""
    if engine != "local":
        raise InputError(
            f"A collection in memory is searched by the local engine, got engine={engine!r}. Index it first "
            "(riffler index), and search the collection on disk."
        )
    made = checked_features(collection, features)
    hint = None if description is None else bm25_scores(collection.texts, description)
    start = Scores(np.zeros(collection.n_items) if hint is None else hint)
    return Ground(LocalEngine([made.rows]), made, start, hint, Learner)


def ground_on_disk(
    collection: DiskCollection,
    features: Matrix | SearchFeatures | None,
    description: str | None,
    place: Place | Engine,
) -> Ground:
    """Take the rows of a collection on disk; those that are like a description come first until something is known."""
    if features is not None:
        raise InputError(f"{collection.source} has rows of its own. Leave out features, or search in memory.")
    weights = np.zeros(collection.n_columns)
    if description is not None:
        row = collection.vectoriser.transform([description])
        if row.nnz == 0:
            raise InputError(
                f"The description {description!r} has no word of two or more letters that is no stop word. Describe "
                "what is sought in a few words, or leave the description out."
            )
        weights[row.indices] = row.data
    is_new = isinstance(place, Place)
    engine = engine_from(place.engine, rows_on_disk(collection), place.tls) if isinstance(place, Place) else place
    if (engine.n_rows, engine.n_columns) != (collection.n_items, collection.n_columns):
        raise InputError(
            f"The engine must have the {collection.n_items:,} rows of {collection.n_columns:,} columns of "
            f"{collection.source}, got {engine.n_rows:,} of {engine.n_columns:,}. Make it of rows_on_disk(collection)."
        )
    start, words = LinearScores(engine, weights, 0.0), HashedWords(collection, engine)
    return Ground(engine, None, start, None, LeanLearner, words, engine if is_new else None)


def clusters_on_disk(collection: DiskCollection, policy: Policy) -> SoftClusters | None:
    """Return the soft clusters that a collection was indexed with where a policy uses them; None where it does not."""
    from scipy import sparse

    if not uses_clusters(policy):
        return None
    check_clusters_on_disk(collection, policy)
    parts = [part for block in collection.blocks if (part := block.memberships) is not None]
    return SoftClusters(sparse.vstack(parts, format="csr"), "kmeans")


def check_clusters_on_disk(collection: DiskCollection, policy: Policy) -> None:
    """Refuse a policy that uses soft clusters where a collection has none: it would be another policy."""
    if uses_clusters(policy) and not collection.manifest.clusters:
        raise InputError(
            f"The policy {policy_name(policy)!r} uses soft clusters, and {collection.source} has none. Find some: "
            f"riffler reindex {collection.source} --clusters 200."
        )


def uses_clusters(policy: Policy) -> bool:
    """Tell whether a policy, or a part of a mix, looks at soft clusters."""
    if isinstance(policy, Mix):
        return any(uses_clusters(part) for part, _ in policy.parts)
    return bool(getattr(policy, "uses_clusters", False))
