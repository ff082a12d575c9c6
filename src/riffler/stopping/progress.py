"""What a stopping rule sees, and what it answers: the nouns of this family.

A *control* document was drawn uniformly at random, not chosen by the policy. It counts as *met* when the policy, which
does not know its label, has come to it too: the loop then records it again, with origin "policy" and at no cost.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

import numpy as np

from riffler.errors import InputError
from riffler.ledger import RELEVANT, UNKNOWN, Entry, Item
from riffler.records import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class History:
    """Each labelled item once, at the place where it was first asked, with its last answer."""

    answer: IntArray
    control: BoolArray  # drawn at random
    met: BoolArray  # drawn at random, and later reached by the policy as well
    probability: FloatArray
    ranked: IntArray  # answers in the order in which the policy (or a search, or what was known) came to them

    @property
    def relevant(self) -> BoolArray:
        """Whether each item is known to be relevant."""
        found: BoolArray = self.answer == RELEVANT
        return found

    @property
    def n_found(self) -> int:
        """Relevant items found, in whatever way."""
        return int(self.relevant.sum())


@dataclass(frozen=True, slots=True, eq=False)
class Progress:
    """How far a review has come.

    Parameters
    ----------
    n_items : int
        Items of the collection, labelled or not.
    entries : sequence of Entry
        The ledger in asking order; origins "prior", "policy", "control", "search".
    scores : array
        Of the items still unlabelled; rules that need probabilities say so. May be empty.
    target, confidence : float
        Recall that is wanted, and how sure a certificate shall be.
    control_reach : int
        Items at the head of the random order (`control_order`) that are all labelled, without a gap.
    n_open : int
        Items among these that the policy came to and nobody could judge.
    known_scores : array
        Scores of the labelled items, first asked first; for Quant alone.
    votes, n_learners
        By how many of the learners each item was proposed; for Chao alone.
    """

    n_items: int
    entries: Sequence[Entry]
    scores: FloatArray = field(default_factory=lambda: np.empty(0))
    target: float = 0.95
    confidence: float = 0.95
    control_reach: int = 0
    n_open: int = 0
    known_scores: FloatArray = field(default_factory=lambda: np.empty(0))
    votes: Mapping[Item, int] | None = None
    n_learners: int = 0
    _history: History = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.n_items < 1:
            raise InputError(f"n_items must be at least 1, got {self.n_items}. Pass the size of the collection.")
        check_goal(self.target, self.confidence)
        object.__setattr__(self, "entries", tuple(self.entries))  # the ledger goes on, this moment stays
        object.__setattr__(self, "_history", _read(self.entries))
        n_labelled = self._history.answer.size
        if n_labelled > self.n_items:
            raise InputError(
                f"The entries name {n_labelled} items, and the collection has {self.n_items}. "
                "Pass the number of all items, labelled or not, as n_items."
            )
        if not 0 <= self.control_reach <= n_labelled:
            raise InputError(
                f"control_reach must lie between 0 and the {n_labelled} labelled items, got {self.control_reach}: "
                "it counts the items at the head of the random order that are all labelled."
            )

    def history(self) -> History:
        """Return every labelled item once, with its last answer."""
        return self._history


def _read(entries: Sequence[Entry]) -> History:
    first: dict[Item, int] = {}
    answer: list[int] = []
    control: list[bool] = []
    chance: list[float] = []
    met: list[bool] = []
    ranked: dict[int, None] = {}
    for entry in entries:
        row = first.setdefault(entry.item, len(answer))
        if row == len(answer):
            answer.append(entry.answer)
            control.append(entry.origin == "control")
            chance.append(entry.probability)
            met.append(False)
        answer[row] = entry.answer
        if entry.origin != "control":
            ranked[row] = None
            met[row] = met[row] or (control[row] and entry.origin == "policy")
    last = np.array(answer, dtype=np.int8)
    rows = np.fromiter(ranked, dtype=np.int64, count=len(ranked))
    return History(last, np.array(control, bool), np.array(met, bool), np.array(chance, float), last[rows])


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether to stop, why, and what is certain.

    ``certificate`` says that a stop (and ``recall_low``) is guaranteed with the confidence asked for; a heuristic only
    has reasons. ``n_more`` is the number of documents that are still needed, where it is known.
    """

    stop: bool
    reason: str
    certificate: bool
    recall_low: float | None = None
    n_more: int | None = None


class StoppingRule(Protocol):
    """A rule says whether to stop, and how many of the next documents it wants drawn at random."""

    certificate: ClassVar[bool]
    """Whether a stop is guaranteed to have reached the target, with the confidence asked for."""

    blind: ClassVar[bool]
    """Whether the policy must not learn from control documents before it has met them."""

    def decide(self, progress: Progress) -> Decision:
        """Say whether to stop now."""

    def controls(self, progress: Progress, n: int) -> int:
        """Say how many of the next n documents are to be drawn at random."""


def needs_scores(rule: StoppingRule) -> bool:
    """Tell whether a rule looks at the scores of a progress, which may cost a pass over a collection on disk.

    A rule that does not is expected to say so, by ``needs_scores = False`` in its own class: what a class says is not
    taken for those derived from it, which may look at more.
    """
    return "needs_scores" not in vars(type(rule)) or bool(getattr(rule, "needs_scores", True))


class Heuristic:
    """Base of the rules that promise nothing: they need no control documents."""

    certificate: ClassVar[bool] = False
    blind: ClassVar[bool] = False

    def controls(self, progress: Progress, n: int) -> int:
        """Want no control documents."""
        return 0

    def say(self, stop: bool, reason: str, n_more: int | None = None) -> Decision:
        """Return a decision without a guarantee."""
        return Decision(stop, reason, certificate=False, n_more=n_more)


def check_goal(target: float, confidence: float) -> None:
    """Refuse a target or a confidence that is no share."""
    for name, value in (("target", target), ("confidence", confidence)):
        if not 0 < value < 1:
            raise InputError(f"{name} must lie between 0 and 1, both excluded, got {value!r}.")


def least_total(n_found: int, target: float) -> int:
    """Return the least number of relevant items with which ``n_found`` would fall short of the target recall.

    >>> least_total(19, 0.95), least_total(20, 0.95)
    (21, 22)
    """
    return math.floor(n_found / target + 1e-9) + 1


def n_unresolved(history: History) -> int:
    """Count the control documents that nobody could judge: they count as relevant and missed."""
    return int(np.sum(history.control & (history.answer == UNKNOWN)))


def least_sample(target: float, confidence: float) -> int:
    """Return the least number of random relevant documents that can prove a recall: all of them must be met.

    >>> [least_sample(target, 0.95) for target in (0.8, 0.9, 0.95)]
    [14, 29, 59]
    """
    return math.ceil(math.log(1 - confidence) / math.log(target) - 1e-9)


def draw_until(progress: Progress, n: int, wanted: int) -> int:
    """Return n while fewer than ``wanted`` relevant documents have been drawn at random, then 0."""
    history = progress.history()
    return n if int(np.sum(history.control & history.relevant)) < wanted else 0


def nothing_found() -> Decision:
    """Return the decision while nothing relevant is known."""
    return Decision(False, "Nothing relevant has been found yet, so no recall can be claimed.", certificate=True)


def all_read(progress: Progress, history: History) -> Decision | None:
    """Return the decision where everything has been read; None where something is left."""
    if history.answer.size < progress.n_items:
        return None
    n_open = int(np.sum(history.answer == UNKNOWN))
    low = history.n_found / (history.n_found + n_open) if history.n_found + n_open else 1.0
    said = "Everything has been read" + (f"; {n_open} documents could not be judged." if n_open else ".")
    return Decision(True, said, certificate=low >= progress.target, recall_low=low, n_more=0)
