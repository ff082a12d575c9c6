"""Tag the tokens of sentences (named entities, phrases, parts of speech) by a chain trained for few wrong tags."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from riffler.errors import InputError, LabelError, UnknownName
from riffler.features.coded_tokens import Sentences
from riffler.features.token_features import TokenFeatures
from riffler.learners.checks import is_number
from riffler.learners.pair_ranker import need_above_zero
from riffler.metrics.chunks import chunk_scores, is_chunk_tag, others_outside, token_accuracy
from riffler.records import FloatArray
from riffler.structured.bio import bio_constraints, first_broken_rule
from riffler.structured.block_descent import BlockDescent
from riffler.structured.chain import Chain, known_labels
from riffler.structured.convergence import Turn
from riffler.structured.label_rules import Allowed
from riffler.structured.sequences import Sequences
from riffler.structured.solvers import SOLVERS, Solver
from riffler.structured.structural_svm import StructuralSVM

Tags = Sequence[Sequence[Any]]
"""Of every sentence the tags of its tokens."""

CONSTRAINTS = ("auto", "bio")
OUTSIDE = "O"
DEAREST_MISS = 4.0
FEWEST_PASSES, MOST_WORK = 200, 150_000_000


class ChainTagger(BaseEstimator):
    """Tag tokens by their features and by the tag before: a structural SVM on chains.

    Minimises ``|w|^2 / 2 + C * mean over sentences of max over taggings of (cost of its wrong tags - (score of the true
    tags - its score))``. A wrong tag costs 1, and ``miss_cost`` if it is O.

    Parameters
    ----------
    template : str, list of str or None
        Which features a token has, a line each: see :mod:`riffler.features.token_template`. None for a default that
        suits the columns there are.
    C : float
        Weight of the mean loss of a sentence beside the penalty. It multiplies a mean, so it keeps its meaning when
        sentences are added; a few hundred suits thousands of sentences.
    solver : {"block-descent", "frank-wolfe", "one-slack", "n-slack", "subgradient"}, a solver object or None
        None for block descent, with more passes where there are few sentences.
    tol : float
        Stop when the gap between the objective and a proven lower bound is at most this share of the objective.
    miss_cost : float or "auto"
        What it costs to say O where another tag is true; other mistakes cost 1. Where nearly all tokens are O, a tagger
        that says O too often has few wrong tags: "auto" is the root of how many tokens are O for one that is not, from
        1 to 4.
    constraints : {"auto", "bio"} or None
        With "bio", I- only follows B- or I- of the same type (BIOES tags also end as they should); tags in fit that do
        not are an error. "auto" does so where the tags are such and keep to it.
    min_count : int
        Features of fewer tokens are left out.
    columns : list of str or None
        Names of the columns of a token; None for word, pos, chunk, column3, ...
    random_state : int, RandomState or None
        The order of the sentences.
    progress : callable, "line" or None
        Called with a :class:`Turn` after each turn of the solver: objective, bound, oracle calls, seconds.

    Attributes
    ----------
    labels_ : tuple
        The tags known. Others in ``score`` count as errors: they are never predicted.
    miss_cost_ : float
        What it cost to say O where another tag is true.
    features_ : TokenFeatures
    model_ : StructuralSVM
    turns_ : tuple of Turn
        How objective and bound went.

    Examples
    --------
    >>> sentences = [["the", "gull", "cries"], ["a", "gull", "flies"], ["the", "owl"]]
    >>> tags = [["B-NP", "I-NP", "O"], ["B-NP", "I-NP", "O"], ["B-NP", "I-NP"]]
    >>> tagger = ChainTagger(random_state=0).fit(sentences, tags)
    >>> tagger.predict([["a", "owl", "cries"]])
    [['B-NP', 'I-NP', 'O']]
    >>> tagger.score(sentences, tags)
    1.0
    """

    def __init__(
        self,
        template: str | Sequence[str] | None = None,
        *,
        C: float = 500.0,
        solver: str | Solver | None = None,
        tol: float = 0.01,
        miss_cost: float | str = "auto",
        constraints: str | None = "auto",
        min_count: int = 1,
        columns: Sequence[str] | None = None,
        random_state: Any = None,  # noqa: ANN401 - int, RandomState or None
        progress: Callable[[Turn], None] | str | None = None,
    ) -> None:
        self.template = template
        self.C = C
        self.solver = solver
        self.tol = tol
        self.miss_cost = miss_cost
        self.constraints = constraints
        self.min_count = min_count
        self.columns = columns
        self.random_state = random_state
        self.progress = progress

    def fit(self, sentences: Sentences, tags: Tags) -> Self:
        """Learn from sentences, each a list of words or of tuples of columns, and the tags of their tokens."""
        need_above_zero(self, "C", "tol")
        need_tags(sentences, tags)
        self.labels_ = known_labels(tags)
        self.miss_cost_ = self._miss_cost(tags)
        allowed = self._rules(tags)
        self.features_ = TokenFeatures(self.template, columns=self.columns, min_count=self.min_count)
        X = Sequences(self.features_.fit_transform(sentences), list(map(len, sentences)))
        self.model_ = StructuralSVM(
            Chain(self.labels_, allowed, label_costs_of(self.labels_, self.miss_cost_)),
            solver=self._solver(sum(map(len, sentences))),
            C=self.C,
            tol=self.tol,
            random_state=self.random_state,
            progress=self.progress,
        )
        with warnings.catch_warnings():  # those below are in the words of a tagger
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.filterwarnings("ignore", "Nothing was learned", UserWarning)
            self.model_.fit(X, tags)
        self.turns_ = self.model_.turns_
        self.model_.progress = None  # a bar or a window of the caller cannot be kept with the model
        self._warn_if_poor()
        return self

    def predict(self, sentences: Sentences) -> list[list[Any]]:
        """Give the tags of the tokens of every sentence; one without tokens has none."""
        check_is_fitted(self)
        if not any(map(len, sentences)):
            return [[] for _ in sentences]
        X = Sequences(self.features_.transform(sentences), list(map(len, sentences)))
        return self.model_.predict(X)

    def score(self, sentences: Sentences, tags: Tags) -> float:
        """Give the F1 of the chunks where tags are B-, I- and so on, else the share of tokens with the right tag."""
        need_tags(sentences, tags)
        predicted = self.predict(sentences)
        if are_chunk_tags(self.labels_):
            return chunk_scores(others_outside(tags), predicted).overall.f1
        return token_accuracy(tags, predicted)

    def _solver(self, n_tokens: int) -> str | Solver:
        if self.solver is None:
            return BlockDescent(most_passes(n_tokens))
        if not isinstance(self.solver, str) and not hasattr(self.solver, "solve"):
            names = ", ".join(sorted(SOLVERS))
            raise InputError(f"solver must be a name ({names}), an object with solve, or None, got {self.solver!r}.")
        return self.solver

    def _warn_if_poor(self) -> None:
        """Warn where there was nothing to learn, or the solver did not come to its end."""
        if len(self.labels_) == 1:
            warnings.warn(
                f"All tags are {self.labels_[0]!r}: there is nothing to learn, and no other tag will be said. Pass "
                "sentences with other tags too.",
                UserWarning,
                stacklevel=3,
            )
        last = self.turns_[-1]
        if not last.is_within(self.tol):
            warnings.warn(
                f"ChainTagger stopped at a gap of {last.gap / last.primal:.2g} of the objective, above "
                f"tol={self.tol}: ask for a smaller C than {self.C:g}, or a larger tol. Where all tags can be right, a "
                "larger C changes nothing.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _miss_cost(self, tags: Tags) -> float:
        given: Any = self.miss_cost
        if isinstance(given, str) and given == "auto":
            return usual_miss_cost(tags)
        if not is_number(given) or not 0 < given < math.inf:
            raise InputError(f'miss_cost must be a number above 0 or "auto", got {given!r}.')
        return float(given)

    def _rules(self, tags: Tags) -> Allowed | None:
        """The rules of what may follow what, where they are wanted and kept."""
        if self.constraints is None:
            return None
        if self.constraints not in CONSTRAINTS:
            raise UnknownName.among("constraints", self.constraints, CONSTRAINTS)
        if self.constraints == "auto" and not are_chunk_tags(self.labels_):
            return None
        rules = bio_constraints([str(label) for label in self.labels_])
        broken = first_broken_rule(tags, rules)
        if broken is not None and self.constraints == "bio":
            sentence, token = broken
            raise LabelError(
                f"Sentence {sentence}, token {token}: {tags[sentence][token]!r} may not stand there by the rules of "
                "BIO. Mend the tags, or pass constraints=None."
            )
        return rules if broken is None else None


def most_passes(n_tokens: int) -> int:
    """Give how often a solver may go over sentences of so many tokens.

    Few sentences need many passes. But each pass may keep one more tagging of every sentence, which all are compared in
    the next: where C is so large that it never ends, the time goes with the tokens and the square of the passes.

    >>> most_passes(10), most_passes(1000), most_passes(1_000_000)
    (4072, 587, 212)
    """
    return FEWEST_PASSES + math.isqrt(MOST_WORK // n_tokens)


def usual_miss_cost(tags: Tags) -> float:
    """Give the root of how many tokens are O for one that is not, from 1 to 4.

    >>> usual_miss_cost([["O", "O", "O", "O", "B-PER"]]), usual_miss_cost([["B-NP", "I-NP", "O"]])
    (2.0, 1.0)
    """
    n_outside = sum(tag == OUTSIDE for own in tags for tag in own)
    n_others = sum(map(len, tags)) - n_outside
    return min(max(math.sqrt(n_outside / max(n_others, 1)), 1.0), DEAREST_MISS)


def label_costs_of(labels: Sequence[Hashable], miss_cost: float) -> FloatArray:
    """Give a table of what it costs to say the tag of a column where that of a row is true."""
    costs = 1.0 - np.eye(len(labels))
    if OUTSIDE in labels:
        costs[:, list(labels).index(OUTSIDE)] *= miss_cost
    return costs


def are_chunk_tags(labels: Sequence[Hashable]) -> bool:
    """Tell whether all labels are O, B-, I-, E-, S-, L- or U-; O alone says that no chunk was there.

    >>> are_chunk_tags(["O", "B-NP"]), are_chunk_tags(["O"]), are_chunk_tags(["NN", "O"])
    (True, True, False)
    """
    return all(map(is_chunk_tag, labels))


def need_tags(sentences: Sentences, tags: Tags) -> None:
    """Raise unless there is a tag for every token of every sentence."""
    if len(sentences) != len(tags):
        raise InputError(f"Sentences: {len(sentences)}, sequences of tags: {len(tags)}. Pass one for each.")
    for place, (sentence, own) in enumerate(zip(sentences, tags, strict=True)):
        if isinstance(own, str):
            raise InputError(f"The tags of sentence {place} are a text: {own[:40]!r}. Pass a list of tags.")
        if len(sentence) != len(own):
            raise InputError(f"Sentence {place} has {len(sentence)} tokens and {len(own)} tags. Pass a tag for each.")
