"""Chunks (named entities, phrases) of tagged sentences: precision, recall and F1.

A chunk begins at B- or S-, and at any other tag that follows O, E-, S-, another type, or the beginning of the sentence
(so IOB1, IOB2 and BIOES are all read; BILOU too, as L- and U- are other names of E- and S-). It is right only if its
first token, its last token and its type are right. With B-, I- and O this is how conlleval counts; where ends have tags
of their own, its rules differ for chunks that are not well formed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from riffler.errors import InputError, LabelError
from riffler.metrics.bootstrap import Bootstrap, BootstrapInterval, PairedDifference
from riffler.metrics.resampling import draws, times_drawn
from riffler.records import BoolArray, FloatArray, IntArray

Taggings = Sequence[Sequence[str]]
"""Of every sentence its tags."""

CHUNK_TAG = re.compile(r"O|[BIESLU](?:-.*)?", re.DOTALL)
LETTERS = ("O", "B", "I", "EL", "SU")  # in BILOU the last token is L-, and a chunk of one token U-


@dataclass(frozen=True, slots=True)
class ChunkScore:
    """How many chunks there are, were predicted, and were predicted rightly.

    >>> ChunkScore(n_true=4, n_predicted=2, n_correct=1).f1
    0.3333333333333333
    """

    n_true: int
    n_predicted: int
    n_correct: int

    @property
    def precision(self) -> float:
        """Share of the predicted chunks that are right; 0 where there is none."""
        return self.n_correct / max(self.n_predicted, 1)

    @property
    def recall(self) -> float:
        """Share of the true chunks that were found; 0 where there is none."""
        return self.n_correct / max(self.n_true, 1)

    @property
    def f1(self) -> float:
        """Harmonic mean of both: 2 * correct / (true + predicted); 0 where there is no chunk."""
        return 2.0 * self.n_correct / max(self.n_true + self.n_predicted, 1)


@dataclass(frozen=True, slots=True)
class ChunkScores:
    """Of all chunks, of those of each type, and the share of tokens whose tag is right."""

    overall: ChunkScore
    by_type: Mapping[str, ChunkScore]  # in alphabetical order
    token_accuracy: float


@dataclass(frozen=True, slots=True)
class ChunkIntervals:
    """F1 with its interval over resampled sentences, of all chunks and of those of each type."""

    overall: BootstrapInterval
    by_type: Mapping[str, BootstrapInterval]


def is_chunk_tag(tag: object) -> bool:
    """Tell whether a tag is O, or B, I, E, S, L or U with a type behind a dash, or without one.

    >>> [is_chunk_tag(tag) for tag in ("B-NP", "O", "I", "NN")]
    [True, True, True, False]
    """
    return isinstance(tag, str) and CHUNK_TAG.fullmatch(tag) is not None


def others_outside(tagging: Sequence[Sequence[object]]) -> list[list[str]]:
    """Give the tags with O for each that is no tag of chunks: no chunk is there.

    >>> others_outside([["B-NP", "X", None]])
    [['B-NP', 'O', 'O']]
    """
    return [[tag if isinstance(tag, str) and is_chunk_tag(tag) else "O" for tag in tags] for tags in tagging]


def chunks_of(tags: Sequence[str]) -> list[tuple[int, int, str]]:
    """Give first token, token after the last, and type of every chunk of one sentence.

    >>> chunks_of(["B-NP", "I-NP", "I-VP", "O", "I-NP", "B-NP"])
    [(0, 2, 'NP'), (2, 3, 'VP'), (4, 5, 'NP'), (5, 6, 'NP')]
    """
    found = _Chunks.of([tags], _Tags.of([tags]))
    types = [found.types[number] for number in found.type]
    return list(zip(found.first.tolist(), found.end.tolist(), types, strict=True))


def chunk_scores(true: Taggings, predicted: Taggings) -> ChunkScores:
    """Compare predicted tags with the true ones, chunk by chunk.

    >>> chunk_scores([["B-NP", "I-NP", "O"]], [["B-NP", "O", "O"]]).overall
    ChunkScore(n_true=1, n_predicted=1, n_correct=0)
    """
    counts = _Counts.of(true, [predicted])
    sums = counts.table[0].sum(axis=0).astype(np.int64)
    scores = {name: ChunkScore(*map(int, sums[number])) for number, name in enumerate(counts.types)}
    return ChunkScores(ChunkScore(*map(int, sums[-1])), scores, token_accuracy(true, predicted))


def token_accuracy(true: Taggings, predicted: Taggings) -> float:
    """Share of tokens whose tag is right; sentences may be of any length, but not all empty.

    >>> token_accuracy([["DT", "NN"], []], [["DT", "VB"], []])
    0.5
    """
    need_same_lengths(true, predicted)
    n_right = sum(one == other for one, other in zip(chain(*true), chain(*predicted), strict=True))
    n_tokens = sum(map(len, true))
    if n_tokens == 0:
        raise InputError("There is no token to measure on. Pass at least one sentence with a token.")
    return n_right / n_tokens


def chunk_f1_intervals(
    true: Taggings, predicted: Taggings, *, n_resamples: int = 1000, level: float = 0.95, seed: int = 0
) -> ChunkIntervals:
    """Percentile intervals of F1 over resampled sentences.

    >>> found = chunk_f1_intervals([["B-NP", "O"]] * 50, [["B-NP", "O"], ["O", "O"]] * 25)
    >>> found.overall.low < found.overall.value < found.overall.high
    True
    """
    counts = _Counts.of(true, [predicted])
    found = counts.bootstrap(n_resamples, level, seed)
    by_type = {name: found.interval(0, number) for number, name in enumerate(counts.types)}
    return ChunkIntervals(found.interval(0, len(counts.types)), by_type)


def chunk_f1_difference(
    true: Taggings,
    predicted_a: Taggings,
    predicted_b: Taggings,
    *,
    n_resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> PairedDifference:
    """Compare the F1 of two taggings of the same sentences on the same resamples.

    >>> true = [["B-NP", "O"]] * 50
    >>> chunk_f1_difference(true, true, [["O", "O"]] * 50).difference
    1.0
    """
    counts = _Counts.of(true, [predicted_a, predicted_b])
    return counts.bootstrap(n_resamples, level, seed).difference(0, 1, len(counts.types))


def need_same_lengths(true: Taggings, predicted: Taggings) -> None:
    """Raise unless both have a tag for each token."""
    if len(true) != len(predicted):
        raise InputError(f"{len(true)} sentences with true tags, {len(predicted)} with predicted ones. Pass the same.")
    for place, (one, other) in enumerate(zip(true, predicted, strict=True)):
        if len(one) != len(other):
            raise InputError(f"Sentence {place} has {len(one)} true tags and {len(other)} predicted ones.")


@dataclass(frozen=True, slots=True, eq=False)
class _Tags:
    """The different tags: number, letter and type of each."""

    number: dict[str, int]
    letter: BoolArray  # of tag and letter, in the order of LETTERS
    type: IntArray
    types: list[str]

    @classmethod
    def of(cls, *taggings: Iterable[Sequence[str]]) -> _Tags:
        known = sorted(set(chain.from_iterable(chain.from_iterable(taggings))), key=str)
        wrong = next((tag for tag in known if not is_chunk_tag(tag)), None)
        if wrong is not None:
            raise LabelError(
                f"Tags must be O, or B-, I-, E-, S-, L- or U- with a type, got {wrong!r}. See token_accuracy."
            )
        types = sorted({tag[2:] for tag in known if tag != "O"})
        letter = np.array([[tag[0] in letters for letters in LETTERS] for tag in known], dtype=np.bool_).reshape(-1, 5)
        of_type = np.array([types.index(tag[2:]) if tag != "O" else -1 for tag in known], dtype=np.int64)
        return cls({tag: number for number, tag in enumerate(known)}, letter, of_type, types)


@dataclass(frozen=True, slots=True, eq=False)
class _Chunks:
    """All chunks of some sentences, by the places of tokens put one after the other."""

    first: IntArray
    end: IntArray  # the place after the last token
    type: IntArray
    types: list[str]

    @classmethod
    def of(cls, tagging: Taggings, tags: _Tags) -> _Chunks:
        lengths = np.fromiter(map(len, tagging), np.int64, len(tagging))
        number = np.fromiter(map(tags.number.__getitem__, chain.from_iterable(tagging)), np.int64, int(lengths.sum()))
        outside, begin, _, finish, single = tags.letter[number].T
        of_type = tags.type[number]
        # whether a chunk may not go on from the token before each place
        cut = np.ones(len(number) + 1, dtype=np.bool_)
        cut[1:-1] = (begin | single | outside)[1:] | (outside | finish | single)[:-1] | (np.diff(of_type) != 0)
        cut[np.cumsum(lengths)] = True
        first = np.flatnonzero(cut[:-1] & ~outside)
        end = np.flatnonzero(cut[1:] & ~outside) + 1
        return cls(first, end, of_type[first], tags.types)


@dataclass(frozen=True, slots=True, eq=False)
class _Counts:
    """True, predicted and correct chunks by tagging, sentence and type; the last type is all of them together."""

    table: FloatArray  # (n_taggings, n_sentences, n_types + 1, 3)
    types: list[str]

    @classmethod
    def of(cls, true: Taggings, taggings: Sequence[Taggings]) -> _Counts:
        for predicted in taggings:
            need_same_lengths(true, predicted)
        if sum(map(len, true)) == 0:
            raise InputError("There is no token to measure on. Pass at least one sentence with a token.")
        tags = _Tags.of(true, *taggings)
        ends = np.cumsum(np.fromiter(map(len, true), np.int64, len(true)))
        truth = _Chunks.of(true, tags)
        table = np.stack([_count(truth, _Chunks.of(predicted, tags), ends) for predicted in taggings])
        return cls(np.concatenate([table, table.sum(axis=2, keepdims=True)], axis=2), tags.types)

    def bootstrap(self, n_resamples: int, level: float, seed: int) -> Bootstrap:
        """F1 of every tagging and type on all sentences and on resamples of them."""
        if n_resamples < 1 or not 0 < level < 1:
            raise InputError(f"Pass n_resamples of 1 or more and a level in (0, 1), got {n_resamples} and {level}.")
        n_taggings, n_sentences, n_types, _ = self.table.shape
        by_sentence = self.table.transpose(1, 0, 2, 3).reshape(n_sentences, -1)
        drawn = [times_drawn(rows) @ by_sentence for rows in draws(n_sentences, n_resamples, seed)]
        resampled = _f1(np.array(drawn).reshape(n_resamples, n_taggings, n_types, 3))
        value = np.nan_to_num(_f1(self.table.sum(axis=1)))
        # Where no resample has a chunk of a type, nothing is known of it.
        unknown = np.isnan(resampled).all(axis=0)
        resampled[0, unknown], resampled[-1, unknown] = 0.0, 1.0
        return Bootstrap(value, resampled, level)


def _count(true: _Chunks, predicted: _Chunks, ends: IntArray) -> FloatArray:
    """Chunks by sentence and type: true ones, predicted ones, and those that are both."""
    keys = [(one.first * (ends[-1] + 1) + one.end) * (len(one.types) + 1) + one.type for one in (true, predicted)]
    correct = np.isin(keys[0], keys[1], assume_unique=True)
    shape = len(ends), max(len(true.types), 1)
    table = np.zeros((*shape, 3))
    found = ((true.first, true.type), (predicted.first, predicted.type), (true.first[correct], true.type[correct]))
    for place, (first, of_type) in enumerate(found):
        cell = np.searchsorted(ends, first, side="right") * shape[1] + of_type
        table[:, :, place] = np.bincount(cell, minlength=shape[0] * shape[1]).reshape(shape)
    return table[:, : len(true.types)]


def _f1(counts: FloatArray) -> FloatArray:
    """2 * correct / (true + predicted) along the last axis; NaN where there is no chunk."""
    n_any = counts[..., 0] + counts[..., 1]
    f1: FloatArray = np.divide(2.0 * counts[..., 2], n_any, out=np.full(n_any.shape, np.nan), where=n_any > 0)
    return f1
