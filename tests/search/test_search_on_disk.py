"""A search of a collection on disk: the same suggestions wherever its blocks lie, and as in memory."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from riffler.disk import DiskCollection, open_collection
from riffler.disk.block import Block
from riffler.disk.ids import DiskIds
from riffler.engine import DaskEngine, LocalEngine, rows_on_disk
from riffler.errors import EngineError, InputError, RifflerError
from riffler.ledger import Entry, Ledger
from riffler.records import FloatArray, IntArray
from riffler.search import POLICIES, WITH_CLUSTERS, Greedy, Mix, policy_from
from riffler.search.ground import clusters_on_disk
from riffler.search.loop import ActiveSearch
from riffler.search.rescoring import Rescoring
from riffler.search.thompson import ClusterThompson
from riffler.stopping import (
    STOPPING_RULES,
    Decision,
    Elusion,
    InARow,
    Progress,
    Quant,
    StoppingRule,
    control_order,
)
from riffler.stopping.progress import Heuristic
from tests.disk.documents import rows_of
from tests.engine.clusters import new_cluster
from tests.search.on_disk import (
    SETTINGS,
    SUBJECTS,
    NotedEngine,
    answers_of,
    labelled_documents,
    made_collection,
    repeated_documents,
    walk,
)

FRAME = labelled_documents(900)
ANSWERS = answers_of(FRAME)
RELEVANT, IRRELEVANT = (next(name for name in ANSWERS if ANSWERS[name] == label) for label in (1, 0))


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> DiskCollection:
    return made_collection(FRAME, tmp_path_factory.mktemp("disk") / "many", n_items=130, n_clusters=12)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> DiskCollection:
    return made_collection(FRAME, tmp_path_factory.mktemp("disk") / "one", n_items=10_000, n_clusters=12)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    pytest.importorskip("distributed")
    with new_cluster() as one:
        yield one


@pytest.fixture(scope="module")
def expected(collection: DiskCollection) -> list[list[str]]:
    return walk(ActiveSearch(collection, **SETTINGS), ANSWERS)


@pytest.mark.parametrize("policy", POLICIES)
def test_partitions_make_no_difference(collection: DiskCollection, whole: DiskCollection, policy: str) -> None:
    assert len(whole.blocks) == 1
    settings: dict[str, Any] = {"policy": policy, "relevant": [RELEVANT], **SETTINGS}
    assert walk(ActiveSearch(whole, **settings), ANSWERS) == walk(ActiveSearch(collection, **settings), ANSWERS)


@pytest.mark.parametrize("policy", ["default", "thompson"])
def test_neither_partitions_nor_the_order_of_documents_make_a_difference_to_equal_texts(
    tmp_path: Path, policy: str
) -> None:
    frame = repeated_documents(250, times=4)
    answers = answers_of(frame)
    shuffled = frame.sample(fraction=1.0, shuffle=True, seed=1)
    found = []
    for name, one, n_items in (("whole", frame, 10_000), ("small", frame, 37), ("shuffled", shuffled, 130)):
        made = made_collection(one, tmp_path / name, n_items, n_clusters=12)
        found.append(walk(ActiveSearch(made, policy=policy, relevant=["d00001/0"], seed=4), answers, n_batches=6))
    assert found[0] == found[1]
    assert found[0] == found[2]


def test_it_finds_what_is_relevant(expected: list[list[str]]) -> None:
    asked = [name for batch in expected for name in batch]
    assert len(set(asked)) == len(asked)
    assert sum(ANSWERS[name] for name in asked) > 0.7 * sum(ANSWERS.values())


def test_dask_suggests_the_same_and_a_killed_worker_changes_nothing(
    cluster: Any,  # noqa: ANN401 - Dask's own
    collection: DiskCollection,
    expected: list[list[str]],
) -> None:
    with DaskEngine(rows_on_disk(collection), cluster) as engine:
        search = ActiveSearch(collection, engine=engine, **SETTINGS)
        asked = walk(search, ANSWERS, n_batches=3)
        os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL)
        asked += walk(search, ANSWERS, n_batches=5)
    assert asked == expected


def test_a_scheduler_that_goes_away_is_one_error_and_nothing_is_lost(
    collection: DiskCollection, expected: list[list[str]]
) -> None:
    pytest.importorskip("distributed")
    with new_cluster(n_workers=1) as short_lived:
        search = ActiveSearch(collection, engine=DaskEngine(rows_on_disk(collection), short_lived), **SETTINGS)
        asked = walk(search, ANSWERS, n_batches=2)

    def go_on() -> None:
        for _ in expected:  # control documents are drawn without the engine
            asked.extend(walk(search, ANSWERS, n_batches=1))

    with pytest.raises(EngineError, match="went away"):
        go_on()
    on = ActiveSearch.replay(collection, search.ledger, **SETTINGS)
    assert asked + walk(on, ANSWERS, n_batches=len(expected) - len(asked)) == expected


@pytest.mark.parametrize("rescoring", [Rescoring(), Rescoring(every=3, candidates=50)])
def test_a_search_is_its_ledger(collection: DiskCollection, tmp_path: Path, rescoring: Rescoring) -> None:
    search = ActiveSearch(collection, rescoring=rescoring, **SETTINGS)
    walk(search, ANSWERS, n_batches=4)
    search.ledger.save(tmp_path / "ledger.jsonl")
    again = ActiveSearch.replay(collection, Ledger.load(tmp_path / "ledger.jsonl"), rescoring=rescoring, **SETTINGS)
    assert walk(again, ANSWERS) == walk(search, ANSWERS)
    assert again.progress() == search.progress()
    assert again.estimate() == search.estimate()
    assert again.recall() == search.recall()


@pytest.mark.parametrize("rescoring", [Rescoring(), Rescoring(every=3, candidates=50)])
def test_it_goes_back_to_a_moment(collection: DiskCollection, rescoring: Rescoring) -> None:
    search = ActiveSearch(collection, rescoring=rescoring, **SETTINGS)
    walk(search, ANSWERS, n_batches=2)
    before, kept = list(search.ledger), search.snapshot()
    first = walk(search, ANSWERS, n_batches=4)
    ledger = Ledger()
    for entry in before:
        ledger.append(entry)
    search.go_back(kept, ledger)
    assert walk(search, ANSWERS, n_batches=4) == first


@pytest.mark.parametrize("policy", POLICIES)
def test_policies_suggest_what_they_do_in_memory(collection: DiskCollection, policy: str) -> None:
    in_memory = collection.take(np.arange(collection.n_items))
    known = {"relevant": [RELEVANT], "irrelevant": [IRRELEVANT]}
    settings: dict[str, Any] = {"policy": policy, "stopping": "control", "seed": 1, **known}
    clusters = clusters_on_disk(collection, policy_from(policy))
    assert (clusters is None) == (policy not in WITH_CLUSTERS)
    with ActiveSearch(in_memory, features=rows_of(collection), clusters=clusters, **settings) as search:
        wanted = walk(search, ANSWERS, n_batches=4)
        with ActiveSearch(collection, **settings) as on_disk:
            assert walk(on_disk, ANSWERS, n_batches=4) == wanted
            np.testing.assert_allclose(on_disk.scores(), search.scores(), atol=1e-5)
            assert on_disk.scores_of(wanted[0]) == pytest.approx(search.scores_of(wanted[0]), abs=1e-5)
            assert on_disk.recall() == search.recall()


def test_thompson_sampling_visits_clusters_that_pay(collection: DiskCollection) -> None:
    searches = (ActiveSearch(collection, policy=one, relevant=[RELEVANT], seed=2) for one in ("thompson", "greedy"))
    thompson, greedy = (walk(search, ANSWERS, n_batches=3) for search in searches)
    assert thompson != greedy
    assert sum(ANSWERS[name] for batch in thompson for name in batch) > 20  # of 60; at random about 3


@pytest.mark.parametrize("policy", ["thompson", Mix([(Greedy(), 0.5), (ClusterThompson(), 0.5)])])
def test_a_policy_without_its_clusters_is_refused_with_a_way_out(tmp_path: Path, policy: Any) -> None:  # noqa: ANN401
    plain = made_collection(FRAME[:50], tmp_path / "plain", n_items=50)
    with pytest.raises(InputError, match=r"riffler reindex .* --clusters 200"):
        ActiveSearch(plain, policy=policy)


class OnceAllLookIrrelevant(Heuristic):
    """A rule of somebody's own, which says nothing about scores."""

    def decide(self, progress: Progress) -> Decision:
        return self.say(False, f"{np.sum(progress.scores > 0.5)} of {progress.scores.size} look relevant.")


class SureInARow(InARow):
    """One that looks at more than what it is derived from."""

    def decide(self, progress: Progress) -> Decision:
        return self.say(False, f"{progress.known_scores.size} scores of those that are read.")


@pytest.mark.parametrize(
    "rule",
    [Quant(), Elusion(after=Quant()), OnceAllLookIrrelevant(), SureInARow()],
    ids=lambda rule: type(rule).__name__,
)
def test_a_rule_gets_the_scores_that_it_gets_in_memory(collection: DiskCollection, rule: StoppingRule) -> None:
    in_memory = collection.take(np.arange(collection.n_items))
    said = []
    for one, features in ((collection, None), (in_memory, rows_of(collection))):
        search = ActiveSearch(one, features=features, stopping=rule, policy="greedy", irrelevant=[IRRELEVANT])
        walk(search, ANSWERS, n_batches=5)
        said.append(search.estimate())
    assert said[0].reason == said[1].reason
    assert re.search("recall of|of 799 look relevant|101 scores", said[0].reason)


def test_scores_for_a_rule_cost_one_pass_a_turn(collection: DiskCollection, monkeypatch: pytest.MonkeyPatch) -> None:
    passes, score = [], LocalEngine.scores

    def noted(engine: LocalEngine, weights: FloatArray, intercept: float = 0.0) -> FloatArray:
        passes.append(intercept)
        return score(engine, weights, intercept)

    monkeypatch.setattr(LocalEngine, "scores", noted)
    search = ActiveSearch(collection, stopping="quant", policy="greedy", relevant=[RELEVANT], irrelevant=[IRRELEVANT])
    for turn in range(1, 4):
        asked = search.suggest(5)
        assert search.recall().n_found == search.progress().n_relevant
        assert "recall of" in search.estimate().reason
        assert len(passes) == turn
        search.answer(asked, [ANSWERS[name] for name in asked])


@pytest.mark.parametrize("name", sorted(STOPPING_RULES.keys() - {"quant", "quant-ci"}))
def test_rules_that_do_not_look_at_scores_cost_no_pass(
    collection: DiskCollection, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LocalEngine, "scores", lambda *_: pytest.fail("all documents were scored"))
    search = ActiveSearch(collection, stopping=name, policy="greedy", relevant=[RELEVANT], irrelevant=[IRRELEVANT])
    search.suggest(1)
    assert search.estimate().reason


def test_words_behind_hashed_columns_come_from_documents(collection: DiskCollection) -> None:
    search = ActiveSearch(collection, policy="greedy", irrelevant=[IRRELEVANT])
    assert search.terms(5) == []
    search.answer([name for name in ANSWERS if ANSWERS[name]][:15], [1] * 15)
    walk(search, ANSWERS, n_batches=3)
    speak_for = [word for word, weight in search.terms(4) if weight > 0]
    assert set(speak_for) <= set(SUBJECTS[0].split())
    proposed = search.suggest(5)
    for name, words in zip(proposed, search.reasons(proposed), strict=True):
        text = collection.texts[collection.ids.row_of(name)].lower().split()
        assert words
        assert set(words) <= set(text)
    assert search.reasons([]) == []


def test_all_rows_come_through_the_engine(collection: DiskCollection, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = LocalEngine(rows_on_disk(open_collection(collection.folder)))
    assert len(elsewhere.blocks) == len(collection.blocks)  # all are open there
    here = open_collection(collection.folder)
    monkeypatch.setattr(Block, "rows", property(lambda block: pytest.fail(f"{block} was opened by the search")))
    search = ActiveSearch(here, engine=elsewhere, relevant=[RELEVANT], **SETTINGS)
    walk(search, ANSWERS, n_batches=3)
    proposed = search.look_ahead(5)
    assert any(search.reasons(proposed))
    assert search.terms(3)


def test_what_a_folder_cannot_take_is_said(collection: DiskCollection) -> None:
    rows = rows_of(collection)
    with pytest.raises(InputError, match="rows of its own"):
        ActiveSearch(collection, features=rows)
    with pytest.raises(InputError, match="Leave them "):
        ActiveSearch(collection, clusters="kmeans")
    with pytest.raises(InputError, match="strata are for collections in memory"):
        ActiveSearch(collection, stopping="control", strata=[list(ANSWERS)])
    with pytest.raises(InputError, match="rows_on_disk"):
        ActiveSearch(collection, engine=LocalEngine([rows[:10]]))
    with pytest.raises(InputError, match="Index it first"):
        ActiveSearch(collection.take(np.arange(50)), engine="dask")
    with pytest.raises(InputError, match="No item has the id 'x'"):
        ActiveSearch(collection).answer(["x"], [1])


@pytest.mark.parametrize(
    "settings",
    [{"relevant": ["nobody"]}, {"stopping": "control", "strata": [["nobody"]]}, {"stopping": "nonsense"}],
)
def test_a_search_that_cannot_be_made_leaves_no_engine(
    collection: DiskCollection, settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = noted_engines(monkeypatch)
    with pytest.raises(RifflerError):
        ActiveSearch(collection, **settings)
    assert [engine.is_closed for engine in made] == [True]
    given = NotedEngine(rows_on_disk(collection))
    with pytest.raises(RifflerError):
        ActiveSearch(collection, engine=given, **settings)
    assert not given.is_closed  # it is somebody else's


def test_a_ledger_that_cannot_be_replayed_leaves_no_engine(
    collection: DiskCollection, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = noted_engines(monkeypatch)
    ledger = Ledger()
    ledger.append(Entry("nobody", 0, "policy", False, 1.0, 1, 1.0, "2026-01-01"))
    with pytest.raises(RifflerError):
        ActiveSearch.replay(collection, ledger)
    assert [engine.is_closed for engine in made] == [True]


def noted_engines(monkeypatch: pytest.MonkeyPatch) -> list[NotedEngine]:
    """Collect the engines that searches make for themselves from now on."""
    made: list[NotedEngine] = []

    def make(name: str, blocks: Any, tls: object) -> NotedEngine:  # noqa: ANN401 - as engines take them
        made.append(NotedEngine(blocks))
        return made[-1]

    monkeypatch.setattr("riffler.search.ground.engine_from", make)
    return made


def test_the_random_order_of_ids_on_disk_is_that_of_ids_in_memory(collection: DiskCollection) -> None:
    in_memory = control_order(list(collection.ids), "3/control")
    np.testing.assert_array_equal(control_order(collection.ids, "3/control"), in_memory)


def test_equal_ids_by_their_keys_stand_in_one_order(monkeypatch: pytest.MonkeyPatch) -> None:
    from riffler.stopping import control

    monkeypatch.setattr(control, "_random_keys", lambda ids, key: np.array([len(one) for one in ids], dtype=np.uint64))
    ids = ["bb", "c", "aa", "b", "ddd"]
    assert [ids[row] for row in control.control_order(ids, 0).tolist()] == ["b", "c", "aa", "bb", "ddd"]


@pytest.mark.parametrize("description", ["", "x", "the of it"])
def test_a_description_without_words_is_refused_as_in_memory(description: str, collection: DiskCollection) -> None:
    for items in (collection, collection.take(np.arange(len(collection)))):
        with pytest.raises(InputError, match=r"has no word of two or more letters"):
            ActiveSearch(items, description=description)


def test_ids_are_looked_up_together(collection: DiskCollection, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    found = DiskIds.found

    def noted(ids: DiskIds, names: list[str]) -> IntArray:
        asked.append(len(names))
        return found(ids, names)

    monkeypatch.setattr(DiskIds, "found", noted)
    search = ActiveSearch(collection)
    names = search.suggest(20)
    search.answer(names, [0] * 20)
    assert asked == [20]
    ActiveSearch.replay(collection, search.ledger)
    assert asked == [20, 20]
    with pytest.raises(InputError, match="No item has the id 7"):
        search.row_of(7)  # type: ignore[arg-type]
