"""How good a tagger is: chunks by type with intervals over sentences; and which C is best on sentences held out."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.base import clone

from riffler.data.conll import TaggedText
from riffler.errors import InputError
from riffler.learners.chain_tagger import ChainTagger, are_chunk_tags
from riffler.metrics.bootstrap import BootstrapInterval
from riffler.metrics.chunks import (
    ChunkScore,
    Taggings,
    chunk_f1_intervals,
    chunk_scores,
    others_outside,
    token_accuracy,
)

HELD_OUT = 0.1
GRID = (30.0, 100.0, 300.0, 1000.0, 3000.0)
ROUGH = 0.05
"""The tolerance that is enough to compare values of C."""

ALL = "all"


@dataclass(frozen=True, slots=True)
class ChunkRow:
    """Chunks of one type, or of all: precision, recall, and F1 with its interval."""

    type: str
    n_true: int
    n_predicted: int
    n_correct: int
    precision: float
    recall: float
    f1: BootstrapInterval


@dataclass(frozen=True, slots=True)
class TaggingReport:
    """Of the tags of some sentences: the share that is right, and, where tags of chunks were learned, the chunks."""

    n_sentences: int
    n_tokens: int
    token_accuracy: float
    overall: ChunkRow | None  # None where the tags that were learned are not those of chunks
    by_type: tuple[ChunkRow, ...]


@dataclass(frozen=True, slots=True)
class Tried:
    """A value of C, and how well it did on the sentences held out."""

    C: float
    score: float


def tagging_report(
    true: Taggings, predicted: Taggings, labels: Sequence[Hashable], *, n_resamples: int = 1000, seed: int = 0
) -> TaggingReport:
    """Measure what a tagger that knows these labels predicted; a true tag that is none of chunks is outside of them.

    >>> tagging_report([["B-NP", "I-NP", "?"]], [["B-NP", "I-NP", "B-NP"]], ["B-NP", "I-NP", "O"]).overall.precision
    0.5
    """
    n_tokens, accuracy = sum(map(len, true)), token_accuracy(true, predicted)
    if not are_chunk_tags(labels):
        return TaggingReport(len(true), n_tokens, accuracy, None, ())
    chunks = others_outside(true)
    scores = chunk_scores(chunks, predicted)
    intervals = chunk_f1_intervals(chunks, predicted, n_resamples=n_resamples, seed=seed)
    rows = tuple(_row(kind, score, intervals.by_type[kind]) for kind, score in scores.by_type.items())
    overall = _row(ALL, scores.overall, intervals.overall)
    return TaggingReport(len(true), n_tokens, accuracy, overall, rows)


def hold_out(text: TaggedText, seed: int, share: float = HELD_OUT) -> tuple[TaggedText, TaggedText]:
    """Draw a share of the sentences, at least one; give the others and those, both in the order of the file."""
    n = len(text.sentences)
    if n < 2:
        raise InputError(f"{text.source}: one sentence cannot be split. Pass a test file, or more sentences.")
    drawn = np.zeros(n, dtype=np.bool_)
    drawn[np.random.default_rng(seed).permutation(n)[: max(1, round(share * n))]] = True
    return text.part(np.flatnonzero(~drawn).tolist()), text.part(np.flatnonzero(drawn).tolist())


def choose_c(
    tagger: ChainTagger,
    text: TaggedText,
    *,
    seed: int = 0,
    grid: Sequence[float] = GRID,
    tell: Callable[[float, str], None] | None = None,
) -> tuple[float, list[Tried]]:
    """Try values of C on a tenth of the sentences, held out; give the best and all that was tried.

    ``tell`` is called with the share done and what is going on.
    """
    train, part = hold_out(text, seed)
    tried: list[Tried] = []
    for number, C in enumerate(grid):
        if tell is not None:
            tell(number / len(grid), f"trying C = {C:g}")
        one = clone(tagger).set_params(C=C, tol=max(ROUGH, tagger.tol), progress=None)
        one.fit(train.sentences, train.tags or [])
        tried.append(Tried(C, one.score(part.sentences, part.tags or [])))
    return max(tried, key=lambda trial: (trial.score, -trial.C)).C, tried


def _row(kind: str, score: ChunkScore, f1: BootstrapInterval) -> ChunkRow:
    return ChunkRow(kind, score.n_true, score.n_predicted, score.n_correct, score.precision, score.recall, f1)
