"""Any number of documents with the term statistics of real texts, written to files a stretch at a time.

A document is of one topic. It is put together from short runs of neighbouring words of real texts, most of that topic,
so words are as frequent, as bursty and as often together as they really are; and from a few rare words that others
hardly have, as names and numbers are, so that the vocabulary goes on growing. Common English words are left out: what
is written is what is indexed. The runs come from the public sets that are there (RIFFLER_DATA), else from docstrings.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from riffler import datasets
from riffler.data import load_collection
from riffler.data.atomic import atomic_write
from riffler.data.docstrings import docstrings
from riffler.features.stop_words import resolve_stop_words

SETS = {"reuters21578": "labels", "20newsgroups": "labels", "debian-packages": "labels"}
RUN = 6  # words that stay together
OWN_SHARE = 0.6  # runs that are of the topic of the document
N_WORDS = (60, 87)  # of a document, rare ones not counted; about 70 of them are different
N_RARE = 3
N_RARE_WORDS = 3_000_000
N_TITLE = 8
STRETCH = 50_000  # documents that are made at a time
FILE = 1_000_000  # documents of a file
FEWEST = 3_000  # words that a topic must have
SOUGHT_SHARE = 0.005
WORD = re.compile(r"[a-z]{2,}")


@dataclass(frozen=True)
class RealWords:
    """Words of real texts, one after the other, sorted by topic.

    words : the distinct ones
    stream : their numbers, as they follow one another
    bounds : where each topic begins, and the end
    """

    words: pl.Series
    stream: NDArray[np.int32]
    bounds: NDArray[np.int64]
    source: str

    @property
    def n_topics(self) -> int:
        """Topics."""
        return len(self.bounds) - 1

    @cached_property
    def chances(self) -> NDArray[np.float64]:
        """How often each topic is drawn: the one that is sought rarely, others by the root of their length."""
        by_length = np.sqrt(np.diff(self.bounds).astype(float))
        by_length[self.sought] = 0
        chances: NDArray[np.float64] = (1 - SOUGHT_SHARE) * by_length / by_length.sum()
        chances[self.sought] = SOUGHT_SHARE
        return chances

    @cached_property
    def sought(self) -> int:
        """The topic whose documents are relevant: the one of middle length."""
        lengths = np.diff(self.bounds)
        return int(np.argsort(lengths)[len(lengths) // 2])

    @classmethod
    def load(cls) -> RealWords:
        """Read the public sets that are there, else the docstrings of this machine."""
        here = [name for name in SETS if os.environ.get("RIFFLER_DATA") and name in datasets.present()]
        found: dict[str, list[str]] = {}
        for name in here:
            items = load_collection(name)
            for topics, text in zip(items.columns[SETS[name]], items.texts, strict=True):
                found.setdefault(f"{name} {(topics or '').split('|')[0]}", []).append(text)
        if not here:
            items = docstrings()
            for topic, text in zip(items.columns["topic"], items.texts, strict=True):
                found.setdefault(topic, []).append(text)
        return cls.of_texts(found, ", ".join(here) or "docstrings")

    @classmethod
    def of_texts(cls, texts: dict[str, list[str]], source: str) -> RealWords:
        """Take texts apart, a topic after the other; topics of a few words are left out."""
        left_out = set(resolve_stop_words("english"))
        streams = [[word for text in own for word in WORD.findall(text.lower())] for own in texts.values()]
        streams = [[word for word in stream if word not in left_out] for stream in streams]
        streams = [stream for stream in streams if len(stream) >= FEWEST]
        everything = pl.Series([word for stream in streams for word in stream])
        words = everything.unique(maintain_order=True)
        numbers = dict(zip(words, range(len(words)), strict=True))
        stream = np.fromiter((numbers[word] for word in everything), np.int32, len(everything))
        return cls(words, stream, np.cumsum([0, *map(len, streams)]), source)


def write_documents(folder: Path, n: int, seed: int) -> list[Path]:
    """Write n documents as CSV (id, title, abstract, label), a million a file; files that are there stay."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"documents-{seed}-{first:09}-{min(FILE, n - first)}.csv" for first in range(0, n, FILE)]
    real = None if all(path.exists() for path in paths) else RealWords.load()
    for number, path in enumerate(paths):
        if real is not None and not path.exists():
            first = number * FILE
            with atomic_write(path) as draft, draft.open("wb") as stream:
                for frame in frames(real, first, min(n, first + FILE), seed):
                    frame.write_csv(stream, include_header=stream.tell() == 0)
    return paths


def frames(real: RealWords, first: int, end: int, seed: int) -> Iterator[pl.DataFrame]:
    """Documents from one number to another, a stretch at a time; a stretch depends on its place and the seed only."""
    starts = [*range(first, end, STRETCH), end]
    for start, stop in pairwise(starts):
        yield _frame(real, start, stop - start, np.random.default_rng((seed, start)))


def _frame(real: RealWords, first: int, n: int, rng: np.random.Generator) -> pl.DataFrame:
    topics = rng.choice(real.n_topics, size=n, p=real.chances)
    n_words = rng.integers(*N_WORDS, size=n)
    n_runs = -(-n_words // RUN)
    of = np.repeat(np.arange(n), n_runs)
    own = rng.random(len(of)) < OWN_SHARE
    low = np.where(own, real.bounds[topics[of]], 0)
    high = np.where(own, real.bounds[topics[of] + 1], len(real.stream)) - RUN
    begins = low + (rng.random(len(of)) * (high - low)).astype(np.int64)
    codes = real.stream[begins[:, None] + np.arange(RUN)].ravel()
    texts = _joined(real.words, codes, n_runs * RUN, n_words)
    rare = (N_RARE_WORDS ** rng.random((N_RARE, n))).astype(np.int64)
    parts = [pl.format("x{}", pl.lit(pl.Series(numbers))) for numbers in rare]
    heads = real.stream[begins[np.cumsum(n_runs) - n_runs][:, None] + np.arange(RUN)].ravel()
    return pl.select(
        id=pl.format("d{}", pl.int_range(first, first + n, dtype=pl.Int64)),
        title=pl.lit(_joined(real.words, heads, np.full(n, RUN), np.full(n, RUN))),
        abstract=pl.concat_str([pl.lit(texts), *parts], separator=" "),
        label=pl.lit(pl.Series((topics == real.sought).astype(np.int8))),
    )


def _joined(words: pl.Series, codes: NDArray[Any], lengths: NDArray[Any], wanted: NDArray[Any]) -> pl.Series:
    """Words of numbers as texts: of each stretch of codes the first few that are wanted."""
    starts = np.cumsum(lengths) - lengths
    within = np.arange(len(codes)) - np.repeat(starts, lengths)
    kept = codes[within < np.repeat(wanted, lengths)]
    of = np.repeat(np.arange(len(lengths)), wanted)
    frame = pl.DataFrame({"of": of, "word": words.gather(kept)})
    return frame.group_by("of", maintain_order=True).agg(pl.col("word").str.join(" "))["word"]
