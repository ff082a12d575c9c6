"""A search of a collection on disk: the same suggestions wherever its blocks lie, and as in memory."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from riffler.disk import DiskCollection
from riffler.engine import DaskEngine, LocalEngine, rows_on_disk
from riffler.errors import EngineError, InputError
from riffler.ledger import Ledger
from riffler.search import POLICIES, Mix
from riffler.search.loop import ActiveSearch
from riffler.search.rescoring import Rescoring
from riffler.search.thompson import ClusterThompson
from riffler.stopping import control_order
from tests.disk.documents import rows_of
from tests.engine.clusters import new_cluster
from tests.search.on_disk import SETTINGS, SUBJECTS, answers_of, labelled_documents, made_collection, walk

FRAME = labelled_documents(900)
ANSWERS = answers_of(FRAME)
RELEVANT, IRRELEVANT = (next(name for name in ANSWERS if ANSWERS[name] == label) for label in (1, 0))
ON_DISK = ("default", "greedy", "random", "weight-thompson", "mix")


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> DiskCollection:
    return made_collection(FRAME, tmp_path_factory.mktemp("disk") / "many", n_items=130)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> DiskCollection:
    return made_collection(FRAME, tmp_path_factory.mktemp("disk") / "one", n_items=10_000)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    pytest.importorskip("distributed")
    with new_cluster() as one:
        yield one


@pytest.fixture(scope="module")
def expected(collection: DiskCollection) -> list[list[str]]:
    return walk(ActiveSearch(collection, **SETTINGS), ANSWERS)


def test_partitions_make_no_difference(whole: DiskCollection, expected: list[list[str]]) -> None:
    assert len(whole.blocks) == 1
    assert walk(ActiveSearch(whole, **SETTINGS), ANSWERS) == expected


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


@pytest.mark.parametrize("policy", ON_DISK)
def test_policies_suggest_what_they_do_in_memory(collection: DiskCollection, policy: str) -> None:
    in_memory = collection.take(np.arange(collection.n_items))
    known = {"relevant": [RELEVANT], "irrelevant": [IRRELEVANT]}
    settings: dict[str, Any] = {"policy": policy, "stopping": "control", "seed": 1, **known}
    with ActiveSearch(in_memory, features=rows_of(collection), **settings) as search:
        wanted = walk(search, ANSWERS, n_batches=4)
        with ActiveSearch(collection, **settings) as on_disk:
            assert walk(on_disk, ANSWERS, n_batches=4) == wanted
            np.testing.assert_allclose(on_disk.scores(), search.scores(), atol=1e-5)
            assert on_disk.scores_of(wanted[0]) == pytest.approx(search.scores_of(wanted[0]), abs=1e-5)
            assert on_disk.recall() == search.recall()


@pytest.mark.parametrize("policy", [*sorted(set(POLICIES) - set(ON_DISK)), Mix([(ClusterThompson(), 1.0)])])
def test_policies_that_need_all_scores_are_refused_with_a_way_out(collection: DiskCollection, policy: Any) -> None:  # noqa: ANN401
    with pytest.raises(InputError, match='Use "default", "greedy"'):
        ActiveSearch(collection, policy=policy)


def test_a_rule_that_needs_scores_gets_them(collection: DiskCollection) -> None:
    in_memory = collection.take(np.arange(collection.n_items))
    said = []
    for one, features in ((collection, None), (in_memory, rows_of(collection))):
        search = ActiveSearch(one, features=features, stopping="quant", policy="greedy", irrelevant=[IRRELEVANT])
        walk(search, ANSWERS, n_batches=5)
        said.append(search.estimate())
    assert said[0].reason == said[1].reason
    assert "recall of" in said[0].reason


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


def test_what_a_folder_cannot_take_is_said(collection: DiskCollection) -> None:
    rows = rows_of(collection)
    with pytest.raises(InputError, match="rows of its own"):
        ActiveSearch(collection, features=rows)
    with pytest.raises(InputError, match="Leave them out"):
        ActiveSearch(collection, clusters="kmeans")
    with pytest.raises(InputError, match="strata are for collections in memory"):
        ActiveSearch(collection, stopping="control", strata=[list(ANSWERS)])
    with pytest.raises(InputError, match="rows_on_disk"):
        ActiveSearch(collection, engine=LocalEngine([rows[:10]]))
    with pytest.raises(InputError, match="Index it first"):
        ActiveSearch(collection.take(np.arange(50)), engine="dask")
    with pytest.raises(InputError, match="No item has the id 'x'"):
        ActiveSearch(collection).answer(["x"], [1])


def test_the_random_order_of_ids_on_disk_is_that_of_ids_in_memory(collection: DiskCollection) -> None:
    in_memory = control_order(list(collection.ids), "3/control")
    np.testing.assert_array_equal(control_order(collection.ids, "3/control"), in_memory)


def test_equal_ids_by_their_keys_stand_in_one_order(monkeypatch: pytest.MonkeyPatch) -> None:
    from riffler.stopping import control

    monkeypatch.setattr(control, "_random_keys", lambda ids, key: np.array([len(one) for one in ids], dtype=np.uint64))
    ids = ["bb", "c", "aa", "b", "ddd"]
    assert [ids[row] for row in control.control_order(ids, 0).tolist()] == ["b", "c", "aa", "bb", "ddd"]
