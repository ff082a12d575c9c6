"""Reviews of a collection on disk: documents come from the folder when they come up, and it must stay as it was."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from shutil import copytree

import numpy as np
import polars as pl
import pytest
from sqlalchemy import Engine, func, select

from riffler.disk import DiskCollection, IndexOptions, index_collection, open_collection
from riffler.engine import LocalEngine, rows_on_disk
from riffler.errors import DataFileError, EngineError, InputError, ReviewFrozen
from riffler.review import folder_search
from riffler.review.creating import add_review, create_folder_review
from riffler.review.database import writing
from riffler.review.export import write_export
from riffler.review.folder import add_folder
from riffler.review.intake import add_upload
from riffler.review.learner import Loop
from riffler.review.live import LiveSearch
from riffler.review.prisma import prisma_counts
from riffler.review.remarks import Remark
from riffler.review.schema import Document, ReviewRow
from riffler.review.settings import ReviewSettings
from riffler.review.store import SOLE_REVIEWER, FileReview, Review, open_review
from riffler.search.ground import Place
from riffler.search.loop import ActiveSearch
from tests.engine.clusters import new_cluster
from tests.review.reviews import say
from tests.search.on_disk import answers_of, labelled_documents, made_collection

FRAME = labelled_documents(400, n_relevant=30).with_columns(year=pl.lit(1990) + pl.int_range(400) % 7)
ANSWERS = answers_of(FRAME)
SETTINGS = ReviewSettings(description="avalanche in the alps", seed=2)
NONE = np.empty(0, dtype=np.int64)
KEYS = count()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> DiskCollection:
    return made_collection(FRAME, tmp_path_factory.mktemp("folder") / "snow", n_items=90)


@pytest.fixture
def collection(made: DiskCollection, tmp_path: Path) -> DiskCollection:
    copytree(made.folder, tmp_path / "snow.collection")
    return open_collection(tmp_path / "snow.collection")


@pytest.fixture
def review(collection: DiskCollection, tmp_path: Path) -> FileReview:
    return create_folder_review(tmp_path / "snow.riffler", collection, SETTINGS, known=NONE)


def read(review: FileReview, n: int) -> list[str]:
    """Answer the next n documents of the queue truly."""
    names = []
    for queued in review.upcoming(n):
        review.mark_shown(queued.id)
        verdict = "relevant" if ANSWERS[queued.document] else "irrelevant"
        review.answer([say(queued.document, verdict, f"key {next(KEYS)}", queued.id)])
        names.append(queued.document)
    return names


def n_documents(review: FileReview) -> int:
    with review.moment() as session:
        return session.scalar(select(func.count(Document.id))) or 0


def test_documents_come_in_when_they_come_up(review: FileReview) -> None:
    assert n_documents(review) == 0
    assert review.counts()["unread"] == 400
    names = LiveSearch(review).refresh(10, ahead=20)
    assert n_documents(review) == 20
    (shown,) = review.whole_documents(names[:1])
    row = FRAME.filter(pl.col("id") == names[0])
    assert shown.view.title == (row["title"][0] or "")
    assert shown.view.abstract == (row["abstract"][0] or "")
    assert shown.view.columns["year"] == str(row["year"][0])
    assert set(shown.view.columns) == set(FRAME.columns)
    word = next(word for word in f"{shown.view.title} {shown.view.abstract}".split() if len(word) > 4)
    assert names[0] in [hit.document for hit in review.find(word)]


def test_the_review_asks_what_the_search_asks_and_goes_on_after_a_crash(
    review: FileReview, collection: DiskCollection
) -> None:
    live = LiveSearch(review)
    search = ActiveSearch(collection, **SETTINGS.for_search())
    for turn in range(8):
        if turn == 4:
            live = LiveSearch(review)  # the one before was killed
        asked = search.suggest(10)
        assert live.refresh(10) == asked
        assert sorted(read(review, len(asked))) == sorted(asked)
        search.answer(asked, [ANSWERS[name] for name in asked])
    assert review.counts()["relevant"] == search.progress().n_relevant > 5


def test_an_undo_goes_back(review: FileReview) -> None:
    live = LiveSearch(review)
    for _ in range(4):
        live.refresh(10)
        read(review, 10)
    live.refresh(10)
    review.undo_last("undo")
    assert live.refresh(10, ahead=15) == LiveSearch(review).refresh(10, ahead=15)


def test_a_scheduler_that_goes_away_loses_no_answer(review: FileReview, tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    review.backup(tmp_path / "local.riffler")
    with new_cluster(n_workers=1) as cluster:
        live = LiveSearch(review, Place(cluster.scheduler_address.replace("tcp://", "dask://")))
        for _ in range(3):
            live.refresh(10)
            read(review, 10)
    with pytest.raises(EngineError, match="went away"):
        live.refresh(10, ahead=15)
    with open_review(tmp_path / "local.riffler") as other:
        here = LiveSearch(other)
        for _ in range(3):
            here.refresh(10)
            read(other, 10)
        assert LiveSearch(review).refresh(10, ahead=15) == here.refresh(10, ahead=15)
        assert review.counts() == other.counts()


def test_labels_of_the_folder_are_known(collection: DiskCollection, tmp_path: Path) -> None:
    rows = np.array([3, 4, int(np.argmax(FRAME["included"].to_numpy()))])
    with create_folder_review(tmp_path / "known.riffler", collection, SETTINGS, known=rows) as review:
        counts = review.counts()
        assert counts["relevant"] + counts["irrelevant"] == 3
        assert counts["unread"] == 397
        LiveSearch(review).refresh(5)
        assert review.upcoming(1)


def test_the_learner_leaves_pictures_of_what_there_is(review: FileReview) -> None:
    loop = Loop(review)
    loop.step()
    read(review, 10)
    loop.step()
    picture = review.picture("progress")
    assert picture is not None
    assert picture.read()["n_documents"] == 400
    assert [one["n"] for one in picture.read()["strata"]] == [400]
    assert review.picture("map") is None
    assert review.picture("scores") is None
    assert prisma_counts(review).identified == (("snow.collection", 400),)
    assert prisma_counts(review).not_screened == 400 - sum(review.counts()[one] for one in ("relevant", "irrelevant"))


def test_exports_have_what_came_up(review: FileReview, tmp_path: Path) -> None:
    LiveSearch(review).refresh(10)
    names = read(review, 10)
    write_export(review, tmp_path / "out.csv", "csv")
    table = pl.read_csv(tmp_path / "out.csv", infer_schema=False)
    assert set(names) <= set(table["id"])
    assert set(FRAME.columns) <= set(table.columns)


def test_a_column_of_one_partition_is_shown_and_exported(tmp_path: Path) -> None:
    frame = labelled_documents(100, n_relevant=10)
    for number in range(10):
        part = frame[10 * number : 10 * number + 10]
        part = part.with_columns(funder=pl.lit("a bank")) if number == 3 else part
        part.write_csv(tmp_path / f"{number}.csv")
    sources = [tmp_path / f"{number}.csv" for number in range(10)]
    index_collection(sources, tmp_path / "parts", IndexOptions(n_items=10, n_clusters=0))
    with create_folder_review(tmp_path / "parts.riffler", open_collection(tmp_path / "parts"), known=NONE) as review:
        LiveSearch(review).refresh(100, ahead=100)
        (shown,) = review.whole_documents([frame["id"][35]])
        assert shown.view.columns["funder"] == "a bank"
        read(review, 100)
        write_export(review, tmp_path / "out.csv", "csv")
    table = pl.read_csv(tmp_path / "out.csv", infer_schema=False)
    assert table.filter(pl.col("funder") == "a bank")["id"].sort().to_list() == frame["id"][30:40].to_list()


def test_a_copy_of_the_review_knows_its_folder(review: FileReview, tmp_path: Path) -> None:
    LiveSearch(review).refresh(10)
    review.backup(tmp_path / "copy.riffler")
    with open_review(tmp_path / "copy.riffler") as copy:
        assert copy.folder == review.folder
        assert LiveSearch(copy).refresh(10) == LiveSearch(review).refresh(10)


def test_a_folder_that_was_moved_is_named_and_followed(
    review: FileReview, collection: DiskCollection, tmp_path: Path
) -> None:
    collection.folder.rename(tmp_path / "elsewhere")
    with pytest.raises(DataFileError, match="not there any more"):
        LiveSearch(review)
    review.follow_folder(open_collection(tmp_path / "elsewhere"))
    assert LiveSearch(review).refresh(5)


def test_a_folder_that_was_changed_is_refused(review: FileReview, collection: DiskCollection, tmp_path: Path) -> None:
    labelled_documents(20, 2).with_columns(id="n" + pl.col("id")).write_csv(tmp_path / "more.csv")
    index_collection(tmp_path / "more.csv", collection.folder, IndexOptions(n_items=90, n_clusters=0))
    with pytest.raises(InputError, match=r"was changed since the review was begun .*now 2 with 420"):
        LiveSearch(review)
    with pytest.raises(InputError, match="was changed"):
        review.follow_folder(open_collection(collection.folder))


def test_a_frozen_review_opens_by_its_folder_where_nothing_changed(
    review: FileReview, collection: DiskCollection, tmp_path: Path
) -> None:
    with review.changing() as session:
        session.get_one(ReviewRow, review.id).frozen_at = "2026-01-01T00:00:00+00:00"
    before = review.events()
    review.follow_folder(collection)
    assert review.events() == before
    collection.folder.rename(tmp_path / "elsewhere")
    with pytest.raises(ReviewFrozen):
        review.follow_folder(open_collection(tmp_path / "elsewhere"))


def test_documents_are_added_to_the_folder_not_to_the_review(review: FileReview, collection: DiskCollection) -> None:
    some = collection.take(np.arange(3))
    with pytest.raises(InputError, match="riffler index"):
        review.add_documents(some)
    with pytest.raises(InputError, match="riffler index"):
        add_upload(review, some)


def test_thompson_sampling_reads_by_the_clusters_of_the_folder(review: FileReview, collection: DiskCollection) -> None:
    with pytest.raises(InputError, match=r"Copy the folder.*--clusters 200.*begin a new review"):
        review.change_settings({"policy": "thompson"})
    assert review.settings.policy == SETTINGS.policy
    frame = FRAME.with_columns(pl.col("id").str.replace("d", "e"))
    clustered = made_collection(frame, collection.folder.parent / "clustered", n_items=90, n_clusters=8)
    path = collection.folder.parent / "clustered.riffler"
    with create_folder_review(path, clustered, ReviewSettings(policy="thompson"), known=NONE) as other:
        assert len(LiveSearch(other).refresh(10)) == 10
        other.change_settings({"policy": "greedy"})
        assert other.change_settings({"policy": "thompson"}).policy == "thompson"


def test_others_write_while_a_folder_is_opened_for_a_setting(
    review: FileReview, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slowly(path: str) -> DiskCollection:
        review.note(Remark(name, "meanwhile", note="said meanwhile"))
        return open_collection(path)

    (name,) = LiveSearch(review).refresh(1)
    monkeypatch.setattr("riffler.review.folder.open_collection", slowly)
    review.change_settings({"policy": "greedy"})
    assert review.settings.policy == "greedy"
    assert [line.note for line in review.history()] == ["said meanwhile"]


def test_too_many_labels_and_policies_without_clusters_are_refused(
    collection: DiskCollection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InputError, match="--clusters 200"):
        create_folder_review(tmp_path / "a.riffler", collection, ReviewSettings(policy="thompson"))
    monkeypatch.setattr("riffler.review.folder.MOST_KNOWN", 100)
    with pytest.raises(InputError, match="--ignore-labels"):
        create_folder_review(tmp_path / "a.riffler", collection, SETTINGS)
    assert not (tmp_path / "a.riffler").exists()


def with_all(*words: str) -> set[str]:
    texts = zip(FRAME["id"], FRAME["title"], FRAME["abstract"], strict=True)
    return {name for name, title, abstract in texts if set(words) <= set(f"{title} {abstract}".split())}


@pytest.mark.parametrize("words", ["glacier", "avalanche Glacier", "avalanche glacier the", "snow bond"])
def test_a_search_goes_through_the_whole_folder(words: str, review: FileReview) -> None:
    wanted = with_all(*(word.lower() for word in words.split() if word != "the"))
    assert review.bring_in_fitting(words) == len(wanted) > 0
    assert n_documents(review) == min(len(wanted), folder_search.MOST)
    found = [hit.document for hit in review.find(words.removesuffix(" the"), n=400)]
    assert len(found) == min(len(wanted), folder_search.MOST)
    assert set(found) <= wanted
    assert review.counts()["unread"] == 400
    assert not review.upcoming(1)  # what was found is not what the search suggests


def test_a_search_of_nothing_brings_nothing_in(review: FileReview) -> None:
    for words in ("", "the", "***", "zeppelin", "glacier zeppelin", '"'):
        assert review.bring_in_fitting(words) == 0
    assert n_documents(review) == 0


def test_the_best_of_a_folder_are_those_of_the_highest_cosine(collection: DiskCollection) -> None:
    rows = LocalEngine(rows_on_disk(collection))
    words = "palm sand"
    cosines = collection.rows(np.arange(400)) @ collection.vectoriser.transform([words]).toarray()[0]
    wanted = sorted(with_all("palm", "sand"), key=lambda name: (-cosines[int(name[1:])], name))
    fitting = folder_search.fitting_documents(collection, rows, words, 10)
    assert (fitting.n_documents, fitting.names) == (len(wanted), wanted[:10])


def test_what_was_found_can_be_answered_and_is_learned_from(review: FileReview) -> None:
    live = LiveSearch(review)
    review.bring_in_fitting("glacier avalanche")
    (hit, *_) = review.find("glacier avalanche")
    review.answer([say(hit.document, "relevant", "found")])
    asked = live.refresh(10)
    assert hit.document not in asked
    assert live.search.progress().n_relevant == 1


def test_several_who_find_the_same_documents_bring_each_in_once(engine: Engine, collection: DiskCollection) -> None:
    with writing(engine) as session:
        number = add_review(session, "snow", SETTINGS)
        add_folder(session, number, collection, SOLE_REVIEWER, NONE)
    queries = ["glacier", "avalanche", "snow", "alps", "ski", "glacier snow"] * 2
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda words: Review(engine, number).bring_in_fitting(words), queries))
    review = Review(engine, number)
    with review.moment() as session:
        names = session.scalars(select(Document.name)).all()
    assert len(names) == len(set(names)) > folder_search.MOST
    assert len(review.find("glacier", n=400)) >= min(len(with_all("glacier")), folder_search.MOST)


def test_a_search_in_a_folder_that_is_gone_says_so(review: FileReview, collection: DiskCollection) -> None:
    collection.folder.rename(collection.folder.with_name("elsewhere"))
    with pytest.raises(DataFileError, match="not there any more"):
        review.bring_in_fitting("glacier")
