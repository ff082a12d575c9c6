"""A search with a stopping rule: control documents are woven in, hidden from the policy, met later, and replayed."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from riffler import InputError
from riffler.search.loop import ActiveSearch
from riffler.stopping import STOPPING_RULES, ControlSample
from tests.search.test_loop import N, library


def finished(stopping: str | ControlSample, n: int, seed: int = 0, target: float = 0.8) -> ActiveSearch:
    """Review until the rule stops or everything is read; answer truly."""
    collection, truth = library()
    search = ActiveSearch(
        collection, policy="greedy", stopping=stopping, description="whales in the ocean", target=target, seed=seed
    )
    for _ in range(2 * N):
        if search.estimate().stop:
            break
        ids = search.suggest(n)
        if not ids:
            break
        search.answer(ids, [int(truth[int(name[1:])]) for name in ids])
    return search


@pytest.mark.parametrize("n", [1, 7])
@pytest.mark.parametrize("rule", ["control", "open-control", "qbcb", "hypergeometric-random", "elusion"])
def test_a_certificate_reaches_its_target_and_replays(rule: str, n: int) -> None:
    collection, truth = library()
    search = finished(rule, n)
    assert search.estimate().stop
    assert search.progress().n_control > 0
    assert search.progress().n_relevant >= 0.8 * truth.sum()
    again = ActiveSearch.replay(
        collection,
        search.ledger,
        policy="greedy",
        stopping=rule,
        description="whales in the ocean",
        target=0.8,
    )
    assert list(again.ledger) == list(search.ledger)
    assert again.estimate() == search.estimate()
    assert again.suggest(9) == search.suggest(9)


@pytest.mark.parametrize("rule", sorted(STOPPING_RULES.keys() - {"fixed"}))  # which takes a number of documents
def test_every_rule_runs_in_the_loop(rule: str) -> None:
    search = finished(rule, n=10)
    assert search.estimate().reason


@pytest.mark.parametrize("rule", sorted(STOPPING_RULES))
def test_a_review_without_a_find_ends_when_everything_is_read(rule: str) -> None:
    collection, _ = library()
    search = ActiveSearch(collection, policy="greedy", stopping=rule, seed=0)
    for _ in range(20):
        if search.estimate().stop:
            break
        ids = search.suggest(100)
        search.answer(ids, [0] * len(ids))
    assert search.estimate().stop


def test_the_policy_does_the_same_with_and_without_a_control_sample() -> None:
    collection, truth = library()
    with_sample = finished(ControlSample(every=5), n=4, target=0.95)
    walk = [entry.item for entry in with_sample.ledger if entry.origin == "policy"]
    alone = ActiveSearch(collection, policy="greedy", description="whales in the ocean", seed=0)
    seen: list[str] = []
    while len(seen) < len(walk):
        ids = alone.suggest(4)
        seen += ids
        alone.answer(ids, [int(truth[int(name[1:])]) for name in ids])
    by_batch = [sorted(walk[at : at + 4]) for at in range(0, len(walk) - 4, 4)]
    assert by_batch == [sorted(map(str, seen[at : at + 4])) for at in range(0, len(walk) - 4, 4)]


def test_met_documents_cost_nothing_and_nobody_is_asked_twice() -> None:
    search = finished(ControlSample(every=3), n=1, target=0.95)
    again = [entry for entry in search.ledger if entry.cost == 0]
    assert again
    assert all(entry.origin == "policy" for entry in again)
    paid = [entry.item for entry in search.ledger if entry.cost]
    assert len(set(paid)) == len(paid) == search.progress().n_reviewed


def test_who_looks_far_ahead_and_answers_little_has_not_met_what_lies_between() -> None:
    """Else relevant control documents would count as found where the others of their rank are not even read."""
    collection, truth = library()
    search = ActiveSearch(collection, policy="greedy", stopping=ControlSample(every=2), description="whales", seed=0)
    place = {name: row for row, name in enumerate(collection.ids)}
    n_met = 0
    for _ in range(60):
        scores, before = search.scores(), len(search.ledger)
        first = search.suggest(20)[0]
        search.answer([first], [int(truth[place[first]])])
        met = [str(entry.item) for entry in search.ledger if entry.cost == 0][n_met:]
        assert all(scores[place[name]] >= scores[place[first]] for name in met)
        assert len(search.ledger) == before + 1 + len(met)
        n_met += len(met)
    assert 0 < n_met < search.progress().n_control


def test_without_a_rule_nothing_is_claimed() -> None:
    collection, _ = library()
    with pytest.raises(InputError, match=r"no stopping rule.*stopping=\"control\""):
        ActiveSearch(collection, policy="greedy").estimate()


def test_what_was_known_before_is_recorded_and_costs_nothing() -> None:
    collection, truth = library()
    whales = [f"d{row}" for row in np.flatnonzero(truth)[:2]]
    search = ActiveSearch(collection, policy="greedy", relevant=whales, irrelevant=["d0"], seed=0)
    assert [entry.origin for entry in search.ledger] == ["prior"] * 3
    assert search.ledger.cost == 0
    assert not set(whales) & set(search.suggest(N))
    found = search.suggest(10)
    assert np.mean([truth[int(name[1:])] for name in found]) > 0.7  # by chance 0.1


def test_the_order_of_the_collection_does_not_matter() -> None:
    collection, truth = library()
    shuffled = collection.take(np.random.default_rng(5).permutation(N))
    walks = []
    for one in (collection, shuffled):
        search = ActiveSearch(one, policy="greedy", seed=1)
        for _ in range(15):
            ids = search.suggest(4)
            search.answer(ids, [int(truth[int(name[1:])]) for name in ids])
        walks.append([entry.item for entry in search.ledger])
    assert walks[0] == walks[1]


@pytest.mark.parametrize("dense", [False, True])
def test_copies_are_equal_wherever_they_stand(dense: bool) -> None:
    """Scores of copies differ in no digit, so which comes first is told by the ties alone."""
    collection, _ = library()
    copies = np.tile(np.arange(N // 3), 3)
    rows = np.random.default_rng(0).standard_normal((N // 3, 120)).astype(np.float32)
    truth = (rows[:, 0] > 1).astype(int)[copies]
    features = rows[copies] if dense else sparse.csr_matrix(np.where(rows > -1, rows, 0)[copies])
    order = np.random.default_rng(5).permutation(N)
    walks = []
    for one, X in ((collection, features), (collection.take(order), features[order])):
        known = f"d{int(np.flatnonzero(truth)[0])}"
        search = ActiveSearch(one, features=X, policy="greedy", relevant=[known], seed=1)
        for _ in range(30):
            ids = search.suggest(4)
            search.answer(ids, [int(truth[int(name[1:])]) for name in ids])
        walks.append([entry.item for entry in search.ledger])
    assert walks[0] == walks[1]
