"""Records like those of a bibliography, made from docstrings: sentences of one topic, some of others, and rare words.

The texts have real term statistics, because their sentences are real, and more distinct words than the docstrings,
because every record has some of its own. The truth is the topic.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import polars as pl

from riffler.data.docstrings import docstrings

N_SENTENCES = (5, 12)
OTHER_SHARE = 0.25  # sentences that are of any topic
SOUGHT = "scipy.stats"
SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n\s*\n")


def write_records(path: Path, n: int, seed: int) -> None:
    """Write n records as CSV: id, title, abstract, year, topic."""
    rng = np.random.default_rng(seed)
    by_topic = _sentences()
    topics = sorted(by_topic, key=lambda topic: (-len(by_topic[topic]), topic))
    everything = [sentence for topic in topics for sentence in by_topic[topic]]
    chance = np.sqrt([len(by_topic[topic]) for topic in topics])  # small topics are not too rare
    of = rng.choice(len(topics), size=n, p=chance / chance.sum())
    abstracts = [_abstract(by_topic[topics[at]], everything, rng) for at in of]
    pl.DataFrame(
        {
            "id": [f"r{row}" for row in range(n)],
            "title": [_title(text) for text in abstracts],
            "abstract": abstracts,
            "year": rng.integers(1990, 2026, size=n),
            "topic": [topics[at] for at in of],
        }
    ).write_csv(path)


def _sentences() -> dict[str, list[str]]:
    items = docstrings()
    found: dict[str, list[str]] = {}
    for topic, text in zip(items.columns["topic"], items.texts, strict=True):
        parts = (" ".join(part.split()) for part in SENTENCE_END.split(text))
        found.setdefault(topic, []).extend(part for part in parts if 30 < len(part) < 400)
    return {topic: parts for topic, parts in found.items() if len(parts) > 20}


def _abstract(own: list[str], everything: list[str], rng: np.random.Generator) -> str:
    n = int(rng.integers(*N_SENTENCES))
    drawn = [(everything if other else own) for other in rng.random(n) < OTHER_SHARE]
    chosen = [part[int(rng.integers(len(part)))] for part in drawn]
    rare = f"w{int(200_000 ** rng.random())} w{int(rng.integers(10**6))}"
    return " ".join([*chosen, rare])


def _title(text: str) -> str:
    return " ".join(text.split()[:10])
