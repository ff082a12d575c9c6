"""A small collection to search: relevant texts share words that others seldom have, in two facets."""

from __future__ import annotations

import numpy as np
import polars as pl

from riffler.data import Collection, collection_from_frame
from riffler.evaluation.search_problem import Problem, text_problem

RELEVANT_WORDS = (["snow", "alps", "ski", "slope", "ice"], ["reef", "coral", "diving", "fish", "lagoon"])
OTHER_WORDS = [
    "tax",
    "court",
    "price",
    "market",
    "wheat",
    "train",
    "city",
    "music",
    "garden",
    "window",
    "paper",
    "salt",
]


def frame(n_items: int = 120, n_relevant: int = 15, seed: int = 0) -> pl.DataFrame:
    """Rows with id, title, abstract, label_included and topics; relevant ones first, as in some files."""
    rng = np.random.default_rng(seed)
    rows = []
    for number in range(n_items):
        relevant = number < n_relevant
        words = rng.choice(OTHER_WORDS, size=6).tolist()
        if relevant or rng.random() < 0.1:
            words += rng.choice(RELEVANT_WORDS[number % 2], size=3 if relevant else 1).tolist()
        topics = "|".join(sorted({word for word in words if word in ("wheat", "music")}))
        rows.append((f"d{number}", " ".join(words[-2:]), " ".join(words), int(relevant), topics))
    return pl.DataFrame(rows, schema=["id", "title", "abstract", "label_included", "topics"], orient="row")


def collection(n_items: int = 120, n_relevant: int = 15, seed: int = 0) -> Collection:
    return collection_from_frame(frame(n_items, n_relevant, seed), source="toy")


def problem(n_items: int = 120, n_relevant: int = 15, seed: int = 0) -> Problem:
    return text_problem(collection(n_items, n_relevant, seed))
