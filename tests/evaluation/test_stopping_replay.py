"""Rules replayed over recorded orders: what they cost and reach, by hand and against a search that really stopped."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from riffler.errors import InputError, UnknownName
from riffler.evaluation.stopping_replay import (
    NOT_IN_A_LEDGER,
    REPLAYED,
    Outcome,
    RecordedOrder,
    Review,
    full_order,
    replay_rule,
    replay_rules,
    replayable,
    summarise,
    usual_batch,
)
from riffler.records import IntArray
from riffler.search.loop import ActiveSearch
from riffler.stopping import STOPPING_RULES, ControlSample, InARow, Progress, control_order
from tests.evaluation.searches import problem
from tests.stopping.reviews import ranked_labels


def test_a_run_of_irrelevant_ones_ends_the_review_where_it_is_seen() -> None:
    labels = np.array([1, 1, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0])
    outcome = replay_rule(labels, InARow(4), np.random.default_rng(0), batch=1)
    assert outcome == Outcome(recall=0.75, cost=8, stopped=True)
    # looking every three documents it sees the run one document later
    assert replay_rule(labels, InARow(4), np.random.default_rng(0), batch=3).cost == 9


def test_priors_are_read_first_and_are_no_suggestions() -> None:
    review = Review(np.array([1, 0, 1, 0]), np.random.default_rng(0), blind=False, n_prior=2)
    review.go_on(1, round=1)
    assert [(entry.item, entry.origin) for entry in review.entries] == [(0, "prior"), (1, "prior"), (2, "policy")]
    assert review.n_read == 3


def test_control_documents_are_met_again_by_a_blind_policy_and_cost_nothing_then() -> None:
    review = Review(np.zeros(6, dtype=np.int8), np.random.default_rng(0), blind=True)
    review.draw(2, round=1)
    review.go_on(4, round=1)
    assert review.n_read == 6
    assert sum(entry.cost for entry in review.entries) == 6
    assert [entry.item for entry in review.entries if entry.origin == "policy"] == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("blind", [True, False])
def test_the_history_kept_along_is_that_of_the_ledger(blind: bool) -> None:
    rng = np.random.default_rng(5)
    review = Review(ranked_labels(rng, 300, 40), rng, blind=blind, n_prior=3)
    for round in range(1, 30):
        review.draw(int(rng.integers(4)), round)
        review.go_on(int(rng.integers(12)), round)
        kept = review.progress(0.9).history()
        read = Progress(300, review.entries, target=0.9, control_reach=review.reach).history()
        for name in ("answer", "control", "met", "probability", "ranked"):
            np.testing.assert_array_equal(getattr(kept, name), getattr(read, name), err_msg=name)


@pytest.mark.parametrize("name", REPLAYED)
def test_every_rule_ends_and_never_costs_more_than_everything(name: str) -> None:
    labels = ranked_labels(np.random.default_rng(3), 800, 80)
    outcome = replay_rule(labels, replayable(name), np.random.default_rng(4), target=0.9, batch=20, n_prior=2)
    assert 0 < outcome.recall <= 1
    assert 2 <= outcome.cost <= 800
    assert outcome.stopped == (outcome.cost < 800)


class InThisOrder(np.random.Generator):
    """Draws control documents in an order that is given."""

    def __init__(self, order: IntArray) -> None:
        super().__init__(np.random.PCG64(0))
        self._order = order

    def permutation(self, x: object, axis: int = 0) -> IntArray:  # type: ignore[override]
        return self._order


def walked(search: ActiveSearch, truth: dict[str, int], *, to_the_end: bool) -> list[str]:
    """Answer truly, one by one, until the rule stops or nothing is left; return what was asked."""
    while to_the_end or not search.estimate().stop:
        ids = search.suggest(1)
        if not ids:
            break
        search.answer(ids, [truth[name] for name in ids])
    return list(dict.fromkeys(str(entry.item) for entry in search.ledger))


@pytest.mark.parametrize("name", ["control", "elusion", "hypergeometric-random", "open-control", "qbcb", "target"])
def test_a_replay_reads_what_a_search_with_the_rule_read(name: str) -> None:
    toy, seed = problem(300, 60), 3
    ids = toy.collection.ids
    truth = dict(zip(ids, toy.labels.tolist(), strict=True))
    settings: dict[str, Any] = {"policy": "greedy", "features": toy.features, "relevant": [ids[0]], "seed": seed}
    order = walked(ActiveSearch(toy.collection, **settings), truth, to_the_end=True)
    drawn = np.array([order.index(ids[row]) for row in control_order(ids, f"{seed}/control")])
    labels = np.array([truth[one] for one in order])
    replayed = replay_rule(labels, replayable(name), InThisOrder(drawn), target=0.8, batch=1, n_prior=1)
    live = walked(ActiveSearch(toy.collection, stopping=name, target=0.8, **settings), truth, to_the_end=False)
    assert replayed.cost == len(live) < 300
    assert replayed.recall == pytest.approx(sum(truth[one] for one in live) / 60)


def test_what_a_run_left_is_irrelevant_only_if_it_found_everything() -> None:
    assert full_order(np.array([1, 0, -1, 1]), 6, 2).tolist() == [1, 0, 0, 1, 0, 0]
    with pytest.raises(InputError, match="found 1 of 3 relevant items"):
        full_order(np.array([1, 0]), 6, 3)


def test_the_table_counts_reviews_that_ended_short() -> None:
    outcomes = [Outcome(0.9, 50, True), Outcome(0.96, 70, True), Outcome(1.0, 100, False)]
    row = summarise("in-a-row", 0.95, outcomes, [100, 100, 100], [60, 65, 70])
    assert (row.n_short, row.n_all, row.n_reviews, row.n_certified) == (1, 1, 3, 0)
    assert row.share == pytest.approx(220 / 300)
    assert row.share_needed == pytest.approx(0.65)
    assert row.lowest_recall == 0.9
    assert row.p_value == pytest.approx(1 - 0.95**3)


def test_rules_and_targets_come_in_the_order_given_and_repeat_exactly() -> None:
    orders = {"greedy": [RecordedOrder(ranked_labels(np.random.default_rng(s), 600, 90), 2, s) for s in range(3)]}
    rows = replay_rules(orders, ["control", "half"], [0.8, 0.9])["greedy"]
    assert [(row.target, row.rule) for row in rows] == [
        (0.8, "control"), (0.8, "half"), (0.9, "control"), (0.9, "half"),
    ]  # fmt: skip
    assert rows == replay_rules(orders, ["control", "half"], [0.8, 0.9])["greedy"]
    assert rows[0].n_certified == 3
    assert rows[1].n_certified == 0
    assert rows == replay_rules(orders, ["control", "half"], [0.8, 0.9], n_jobs=2)["greedy"]
    assert rows[0].share_needed < rows[0].share


def test_the_same_random_order_is_drawn_for_every_rule() -> None:
    labels = ranked_labels(np.random.default_rng(0), 500, 50)
    first, second = (Review(labels, np.random.default_rng([7, 500]), blind=True) for _ in range(2))
    first.draw(20, 1)
    second.draw(20, 1)
    assert first.entries == second.entries
    rule = ControlSample()
    assert rule.decide(first.progress(0.9)) == rule.decide(second.progress(0.9))


def test_a_rule_that_needs_more_than_answers_says_so() -> None:
    assert set(REPLAYED) | set(NOT_IN_A_LEDGER) == set(STOPPING_RULES)
    with pytest.raises(InputError, match="'quant' needs a probability of every document at every step"):
        replayable("quant")
    with pytest.raises(UnknownName, match="No stopping rule called 'nonsense'"):
        replayable("nonsense")


def test_looks_come_every_half_percent() -> None:
    assert [usual_batch(n) for n in (1, 199, 400, 10_000)] == [1, 1, 2, 50]
