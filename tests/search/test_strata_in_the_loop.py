"""A search over a collection that grew: each part has its own sample, and claims are never more than they allow."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from riffler import InputError
from riffler.ledger import UNKNOWN, Ledger
from riffler.search.controls import stratum_orders
from riffler.search.loop import ActiveSearch
from riffler.stopping import ControlSample, control_order
from tests.search.test_loop import N, library

COLLECTION, TRUTH = library()
PARTS = [COLLECTION.ids[:200], COLLECTION.ids[200:]]
SETTINGS = {"policy": "greedy", "description": "whales in the ocean", "target": 0.7, "seed": 0}


def search_for(stopping: str | ControlSample | None = "control", **more: object) -> ActiveSearch:
    return ActiveSearch(COLLECTION, stopping=stopping, **{**SETTINGS, **more})  # type: ignore[arg-type]


def go_on(search: ActiveSearch, n_rounds: int, n: int = 5) -> ActiveSearch:
    """Answer truly until the rule stops."""
    for _ in range(n_rounds):
        if search.estimate().stop:
            break
        ids = search.suggest(n)
        search.answer(ids, [int(TRUTH[int(name[1:])]) for name in ids])
    return search


def test_each_part_has_the_order_that_it_had_alone() -> None:
    orders = stratum_orders(COLLECTION, PARTS, seed=3)
    for part, order in zip(PARTS, orders, strict=True):
        alone = control_order(part, "3/control")
        assert [COLLECTION.ids[row] for row in order] == [part[row] for row in alone]
    np.testing.assert_array_equal(stratum_orders(COLLECTION, None, 3)[0], control_order(COLLECTION.ids, "3/control"))


@pytest.mark.parametrize("rule", ["control", "open-control", "qbcb", "target", "in-a-row"])
def test_a_search_over_parts_ends_and_replays(rule: str) -> None:
    search = go_on(search_for(rule, strata=PARTS), 200)
    assert search.estimate().stop
    again = ActiveSearch.replay(COLLECTION, search.ledger, stopping=rule, strata=PARTS, **SETTINGS)
    assert list(again.ledger) == list(search.ledger)
    assert again.estimate() == search.estimate()
    assert again.recall() == search.recall()
    if search.estimate().certificate:
        assert search.progress().n_relevant >= 0.7 * TRUTH.sum()
        drawn = {str(entry.item) for entry in search.ledger if entry.origin == "control"}
        assert all(drawn & set(part) for part in PARTS)


def test_one_part_is_the_whole() -> None:
    plain, one = go_on(search_for(), 30), go_on(search_for(strata=[COLLECTION.ids]), 30)
    assert [entry.item for entry in plain.ledger] == [entry.item for entry in one.ledger]
    assert plain.estimate() == one.estimate()
    assert plain.recall() == one.recall()


def test_parts_must_be_the_collection() -> None:
    with pytest.raises(InputError, match="strata must name each of the 300 items once, got 200 ids"):
        search_for(strata=PARTS[:1])
    with pytest.raises(InputError, match="got 301 ids"):
        search_for(strata=[*PARTS, ["d0"]])


def test_the_interval_holds_the_truth_and_the_certificate() -> None:
    for strata in (None, PARTS):
        search = search_for(ControlSample(every=3), strata=strata)
        inside = []
        for _ in range(60):
            decision, found = search.estimate(), search.recall()
            assert found.n_found == search.progress().n_relevant
            assert found.total_low <= found.total_high
            assert (found.recall_low >= 0.7) == decision.stop or found.n_found == 0
            inside.append(found.total_low <= TRUTH.sum() <= found.total_high)
            if decision.stop:
                break
            go_on(search, 1)
        assert search.estimate().stop
        assert np.mean(inside) > 0.9


def test_without_a_blind_sample_it_is_what_logic_or_the_rule_allows() -> None:
    for rule in (None, "in-a-row"):
        search = search_for(rule)
        ids = search.suggest(20)
        search.answer(ids, [int(TRUTH[int(name[1:])]) for name in ids])
        found = search.recall()
        assert (found.total, found.total_low) == (None, found.n_found)
        assert found.total_high == found.n_found + N - 20
    search = go_on(search_for("open-control"), 200)
    low = search.estimate().recall_low
    assert low is not None
    assert search.recall().recall_low == pytest.approx(low, abs=0.03)
    assert search.recall().recall_low >= low


def changed(ledger: Ledger, item: str, answer: int) -> Ledger:
    """The ledger with another answer about an item."""
    other = Ledger()
    for entry in ledger:
        other.append(replace(entry, answer=answer) if entry.item == item else entry)
    return other


def test_an_unresolved_control_document_counts_as_relevant_and_missed() -> None:
    search = go_on(search_for(), 200)
    assert search.estimate().stop
    met = {entry.item for entry in search.ledger if entry.origin == "policy"}
    unmet = [str(entry.item) for entry in search.ledger if entry.origin == "control" and entry.item not in met]
    doubtful = search.ledger
    for name in unmet[:6]:
        doubtful = changed(doubtful, name, UNKNOWN)
    again = ActiveSearch.replay(COLLECTION, doubtful, stopping="control", **SETTINGS)
    assert not again.estimate().stop
    assert again.recall().n_unresolved == 6
    assert again.recall().recall_low < 0.7 <= search.recall().recall_low
    missed = doubtful
    for name in unmet[:6]:
        missed = changed(missed, name, 1)
    as_missed = ActiveSearch.replay(COLLECTION, missed, stopping="control", **SETTINGS)
    assert as_missed.recall().total_high == again.recall().total_high


def test_a_corrected_answer_is_counted_as_if_it_had_been_given_at_once() -> None:
    search = go_on(search_for(), 200)
    found = next(str(entry.item) for entry in search.ledger if entry.origin == "policy" and entry.answer == 1)
    corrected = ActiveSearch.replay(COLLECTION, changed(search.ledger, found, 0), stopping="control", **SETTINGS)
    assert corrected.recall().n_found == search.recall().n_found - 1
    assert corrected.progress().n_relevant == search.progress().n_relevant - 1


def test_what_was_found_by_hand_never_counts_as_control() -> None:
    """Even where it is at the head of the random order: it was not drawn, and it is no miss."""
    search = search_for()
    ids = search.suggest(5)
    search.answer(ids, [int(TRUTH[int(name[1:])]) for name in ids])
    head = [COLLECTION.ids[row] for row in control_order(COLLECTION.ids, "0/control")[:30]]
    by_hand = [name for name in head if name not in {entry.item for entry in search.ledger}]
    before = search.progress().n_control
    search.answer(by_hand, [int(TRUTH[int(name[1:])]) for name in by_hand])
    assert {entry.origin for entry in search.ledger if entry.item in by_hand} == {"search"}
    assert search.progress().n_control == search.recall().n_control == before
    alone = search_for()
    alone.answer(by_hand, [UNKNOWN] * len(by_hand))
    assert (alone.recall().n_control, alone.recall().n_unresolved) == (0, len(by_hand))  # nobody knows: maybe missed


def test_draws_after_an_undone_answer_are_still_a_sample() -> None:
    """An answer that was taken back is not in the ledger, and the draws after it are weighed without it."""
    search = go_on(search_for("open-control", strata=PARTS), 20)
    undone = next(entry.item for entry in search.ledger if entry.origin == "policy")
    rest = Ledger()
    for entry in search.ledger:
        if entry.item != undone:
            rest.append(entry)
    again = ActiveSearch.replay(COLLECTION, rest, stopping="open-control", strata=PARTS, **SETTINGS)
    assert again.estimate().reason
    assert go_on(again, 200).estimate().stop


def test_the_chance_of_a_draw_is_told() -> None:
    search = search_for(ControlSample(every=2), strata=PARTS)
    while search.batch_origin != "control":
        ids = search.suggest(1)
        chances = [search.probability(name) for name in ids]
        n_left = [sum(name not in {entry.item for entry in search.ledger} for name in part) for part in PARTS]
        search.answer(ids, [0])
    assert chances == [1.0 / n_left[0 if ids[0] in PARTS[0] else 1]]
    assert list(search.ledger)[-1].probability == chances[0]


def test_going_back_is_a_replay_from_there() -> None:
    for features in (None, np.random.default_rng(0).normal(size=(N, 40)).astype(np.float32)):
        search = search_for(ControlSample(every=4), features=features, relevant=["d3"], target=0.95)
        for _ in range(12):
            go_on(search, 1)
        kept = search.snapshot()
        for _ in range(12):
            go_on(search, 1)
        last = list(search.ledger)[kept.n_entries]
        other = changed(search.ledger, str(last.item), 1 - last.answer)
        anew = ActiveSearch.replay(
            COLLECTION, other, stopping=ControlSample(every=4), features=features, **{**SETTINGS, "target": 0.95}
        )
        for _ in range(2):  # the moment can be gone back to again
            search.go_back(kept, other)
            assert list(search.ledger)[: len(other)] == list(other)
            np.testing.assert_array_equal(search.scores(), anew.scores())
            assert search.suggest(7) == anew.suggest(7)
            assert search.estimate() == anew.estimate()
            assert search.progress() == anew.progress()
