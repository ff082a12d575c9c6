"""Chunks and entities beside python-crfsuite on the same features, and handwritten letters beside a linear SVM.

Called by structured.py. C and c2 are chosen on sentences of the training part, held out; nothing on test sentences.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from sklearn.base import clone

from riffler import datasets
from riffler.data.conll import TaggedText, read_conll
from riffler.errors import DataSetMissing
from riffler.evaluation.tagging_report import choose_c, hold_out
from riffler.features.token_features import TokenFeatures
from riffler.learners.chain_tagger import ChainTagger
from riffler.metrics.chunks import chunk_f1_difference, chunk_f1_intervals, chunk_scores
from riffler.reproduction.markdown import deviation
from riffler.reproduction.structured_data import letters as letter_folds
from riffler.reproduction.structured_letters import ALONE, CHAIN, ROWS, WITH_ENDS, read_letters
from riffler.structured.sequences import Sequences

SETS = ("conll2000", "wnut17")
C_GRID = (30.0, 100.0, 300.0, 1000.0, 3000.0)
C2_GRID = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
TRIAL_ITERATIONS = 50  # of L-BFGS, while c2 is chosen
TOL = 0.01
GOALS = {"conll2000": 0.935}
LETTER_GOAL = 0.78

Strings = list[list[list[str]]]
"""Of every sentence, of every token, the names of its features."""


@dataclass(frozen=True, slots=True, eq=False)
class Tagged:
    """What one side made of the test sentences, and what its training cost."""

    tags: list[list[str]]
    setting: float
    cpu_seconds: float
    seconds: float
    ended: str


def chunking() -> list[dict[str, Any]]:
    """Chunk F1 and training seconds of both; features are made beforehand for both, which is not counted."""
    rows = []
    for name in SETS:
        try:
            folder, parts = datasets.path(name), datasets.info(name).parts
        except DataSetMissing:
            continue
        train, test = (read_conll(folder / parts[part].file) for part in ("train", "test"))
        _tell(f"{name}: ours")
        ours = our_tags(train, test)
        _tell(f"{name}: python-crfsuite")
        theirs = their_tags(train, test)
        rows += _rows(name, test, ours, theirs)
    return rows


def _rows(name: str, test: TaggedText, ours: Tagged, theirs: Tagged) -> list[dict[str, Any]]:
    true = test.tags or []
    less = chunk_f1_difference(true, ours.tags, theirs.tags, n_resamples=2000)
    rows = []
    for method, side in (("ChainTagger", ours), ("python-crfsuite", theirs)):
        interval = chunk_f1_intervals(true, side.tags).overall
        rows.append(
            {
                "data": name,
                "method": method,
                "C or c2": f"{side.setting:g}",
                "F1": f"{interval.value:.4f}",
                "95 %": f"{interval.low:.4f} to {interval.high:.4f}",
                "CPU s": side.cpu_seconds,
                "s": side.seconds,
                "ended": side.ended,
                "ours - theirs": f"{less.difference:+.4f} [{less.low:+.4f}, {less.high:+.4f}]",
                "time ratio": theirs.cpu_seconds / ours.cpu_seconds,
                "goal": f"{GOALS[name]:.3f}" if name in GOALS else "",
                "met": _met(name, ours, theirs, less.high, chunk_scores(true, ours.tags).overall.f1),
            }
        )
    return rows


def _met(name: str, ours: Tagged, theirs: Tagged, high: float, f1: float) -> str:
    """Whether F1 is as high as wanted, not surely below the other side's, and training quicker."""
    return str(f1 >= GOALS.get(name, 0.0) and high >= 0.0 and ours.cpu_seconds < theirs.cpu_seconds)


def our_tags(train: TaggedText, test: TaggedText) -> Tagged:
    """Fit a ChainTagger, then its model once more on features made beforehand, with the clock running."""
    C, tried = choose_c(ChainTagger(random_state=0), train, grid=C_GRID)
    _tell(", ".join(f"C = {trial.C:g}: {trial.score:.4f}" for trial in tried))
    tags = train.tags or []
    tagger = ChainTagger(C=C, tol=TOL, columns=train.columns, random_state=0).fit(train.sentences, tags)
    X = Sequences(tagger.features_.transform(train.sentences), list(map(len, train.sentences)))
    model = clone(tagger.model_)
    start, cpu = perf_counter(), process_time()
    model.fit(X, tags)
    cpu_seconds, seconds = process_time() - cpu, perf_counter() - start
    last = model.turns_[-1]
    said = f"gap {last.gap / last.primal:.2%} after {last.oracle_calls:,} oracle calls"
    return Tagged(tagger.predict(test.sentences), C, cpu_seconds, seconds, said)


def their_tags(train: TaggedText, test: TaggedText) -> Tagged:
    """Train python-crfsuite by L-BFGS until its own rule stops it, with the c2 that is best on sentences held out."""
    learn, held_out = hold_out(train, 0)
    features = TokenFeatures(columns=train.columns).fit(learn.sentences)
    learned, tried = features.strings(learn.sentences), features.strings(held_out.sentences)
    scores = {}
    for c2 in C2_GRID:
        tags, _, _, _ = crf(learned, learn.tags or [], tried, c2, TRIAL_ITERATIONS)
        scores[c2] = chunk_scores(held_out.tags or [], tags).overall.f1
    _tell(", ".join(f"c2 = {c2:g}: {score:.4f}" for c2, score in scores.items()))
    best = max(scores, key=lambda c2: scores[c2])
    features = TokenFeatures(columns=train.columns).fit(train.sentences)
    made = features.strings(train.sentences), train.tags or [], features.strings(test.sentences)
    tags, cpu_seconds, seconds, n_iterations = crf(*made, best)
    return Tagged(tags, best, cpu_seconds, seconds, f"{n_iterations} iterations")


def crf(
    train: Strings, tags: Sequence[Sequence[str]], test: Strings, c2: float, max_iterations: int | None = None
) -> tuple[list[list[str]], float, float, int]:
    """Tags of the test sentences, CPU and other seconds of the training, and its iterations."""
    import pycrfsuite

    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    trainer.set_params({"c1": 0.0, "c2": c2, **({"max_iterations": max_iterations} if max_iterations else {})})
    for sentence, own in zip(train, tags, strict=True):
        trainer.append(pycrfsuite.ItemSequence(sentence), own)
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "model")
        start, cpu = perf_counter(), process_time()
        trainer.train(file)
        cpu_seconds, seconds = process_time() - cpu, perf_counter() - start
        tagger = pycrfsuite.Tagger()
        tagger.open(file)
        found = [tagger.tag(pycrfsuite.ItemSequence(sentence)) for sentence in test]
        tagger.close()
    return found, cpu_seconds, seconds, int(trainer.logparser.last_iteration["num"])


def letters(folder: Path) -> list[dict[str, Any]]:
    """Mean share of letters read rightly over the ten folds; finished runs are kept in the folder."""
    read = read_letters(letter_folds(), lambda share, doing: _tell(f"{share:.0%} {doing}"), folder)
    rows: list[dict[str, Any]] = []
    for columns in (ROWS, WITH_ENDS) if read else ():
        shares = {m: [r.accuracy for r in read if (r.columns, r.method) == (columns, m)] for m in (CHAIN, ALONE)}
        for method, own in shares.items():
            mean = sum(own) / len(own)
            higher = sum(c > a for c, a in zip(shares[CHAIN], shares[ALONE], strict=True))
            rows.append(
                {
                    "columns": columns,
                    "method": method,
                    "folds": len(own),
                    "accuracy": f"{mean:.4f}",
                    "deviation": f"{deviation(own):.4f}",
                    "least": f"{min(own):.4f}",
                    "chain higher on": higher,
                    "goal": f"{LETTER_GOAL:.2f}" if method == CHAIN else "",
                    "met": str(mean >= LETTER_GOAL) if method == CHAIN else "",
                }
            )
    return rows


def _tell(doing: str) -> None:
    print(doing, file=sys.stderr, flush=True)
