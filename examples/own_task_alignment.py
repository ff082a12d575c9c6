"""Align two strings as an expert does: learn the scores of letter pairs and gaps from aligned examples.

Old DNA is read again: half of the C have become T, letters were lost and have come in. An alignment gives each letter
of the first string its place in the second, or -1; these places rise.
"""

from __future__ import annotations

import numpy as np

from riffler import StructuralSVM
from riffler.records import FloatArray, IntArray

LETTERS, GAP = "ACGT", -1
Pair = tuple[IntArray, IntArray]  # two strings, each letter as its number


class Alignment:
    """The score of an alignment is that of its pairs of letters, and of a gap for each letter left alone."""

    def joint_feature(self, x: Pair, places: IntArray) -> FloatArray:
        """Count how often each pair of letters is aligned, and the gaps."""
        paired = places != GAP
        pairs = np.bincount(4 * x[0][paired] + x[1][places[paired]], minlength=16)
        return np.append(pairs, len(x[0]) + len(x[1]) - 2 * paired.sum()).astype(float)

    def loss(self, places: IntArray, other: IntArray) -> float:
        """Give the share of letters with another place."""
        return float(np.mean(places != other))

    def argmax(self, x: Pair, weights: FloatArray) -> IntArray:
        """Give the alignment of the highest score."""
        return best_alignment(weights[4 * x[0][:, None] + x[1]], np.full(len(x[0]), weights[-1]), weights[-1])

    def loss_augmented_argmax(self, x: Pair, places: IntArray, weights: FloatArray) -> IntArray:
        """Give the alignment of the highest loss plus score: a wrong place brings its part of the loss."""
        wrong_pair = (places[:, None] != np.arange(len(x[1]))) / len(places)
        wrong_gap = (places != GAP) / len(places)
        return best_alignment(weights[4 * x[0][:, None] + x[1]] + wrong_pair, weights[-1] + wrong_gap, weights[-1])


def best_alignment(pairs: FloatArray, alone: FloatArray, gap: float) -> IntArray:
    """Give the alignment of the highest score (Needleman and Wunsch); row[j] is that of j letters of the second."""
    row: list[tuple[float, tuple[int, ...]]] = [(gap * j, ()) for j in range(pairs.shape[1] + 1)]
    for scores, alone_score in zip(pairs.tolist(), alone.tolist(), strict=True):
        above, row = row, [(row[0][0] + alone_score, (*row[0][1], GAP))]
        for j, score in enumerate(scores):
            together = (above[j][0] + score, (*above[j][1], j))
            first_alone = (above[j + 1][0] + alone_score, (*above[j + 1][1], GAP))
            row.append(max(together, first_alone, (row[j][0] + gap, row[j][1])))
    return np.array(row[-1][1])


def worn_copy(first: IntArray, rng: np.random.Generator) -> tuple[Pair, IntArray]:
    second: list[int] = []
    places = np.full(len(first), GAP)
    for i, letter in enumerate(first.tolist()):
        second += rng.integers(4, size=rng.binomial(1, 0.15)).tolist()
        if rng.random() > 0.15:
            places[i] = len(second)
            second.append(3 if letter == 1 and rng.random() < 0.5 else letter)
    return (first, np.array(second, int)), places


def main() -> None:
    rng, task = np.random.default_rng(0), Alignment()
    pairs, truths = zip(*(worn_copy(rng.integers(4, size=20), rng) for _ in range(160)), strict=True)
    model = StructuralSVM(task, solver="n-slack", C=100).fit(pairs[:80], truths[:80])
    by_edits = np.append(np.eye(4).ravel() - 1, -1.0)  # a misread letter and a gap cost 1
    before = 1 - np.mean([task.loss(y, task.argmax(x, by_edits)) for x, y in zip(pairs[80:], truths[80:], strict=True)])
    after = model.score(pairs[80:], truths[80:])
    print(f"letters in their place: {before:.1%} by the fewest edits, {after:.1%} learned from 80 pairs")
    for name, row in zip(LETTERS, model.coef_[:-1].reshape(4, 4).round(2).tolist(), strict=True):
        print(name, "read as", dict(zip(LETTERS, row, strict=True)))


if __name__ == "__main__":
    main()
