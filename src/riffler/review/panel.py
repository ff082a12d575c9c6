"""What the progress panel shows: one picture, made by the learner from its search and the ledger.

========================  ==========================================================================================
revision                  of the review that it was made from: where the review has another one, nothing is claimed
advice                    "go on", "may stop", "heuristic: probably enough" or "unknown"; never more than is certified
sentence                  the advice in words
decision                  what the stopping rule says: stop, reason, certificate, recall_low, n_more; None without one
recall                    found, estimated total and recall, each with its interval, and is_rough: whether it is too
                          early for a single number; None where nothing can be said
target, confidence        of the review
n_documents, n_reviewed, n_relevant, n_control, n_open
                          documents asked for; read; found; drawn at random; read and not decided
curve                     ``[[n_reviewed, n_relevant], ...]``, at most 500 points, what was known before left out
strata                    for each import: id, source, added_at, n, n_reviewed, n_relevant, n_control
work                      n_unread, share_unread, saved (share of the reading, against a random order), sentence
pace                      seconds (median for a document), per_hour, n_timed, found_lately (among the last 20)
learner                   seconds_to_build, seconds_to_learn, n_rounds
========================  ==========================================================================================
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from riffler.ledger import RELEVANT, UNKNOWN
from riffler.review.history import HistoryFilter, HistoryLine
from riffler.review.pace import median_seconds, per_hour
from riffler.review.rounds import SETTINGS_CHANGED
from riffler.stopping.words import per_cent

if TYPE_CHECKING:
    from riffler.records import BoolArray, IntArray
    from riffler.review.rounds import Revision
    from riffler.review.settings import ReviewSettings
    from riffler.review.store import Review
    from riffler.search.loop import ActiveSearch
    from riffler.stopping import Decision
    from riffler.stopping.recall_interval import RecallEstimate

N_POINTS = 500
N_TIMED = 200
LATELY = 20
GOAL = ("target", "confidence", "stopping")
ROUGH = 5.0


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """What was read, in the order in which it was first asked: row of the collection, last answer, and how it came."""

    rows: IntArray
    answers: IntArray
    drawn: BoolArray  # at random
    known: BoolArray  # before anybody was asked


class Panel:
    """Makes the picture of the progress of one search."""

    def __init__(self, review: Review, search: ActiveSearch, revision: Revision) -> None:
        self._review, self._search, self._revision = review, search, revision
        self._settings = review.settings
        self._imports = [asdict(one) for one in review.imports()]
        self._goals_moved = [at for at, name, told in review.events() if name == SETTINGS_CHANGED and moves_goal(told)]
        self._ends = np.cumsum([one["n"] for one in self._imports])  # the collection has them one after another

    def values(self, learner: dict[str, Any]) -> dict[str, Any]:
        """Return the picture; ``learner`` says how long its work took."""
        search, read = self._search, self.reading()
        decision = None if self._settings.stopping is None else search.estimate()
        recall = search.recall()
        total = None if recall is None or is_rough(recall) else recall.total
        advice, sentence = advice_of(decision, self._settings)
        sentence += self._about_the_goal()
        n, n_found = search.collection.n_items, int(np.sum(read.answers == RELEVANT))
        return {
            "revision": asdict(self._revision),
            "advice": advice,
            "sentence": sentence,
            "decision": None if decision is None else asdict(decision),
            "recall": None if recall is None else {**asdict(recall), "is_rough": is_rough(recall)},
            "target": self._settings.target,
            "confidence": self._settings.confidence,
            "n_documents": n,
            "n_reviewed": int(read.rows.size),
            "n_relevant": n_found,
            "n_control": int(read.drawn.sum()),
            "n_open": int(np.sum(read.answers == UNKNOWN)),
            "curve": curve_of(read.answers[~read.known]),
            "strata": self._strata(read),
            "work": work_of(n, int(read.rows.size), n_found, total),
            "pace": pace_of(self._review.history(HistoryFilter(kind="answer", n=N_TIMED))),
            "learner": learner,
        }

    def _about_the_goal(self) -> str:
        """Return a warning where the goal was moved after reading had begun; else nothing."""
        begun = next((entry.asked_at for entry in self._search.ledger if entry.origin != "prior"), None)
        moved = next((at for at in reversed(self._goals_moved) if begun is not None and at > begun), None)
        if moved is None:
            return ""
        return (
            f" The goal was changed on {moved[:10]}, after reading had begun: a claim is as sure as it says only if "
            "the change had nothing to do with what the control documents showed."
        )

    def reading(self) -> Reading:
        """Return what was read so far."""
        first: dict[int, tuple[int, str]] = {}
        for entry in self._search.ledger:
            row = self._search.row_of(str(entry.item))
            first[row] = (entry.answer, first[row][1] if row in first else entry.origin)
        answers, origins = [one[0] for one in first.values()], np.array([one[1] for one in first.values()], dtype=str)
        return Reading(
            rows=np.fromiter(first, dtype=np.int64, count=len(first)),
            answers=np.array(answers, dtype=np.int8),
            drawn=origins == "control",
            known=origins == "prior",
        )

    def _strata(self, read: Reading) -> list[dict[str, Any]]:
        """Count what was read, found and drawn in each import."""
        at = np.searchsorted(self._ends, read.rows, side="right")
        counts = {
            "n_reviewed": np.bincount(at, minlength=len(self._imports)),
            "n_relevant": np.bincount(at[read.answers == RELEVANT], minlength=len(self._imports)),
            "n_control": np.bincount(at[read.drawn], minlength=len(self._imports)),
        }
        return [
            {**one, **{name: int(found[place]) for name, found in counts.items()}}
            for place, one in enumerate(self._imports)
        ]


def moves_goal(change: Mapping[str, Any]) -> bool:
    """Say whether a change of the settings is one of what shall be proved, or how."""
    before, after = change.get("before", {}), change.get("after", {})
    return any(before.get(name) != after.get(name) for name in GOAL)


def advice_of(decision: Decision | None, settings: ReviewSettings) -> tuple[str, str]:
    """Return the advice and its sentence: no more is claimed than the certificate allows."""
    if decision is None:
        return "unknown", "This review has no stopping rule, so nothing can be said about what is still missing."
    goal = f"at least {per_cent(settings.target)} of all relevant documents are found"
    sure = f"with {per_cent(settings.confidence)} confidence"
    if decision.stop and decision.certificate:
        return "may stop", f"You may stop: {goal}, {sure}."
    if decision.stop and decision.recall_low is not None:  # all is read, but not all is judged
        return "go on", f"{decision.reason} Judge those that are open, if you can: they may be relevant."
    if decision.stop:
        said = f"Probably enough, by a rule of thumb that guarantees nothing: {decision.reason}"
        return "heuristic: probably enough", said
    if decision.certificate and decision.n_more:
        needed = f"takes about {decision.n_more:,} more control documents, if nothing relevant among them was missed"
        return "go on", f"Go on. To say that {goal}, {sure}, {needed}; fewer when more is found."
    return "go on", f"Go on. {decision.reason}"


def is_rough(recall: RecallEstimate) -> bool:
    """Say whether the total may as well be several times as large: then it is too early for a single number."""
    return recall.total is None or recall.total_high > ROUGH * max(recall.total_low, 1)


def curve_of(answers: IntArray) -> list[list[int]]:
    """Return how many were found after how many were read, thinned; the last point is that of this moment.

    >>> curve_of(np.array([1, 0, -1, 1]))
    [[0, 0], [1, 1], [2, 1], [3, 1], [4, 2]]
    """
    found = np.concatenate([[0], np.cumsum(answers == RELEVANT)])
    keep = np.unique(np.linspace(0, answers.size, min(N_POINTS, answers.size + 1)).astype(int))
    return [[int(n), int(found[n])] for n in keep]


def work_of(n_items: int, n_reviewed: int, n_found: int, total: float | None) -> dict[str, Any]:
    """Say how much reading was saved, against a random order that is read until as many are found.

    >>> work_of(1000, 200, 45, 50.0)["saved"]
    0.7
    """
    n_unread = n_items - n_reviewed
    values: dict[str, Any] = {"n_unread": n_unread, "share_unread": n_unread / n_items, "saved": None, "sentence": ""}
    if total is not None and n_found:
        by_chance = n_items * n_found / max(total, n_found)
        values["saved"] = max(0.0, (by_chance - n_reviewed) / n_items)
        values["sentence"] = (
            f"In random order about {round(by_chance):,} of {n_items:,} documents would have to be read to find "
            f"{n_found:,} relevant ones; {n_reviewed:,} were. That saves {values['saved']:.0%} of the reading."
        )
    return values


def pace_of(latest: Sequence[HistoryLine]) -> dict[str, Any]:
    """Say how long a document takes, from the latest answers, the last first; pauses do not count."""
    given = [line for line in latest if line.origin != "prior"]
    return {
        "seconds": median_seconds(line.seconds for line in given),
        "per_hour": per_hour([line.answered_at for line in reversed(given)]),
        "n_timed": sum(line.seconds is not None for line in given),
        "found_lately": sum(line.verdict == "relevant" for line in given[:LATELY]),
    }
