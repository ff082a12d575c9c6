"""Sequences to label, for the reproduction of structured estimation: words, phrases, entities, and made-up words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from riffler.errors import DataSetMissing
from riffler.metrics.chunks import chunk_scores, token_accuracy
from riffler.records import FloatArray, IntArray
from riffler.structured.bio import bio_constraints
from riffler.structured.chain import Chain, known_labels
from riffler.structured.sequences import Sequences

ACCURACY, CHUNK_F1 = "accuracy", "chunk F1"
LETTERS, MADE_UP = "letters", "made-up words"
CHUNKED = ("conll2000", "wnut17")


@dataclass(frozen=True, slots=True, eq=False)
class Labelled:
    """Sequences and the labels of their rows."""

    X: Sequences
    Y: list[list[Any]]

    def some(self, numbers: Sequence[int] | IntArray) -> Labelled:
        """Give some of the sequences, in this order."""
        return Labelled(self.X.some(numbers), [self.Y[number] for number in numbers])


@dataclass(frozen=True, slots=True, eq=False)
class LabellingProblem:
    """Sequences to learn from and to test on, and how the labels of the test part are measured."""

    data: str
    fold: int
    task: Chain
    train: Labelled
    test: Labelled
    measure: str = ACCURACY

    def quality(self, said: list[list[Any]], truth: list[list[Any]] | None = None) -> float:
        """Measure labels that were predicted, of the test part if nothing else is said."""
        truth = self.test.Y if truth is None else truth
        return chunk_scores(truth, said).overall.f1 if self.measure == CHUNK_F1 else token_accuracy(truth, said)

    def key(self) -> list[Any]:
        """What tells this problem from others of its name."""
        sizes = [len(self.train.Y), len(self.test.Y), *self.train.X.rows.shape]
        return [self.data, self.fold, *sizes]


def letters() -> list[LabellingProblem]:
    """Ten folds of handwritten words: one to learn from, the nine others to test on; none where they are missing."""
    from riffler import datasets

    try:
        file = datasets.path("ocr-letters") / "letters.npz"
    except DataSetMissing:
        return []
    with np.load(file) as arrays:
        found = {name: arrays[name] for name in ("X", "y", "word_lengths", "folds")}
    words = labelled(found["X"].astype(np.float64), found["y"].astype(np.int64), found["word_lengths"])
    return one_against_the_others(LETTERS, words, found["folds"].astype(np.int64))


def made_up_words(n_words: int = 150, n_folds: int = 3, n_labels: int = 5, seed: int = 0) -> list[LabellingProblem]:
    """Words of letters that like some neighbours, seen through noise.

    >>> [len(problem.train.Y) for problem in made_up_words()]
    [50, 50, 50]
    """
    rng = np.random.default_rng(seed)
    follows = np.cumsum(rng.dirichlet(np.full(n_labels, 0.3), size=n_labels), axis=1)
    lengths = rng.integers(3, 9, size=n_words)
    words = []
    for length in lengths:
        word = [int(rng.integers(n_labels))]
        for draw in rng.random(length - 1):
            word.append(min(int(np.searchsorted(follows[word[-1]], draw)), n_labels - 1))
        words.append(word)
    codes: IntArray = np.concatenate([np.array(word, dtype=np.int64) for word in words])
    rows = np.eye(n_labels)[codes] + 0.8 * rng.normal(size=(len(codes), n_labels))
    return one_against_the_others(MADE_UP, labelled(rows, codes, lengths), np.arange(n_words) % n_folds)


def labelled(rows: FloatArray, labels: IntArray, lengths: IntArray) -> Labelled:
    """Cut rows and their labels into sequences."""
    X = Sequences(rows, lengths)
    return Labelled(X, [labels[start:stop].tolist() for start, stop in zip(X.starts[:-1], X.starts[1:], strict=True)])


def one_against_the_others(data: str, words: Labelled, fold_of: IntArray) -> list[LabellingProblem]:
    """Learn from each fold in turn, and test on the others."""
    task = Chain(labels=known_labels(words.Y))
    return [
        LabellingProblem(
            data,
            number + 1,
            task,
            words.some(np.flatnonzero(fold_of == fold)),
            words.some(np.flatnonzero(fold_of != fold)),
        )
        for number, fold in enumerate(np.unique(fold_of))
    ]


def with_ends(problem: LabellingProblem) -> LabellingProblem:
    """Add three columns: whether a row is the first, whether it is the last of its word, and a constant."""

    def wider(part: Labelled) -> Labelled:
        X = part.X
        ends = np.zeros((X.rows.shape[0], 3))
        ends[X.starts[:-1], 0] = ends[X.starts[1:] - 1, 1] = ends[:, 2] = 1.0
        return Labelled(Sequences(np.hstack([X.rows, ends]), X.lengths), part.Y)

    return LabellingProblem(
        problem.data, problem.fold, problem.task, wider(problem.train), wider(problem.test), problem.measure
    )


def chunked(data: str) -> LabellingProblem | None:
    """Sentences with phrases (conll2000) or entities (wnut17) to find, the features of their tokens by the default
    template; None where the files are missing.
    """
    from riffler import datasets
    from riffler.data.conll import read_conll
    from riffler.features.token_features import TokenFeatures

    try:
        folder, parts = datasets.path(data), datasets.info(data).parts
    except DataSetMissing:
        return None
    train, test = (read_conll(folder / parts[name].file) for name in ("train", "test"))
    features = TokenFeatures(columns=train.columns)
    X = Sequences(features.fit_transform(train.sentences), list(map(len, train.sentences)))
    X_test = Sequences(features.transform(test.sentences), list(map(len, test.sentences)))
    labels = known_labels(train.tags or [])
    task = Chain(labels, bio_constraints([str(label) for label in labels]))
    return LabellingProblem(data, 1, task, Labelled(X, train.tags or []), Labelled(X_test, test.tags or []), CHUNK_F1)
