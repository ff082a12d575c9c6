"""The search itself: score, select, reveal, update, until everything relevant is found or nobody wants to go on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import groupby
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from riffler.data.collection import Collection
from riffler.disk import DiskCollection
from riffler.engine import Engine, TlsFiles
from riffler.errors import InputError
from riffler.ledger import IRRELEVANT, RELEVANT, Entry, Ledger
from riffler.oracles.base import checked_answer
from riffler.records import FloatArray, IntArray, Matrix
from riffler.search import policy_from
from riffler.search.answers import Answers
from riffler.search.arms import Arms
from riffler.search.controls import Controls, Goal, recall_by_logic, stratum_orders
from riffler.search.features import SearchFeatures
from riffler.search.ground import Place, clusters_on_disk, ground_in_memory, ground_on_disk
from riffler.search.learner import ClassifierSettings
from riffler.search.rescoring import CandidateScores, Rescoring, Stage
from riffler.search.snapshot import Snapshot
from riffler.search.view import Policy, SearchView
from riffler.stopping import Decision, StoppingRule, control_order, rule_from_name
from riffler.stopping.progress import check_goal
from riffler.stopping.recall_interval import RecallEstimate

if TYPE_CHECKING:
    from riffler.features.cluster_map import ClusterMap
    from riffler.features.clusters import SoftClusters


LATELY = 100  # documents on disk of each side in whose words the weights are told
ADVICE = "Correct it and answer again; none of these answers was taken in."


@dataclass(frozen=True, slots=True)
class SearchProgress:
    """How far a search has come; what was known before counts as reviewed."""

    n_items: int
    n_reviewed: int
    n_relevant: int
    n_control: int
    round: int


class ActiveSearch:
    """Walk through a collection: ``suggest`` what to review next, ``answer`` what it was, ``estimate`` if it is enough.

    The same collection, settings and answers in the same order give the same suggestions, however the collection is
    sorted; so a search can be rebuilt from its ledger alone (:meth:`replay`).

    Parameters
    ----------
    collection : texts with stable ids, in memory or on disk (:func:`riffler.open_collection`)
    policy : name of a search policy, or an object with ``propose``
    stopping : name of a stopping rule, or an object with ``decide``; None asks for no control documents
    features : matrix with a row for each item, or None for TF-IDF of words and pairs of the texts and their titles, and
        latent directions of the words; another search's ``features`` of the same items are taken over as they are
    description : what is sought, in a sentence; ranks the items by BM25 while nothing relevant is known
    relevant, irrelevant : ids that are known before
    target, confidence : recall that is wanted, and how sure a certificate shall be
    classifier : how the scores are learned
    clusters : soft clusters for the policies that use them: made before, or "lda", "nmf" or "kmeans" to fit them in the
        background, from the first suggestion on; the ledger records the round in which they join. A collection on disk
        has its own
    strata : ids of the items in the parts in which they came, the first part first; a certificate draws control
        documents from each part by itself. None takes all items for one part. Heuristic rules see the whole.
    engine, tls : for a collection on disk: "local", "dask", "dask://host:port" with the certificates that it needs, or
        an engine over ``rows_on_disk(collection)``; the suggestions are the same on all of them
    rescoring : when all items are scored; for every proposal unless something else is said
    seed : int of at least 0

    Of a collection on disk neither texts nor ids are held, its own rows are the features, and a description ranks by
    the cosine to these instead of BM25. A search that made its engine ends it by :meth:`close`.

    >>> import polars as pl
    >>> from riffler import collection_from_frame
    >>> texts = ["snow on the alps", "deep snow falls", "a warm beach", "sun and sea", "the snow melts", "beach sand"]
    >>> collection = collection_from_frame(pl.DataFrame({"id": list("abcdef"), "title": texts}))
    >>> search = ActiveSearch(collection, policy="greedy", description="snow", irrelevant=["c"], seed=0)
    >>> search.suggest(1)
    ['a']
    >>> search.answer(["a"], [1])
    >>> sorted(search.suggest(2))
    ['b', 'e']
    >>> search.progress().n_relevant
    1
    """

    def __init__(
        self,
        collection: Collection | DiskCollection,
        *,
        policy: str | Policy = "default",
        stopping: str | StoppingRule | None = None,
        features: Matrix | SearchFeatures | None = None,
        description: str | None = None,
        relevant: Sequence[str] = (),
        irrelevant: Sequence[str] = (),
        target: float = 0.95,
        confidence: float = 0.95,
        classifier: ClassifierSettings = ClassifierSettings(),  # noqa: B008 - frozen
        clusters: SoftClusters | str | None = None,
        strata: Sequence[Sequence[str]] | None = None,
        engine: str | Engine = "local",
        tls: TlsFiles | None = None,
        rescoring: Rescoring = Rescoring(),  # noqa: B008 - frozen
        seed: int = 0,
    ) -> None:
        check_goal(target, confidence)
        if seed < 0:
            raise InputError(f"seed must be at least 0, got {seed!r}.")
        self.collection = collection
        self.ledger = Ledger()
        self._policy = policy_from(policy)
        if isinstance(collection, DiskCollection):
            if clusters is not None:
                raise InputError(
                    f"{collection.source} is on disk, and its clusters are those that it was indexed with. Leave them "
                    "out; `riffler reindex --clusters` finds others."
                )
            clusters = clusters_on_disk(collection, self._policy)
            place = Place(engine, tls) if isinstance(engine, str) else engine
            ground = ground_on_disk(collection, features, description, place)
        else:
            ground = ground_in_memory(collection, features, description, engine)
        self.features, self._hashed = ground.features, ground.words
        self._engine, self._owned = ground.engine, ground.owned
        with self._closed_if_it_fails():
            order = control_order(collection.ids, f"{seed}/order").astype(np.int32)
            self._ties: IntArray = np.empty(order.size, dtype=np.int32)  # the place of each item in that order
            self._ties[order] = np.arange(order.size, dtype=np.int32)
            self._answers = Answers(collection.ids)
            self._learner = ground.learner(self._engine, classifier, order, self._ties, seed)
            self._arms = Arms(clusters, self._engine, order, seed)
            rule = rule_from_name(stopping) if isinstance(stopping, str) else stopping
            self._goal = Goal(target, confidence)
            self._controls: Controls | None = None
            if rule is not None:
                orders = stratum_orders(collection, strata if rule.certificate else None, seed)
                self._controls = Controls(rule, orders, self._goal)
            self._seed, self._round, self._n_control = seed, 0, 0
            self._hint, self._start, self._present = ground.hint, ground.start, ground.start
            self._rescoring = rescoring
            self._stage = self._new_stage()
            self._origin: dict[int, str] = {}  # of what is suggested and not answered
            self.batch_origin = "policy"  # whether the last suggestions were proposed, or drawn: "control"
            self._proposal: list[int] = []  # the policy's last one, hidden items among it
            self._know(relevant, irrelevant)

    @classmethod
    def replay(cls, collection: Collection | DiskCollection, ledger: Ledger, **settings: Any) -> Self:  # noqa: ANN401 - as in __init__
        """Rebuild a search from its ledger: the same rounds, in the same order, with the same settings.

        What was suggested and has no answer yet is not in the ledger: ask for it again by :meth:`suggest` before it is
        answered, lest a control document be taken for one that somebody found.
        """
        search = cls(collection, **{**settings, "relevant": (), "irrelevant": ()})
        with search._closed_if_it_fails():
            search._take_rest(ledger)
        return search

    def snapshot(self) -> Snapshot:
        """Keep this moment for :meth:`go_back`; it costs little, as rows of features are shared."""
        return Snapshot(
            n_entries=len(self.ledger),
            n_events=len(self.ledger.events),
            round=self._round,
            n_control=self._n_control,
            ranking=self._present,
            stage=self._stage,
            answers=self._answers.kept(),
            learner=self._learner.copy(),
            arms=copy(self._arms),
        )

    def go_back(self, kept: Snapshot, ledger: Ledger) -> None:
        """Return to a former moment, and take in from there the rest of a ledger that begins as this one did.

        Then the search is as if it were replayed from that ledger, for the cost of the rest alone.
        """
        before, self.ledger = self.ledger, Ledger()
        for entry in list(before)[: kept.n_entries]:
            self.ledger.append(entry)
        for event in before.events[: kept.n_events]:
            self.ledger.note(event)
        self._round, self._n_control = kept.round, kept.n_control
        self._present, self._stage = kept.ranking, kept.stage
        self._answers.go_back(kept.answers)
        self._learner, self._arms = kept.learner.copy(), copy(kept.arms)
        self._origin, self._proposal = {}, []
        self._take_rest(ledger)

    def suggest(self, n: int = 1) -> list[str]:
        """Return the ids of the next items to review, at most n: none when everything is reviewed.

        A batch is proposed by the policy, or drawn at random for the stopping rule.
        """
        if not isinstance(n, int | np.integer) or n < 1:
            raise InputError(f"n must be at least 1, a whole number, got {n!r}.")
        self._arms.join_when_ready(self.ledger, self._round)
        while True:
            rows, origin = self._drawn(n), "control"
            if not rows.size:
                rows, origin = self._proposed(n), "policy"
            if rows.size or not self._proposal:
                break
            self._take([])  # the policy came only to control documents, whose answers are known: it goes on
        self.batch_origin = origin
        for row in rows.tolist():
            self._origin.setdefault(row, origin)
        return [self.collection.ids[row] for row in rows.tolist()]

    def look_ahead(self, n: int = 1) -> list[str]:
        """Return what the policy proposes, at most n, while control documents wait: it does not need their answers."""
        rows = self._proposed(n).tolist()
        for row in rows:
            self._origin.setdefault(row, "policy")
        return [self.collection.ids[row] for row in rows]

    def answer(self, ids: Sequence[str], labels: Iterable[object]) -> None:
        """Take in answers: 1 or yes, 0 or no, None or ? for "don't know"; all of them, or none if one is bad.

        Items that were not suggested are welcome too: somebody found them.
        """
        _check_listed("ids", ids)
        told = list(labels)
        if len(told) != len(ids):
            raise InputError(f"{len(ids)} ids and {len(told)} answers came. Pass one answer for each id.")
        answers = [checked_answer(label, name, ADVICE) for name, label in zip(ids, told, strict=True)]
        rows = self._answers.rows_of(ids)
        now = _now()
        self.take_in(
            Entry(name, self._round, self._origin.get(row, "search"), False, 1.0, answer, 1.0, now)
            for name, row, answer in zip(ids, rows, answers, strict=True)
        )

    def take_in(self, entries: Iterable[Entry]) -> None:
        """Take in a round of answers whose origins and costs somebody else wrote down, such as a durable review.

        Its number and the probabilities are set here.
        """
        told = list(entries)
        rows = self._answers.new_rows([str(entry.item) for entry in told])
        if not rows:
            return
        for row in rows:
            self._origin.pop(row, None)
        self._take([replace(entry, round=self._round, probability=1.0) for entry in told])

    def probability(self, name: str) -> float:
        """Return the chance with which an item of the last suggestions was drawn; 1 for what the policy proposed."""
        row = self._answers.row(name)
        if self._controls is None or self._origin.get(row) != "control":
            return 1.0
        return 1.0 / max(self._controls.n_left(row, self._answers), 1)

    def progress(self) -> SearchProgress:
        """Say how far the search has come."""
        return SearchProgress(
            n_items=self.collection.n_items,
            n_reviewed=len(self._answers.first),
            n_relevant=self._answers.n_relevant,
            n_control=self._n_control,
            round=self._round,
        )

    def estimate(self) -> Decision:
        """Say whether it is enough, why, and what recall is certain."""
        if self._controls is None:
            raise InputError(
                "This search has no stopping rule, so nothing can be said about its recall. "
                'Make it with stopping="control", or another rule of riffler.stopping.'
            )
        return self._controls.decide(self.ledger, self._answers, self._present)

    def recall(self) -> RecallEstimate:
        """Say how many relevant items there may be, and what share of them is found: the interval of this moment.

        It comes from the control documents of a rule that the policy is blind to. It holds with the confidence asked
        for at a moment that is fixed in advance, and not at one that is chosen because it looks good: whether to stop
        is said by :meth:`estimate`, and the lower end of the recall reaches the target only where that has proved it.
        Without control documents it is what logic allows.
        """
        if self._controls is None:
            return recall_by_logic(self._answers, self._goal)
        return self._controls.recall(self.ledger, self._answers, self._present)

    def scores(self) -> FloatArray:
        """Return the present score of every item, in the order of the collection."""
        return self._present.all().copy()

    def row_of(self, name: str) -> int:
        """Return the row of an item in the collection."""
        return self._answers.row(name)

    def scores_of(self, ids: Sequence[str]) -> list[float]:
        """Return the present scores of some items."""
        rows = np.array(self._answers.rows_of(ids), dtype=np.int64)
        scores: list[float] = self._present.of(rows).tolist()
        return scores

    def close(self) -> None:
        """End the engine that was made for this search, if there is one."""
        if self._owned is not None:
            self._owned.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @contextmanager
    def _closed_if_it_fails(self) -> Iterator[None]:
        """End the engine of a search that cannot be made: nobody gets hold of it."""
        try:
            yield
        except BaseException:
            self.close()
            raise

    def terms(self, n: int = 20) -> list[tuple[str, float]]:
        """Return the words and pairs that speak most for relevance now, and those that speak most against it.

        At most n of weights above 0, the largest first, then at most n of weights below 0, the lowest first. None while
        nothing relevant is known, and none where the features are a matrix that somebody else made. Of a collection on
        disk they are words of the documents that were answered last.
        """
        if n < 1:
            raise InputError(f"n must be at least 1, got {n!r}.")
        if self._hashed is not None:
            return self._hashed.strongest(self._lately_answered(), self._learner.column_weights(), n)
        words = None if self.features is None else self.features.words
        return [] if words is None else words.strongest(self._learner.column_weights(), n)

    def reasons(self, ids: Sequence[str], n: int = 3) -> list[list[str]]:
        """Return the words and pairs that speak most for each of some items; none where :meth:`terms` has none."""
        rows = np.array(self._answers.rows_of(ids), dtype=np.int64)
        if self._hashed is not None:
            return self._hashed.strongest_of(rows, self._learner.column_weights(), n)
        words = None if self.features is None else self.features.words
        if words is None:
            return [[] for _ in ids]
        weights, found = self._learner.column_weights(), self._engine.rows(rows)
        return [words.strongest_of(found[at], weights, n) for at in range(len(ids))]

    def cluster_map(self, n_clusters: int | None = None) -> ClusterMap:
        """Group the items and lay the groups out on a plane, each with words that tell it from the others."""
        from riffler.features.cluster_map import cluster_map

        if self.features is None:
            raise InputError(f"{self.collection.source} is on disk: there is no map of its groups.")
        words = self.features.words
        return cluster_map(self.features.rows, None if words is None else words.names, n_clusters, self._seed)

    def _lately_answered(self) -> IntArray:
        """The last items of each side that the policy knows."""
        rows = self._answers.rows
        labels = self._answers.labels[rows]
        return np.concatenate([rows[labels == side][-LATELY:] for side in (RELEVANT, IRRELEVANT)])

    def _take_rest(self, ledger: Ledger) -> None:
        """Take in the rounds of a ledger that come after those of this search."""
        rest = list(ledger)[len(self.ledger) :]
        self._answers.rows_of([str(entry.item) for entry in rest])  # all at once, where they are on disk
        for _, entries in groupby(rest, key=lambda entry: entry.round):
            self._arms.join_as_recorded(self.ledger, ledger, self._round)
            self._take(list(entries))
        self._arms.join_as_recorded(self.ledger, ledger, self._round)

    def _know(self, relevant: Sequence[str], irrelevant: Sequence[str]) -> None:
        """Record what was known before; it cost nothing."""
        _check_listed("relevant", relevant)
        _check_listed("irrelevant", irrelevant)
        ids = [*relevant, *irrelevant]
        if not ids:
            return
        self._answers.new_rows(ids)
        now = _now()
        labels = [RELEVANT] * len(relevant) + [IRRELEVANT] * len(irrelevant)
        self._take([Entry(name, 0, "prior", False, 1.0, one, 0.0, now) for name, one in zip(ids, labels, strict=True)])

    def _drawn(self, n: int) -> IntArray:
        """Return control documents, if it is their turn."""
        if self._controls is None:
            return np.empty(0, dtype=np.int64)
        return self._controls.draw(self.ledger, self._answers, self._present, n)

    def _proposed(self, n: int) -> IntArray:
        """Return what the policy proposes, without the hidden items: their answers are known."""
        rows = self._policy.propose(self._view(), n)
        self._proposal = rows.tolist()
        return rows[~self._answers.hidden[rows]]

    def _take(self, entries: list[Entry]) -> None:
        """Append a round to the ledger, and learn from it what the policy may know."""
        blind = self._controls is not None and self._controls.rule.blind
        for given in entries + self._meetings(entries):
            entry = self._with_chance(given)
            self.ledger.append(entry)
            self._n_control += entry.origin == "control"
            self._answers.take(entry, hide=blind and entry.origin == "control")
        self._proposal = []
        self._round += 1
        if any(not (blind and entry.origin == "control") for entry in entries) or not entries:
            self._learn()

    def _with_chance(self, entry: Entry) -> Entry:
        """Say with what probability a control document was drawn: as one of those of its stratum without an answer."""
        if entry.origin != "control" or self._controls is None:
            return entry
        n_left = self._controls.n_left(self._answers.row(str(entry.item)), self._answers)
        return replace(entry, probability=1.0 / max(n_left, 1))

    def _meetings(self, entries: list[Entry]) -> list[Entry]:
        """Return entries for the control documents that the policy comes to with these answers, at no cost."""
        if any(entry.origin == "control" for entry in entries):
            return []
        now = entries[0].asked_at if entries else _now()
        named = {self._answers.row(str(entry.item)) for entry in entries}
        return [
            Entry(self.collection.ids[row], self._round, "policy", False, 1.0, int(self._answers.labels[row]), 0.0, now)
            for row in self._answers.passed(self._proposal, named)
        ]

    def _learn(self) -> None:
        self._answers.turn += 1
        ranking = self._learner.ranking(self._answers)
        is_first = ranking is not None and self._present is self._start
        if ranking is not None:  # else what was scored before stays the best guess
            self._present = ranking
        if is_first or self._rescoring.is_due(self._answers.turn):
            self._stage = self._new_stage()

    def _new_stage(self) -> Stage:
        """All items as they rank now; what follows until the next one is chosen among their best."""
        return Stage(self._present, self._answers.rows.copy(), self._rescoring.candidates)

    def _view(self) -> SearchView:
        known = self._answers
        return SearchView(
            engine=self._engine,
            ranking=self._present if self._rescoring.every == 1 else CandidateScores(self._present, self._stage),
            reviewed=known.seen,
            items=known.rows,
            answers=known.labels[known.rows],
            rounds=known.turns,
            round=known.turn,
            rng=np.random.default_rng([self._seed, 1 + known.turn]),
            ties=self._ties,
            hint=self._hint,
            memberships=self._arms.memberships,
        )


def _check_listed(name: str, ids: Sequence[str]) -> None:
    if isinstance(ids, str):  # a sequence of letters
        raise InputError(f"{name} must be a list of ids, got the text {ids!r}. Put it into a list.")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
