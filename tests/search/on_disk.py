"""Labelled documents in collections on disk, for searches, and a search that is answered by the labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from riffler.disk import DiskCollection, IndexOptions, index_collection, open_collection
from riffler.engine import LocalEngine
from riffler.search.loop import ActiveSearch

SUBJECTS = ("snow alps ski avalanche glacier", "beach sand surf tide palm", "market share bond yield price")
COMMON = ("report", "study", "people", "year", "found", "made", "large", "small", "first", "last", "open", "door")


class NotedEngine(LocalEngine):
    """Knows whether it was closed."""

    is_closed = False

    def close(self) -> None:
        self.is_closed = True


def labelled_documents(n: int, n_relevant: int = 40, seed: int = 0) -> pl.DataFrame:
    """Documents of three subjects, of which the first is relevant and rare; one in twenty has no words."""
    rng = np.random.default_rng(seed)
    relevant = np.zeros(n, dtype=bool)
    relevant[rng.permutation(n)[:n_relevant]] = True

    def text(row: int) -> str:
        if rng.random() < 0.05:
            return ""
        subject = SUBJECTS[0 if relevant[row] else rng.integers(1, 3)].split()
        own = rng.choice(subject, rng.integers(1, 4)).tolist()
        strange = rng.choice(SUBJECTS[rng.integers(3)].split(), 1).tolist()
        return " ".join([*own, *strange, *rng.choice(COMMON, 12).tolist()])

    return pl.DataFrame(
        {
            "id": [f"d{row:05}" for row in range(n)],
            "title": [text(row)[:30] for row in range(n)],
            "abstract": [text(row) for row in range(n)],
            "included": relevant.astype(int),
        }
    )


def repeated_documents(n: int, times: int, seed: int = 0) -> pl.DataFrame:
    """The same texts several times, under ids of their own: only the ids tell which comes first."""
    frame = labelled_documents(n, seed=seed)
    parts = [frame.with_columns(pl.col("id") + f"/{time}") for time in range(times)]
    return pl.concat(parts)


def made_collection(frame: pl.DataFrame, folder: Path, n_items: int, n_clusters: int = 0) -> DiskCollection:
    """Index documents in partitions of ``n_items``, with soft clusters."""
    folder.mkdir(parents=True)
    frame.write_csv(folder / "documents.csv")
    options = IndexOptions(n_items=n_items, n_clusters=n_clusters)
    index_collection(folder / "documents.csv", folder / "collection", options)
    return open_collection(folder / "collection")


def walk(search: ActiveSearch, answers: dict[str, int], n_batches: int = 8, n: int = 20) -> list[list[str]]:
    """Go through some batches, and return what was suggested."""
    asked = []
    for _ in range(n_batches):
        asked.append(search.suggest(n))
        search.answer(asked[-1], [answers[name] for name in asked[-1]])
    return asked


def answers_of(frame: pl.DataFrame) -> dict[str, int]:
    return dict(zip(frame["id"].to_list(), frame["included"].to_list(), strict=True))


SETTINGS: dict[str, Any] = {"stopping": "control", "description": "avalanche in the alps", "seed": 3}
