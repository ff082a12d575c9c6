"""Documents of a review come out as they went in, on SQLite and on PostgreSQL."""

from __future__ import annotations

import datetime
from threading import Barrier, Thread

import polars as pl
import pytest
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from riffler.data.collection_reading import collection_from_frame
from riffler.data.duplicates import find_duplicates
from riffler.errors import InputError, UnknownName
from riffler.review import documents
from riffler.review.database import reading, writing
from riffler.review.documents import (
    BLOCK,
    add_stratum,
    asked_ids,
    columns_of,
    load_collection,
    new_numbers,
    records_of,
    stored_blocks,
)
from riffler.review.schema import Document, Stratum
from tests.review.reviews import library
from tests.review.shelf import new_review_row, shelve, texts

LONG = "The song of the humpback whale in the southern ocean changes every year, and others learn it quickly"


def numbers_of(engine: Engine, review_id: int) -> dict[str, int]:
    with reading(engine) as session:
        rows = session.execute(select(Document.name, Document.id).where(Document.review_id == review_id))
        return dict(rows.all())


def test_a_collection_comes_out_as_it_went_in(engine: Engine) -> None:
    day = datetime.date(2020, 1, 2)
    frame = pl.DataFrame(
        {
            "id": ["a", "b", "c"],
            "title": ["On gulls", "", "\u2028 lines\nand 'quotes' \U0001f433 %s %(x)s :y \\"],
            "abstract": ["x", None, "y"],
            "year": [1999, None, 2**60],
            "day": [day, None, day],
            "words": [["a", "b"], [], None],
            "share": [1 / 3, None, 1e300],
            "empty": [None, None, None],
            "zero \0": ["a\0b", None, ""],
        }
    )
    collection = collection_from_frame(frame)
    review = shelve(engine, collection)
    with reading(engine) as session:
        found = load_collection(session, review)
        blocks = [columns for _, _, columns in stored_blocks(session, review)]
    assert (found.ids, found.titles, found.abstracts) == (collection.ids, collection.titles, collection.abstracts)
    assert found.columns.equals(frame)
    assert blocks[0].equals(frame)


PLAIN = {
    "id": ["a", "b", "c"],
    "title": ["On gulls", "", "\u2028 lines\nand 'quotes' \U0001f433 \\"],
    "year": [1999, None, 2**60],
    "share": [1 / 3, None, 1e300],
    "whole": [1.0, -0.0, 1e16],
    "open": [True, None, False],
}
STRANGE = {
    "day": pl.Series([datetime.date(2020, 1, 2), None, None]),
    "words": pl.Series([["a", "b"], [], None]),
    "short": pl.Series([0.1, None, 2.5], dtype=pl.Float32),
    "kind": pl.Series(["x", None, "x"], dtype=pl.Categorical),
    "empty": pl.Series([None, None, None]),
}


def rows_of(session: Session, review: int) -> tuple[Stratum, list[Document]]:
    (stratum,) = session.scalars(select(Stratum).where(Stratum.review_id == review))
    return stratum, list(session.scalars(select(Document).where(Document.review_id == review).order_by(Document.id)))


@pytest.mark.parametrize("strange", [(), *((name,) for name in STRANGE), tuple(STRANGE)])
def test_records_are_the_rows_of_the_columns(engine: Engine, strange: tuple[str, ...]) -> None:
    frame = pl.DataFrame({**PLAIN, **{name: STRANGE[name] for name in strange}})
    review = shelve(engine, collection_from_frame(frame))
    with reading(engine) as session:
        found = rows_of(session, review)
        together = records_of(*found)
        assert [repr(one) for one in together] == [repr(one) for one in columns_of(*found).to_dicts()]  # 1.0 is not 1
        assert together == frame.to_dicts()


def test_plain_records_do_not_wait_for_the_threads_of_polars(
    sqlite_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    review = shelve(sqlite_engine, collection_from_frame(pl.DataFrame(PLAIN)))
    monkeypatch.delattr(documents, "columns_of")
    with reading(sqlite_engine) as session:
        assert records_of(*rows_of(session, review)) == pl.DataFrame(PLAIN).to_dicts()


def test_what_was_imported_comes_out_in_blocks_with_other_questions_between(engine: Engine) -> None:
    n = BLOCK + 10
    review = shelve(engine, library(n))
    names: list[str] = []
    with reading(engine) as session:
        for _, rows, columns in stored_blocks(session, review):
            assert len(rows) == columns.height <= BLOCK
            assert session.scalar(select(Document.id).limit(1)) is not None
            names += [row.name for row in rows]
    assert names == [f"d{at}" for at in range(n)]
    with reading(engine) as session:
        assert len(asked_ids(session, review, names)) == n
        with pytest.raises(UnknownName, match="no document 'nowhere'"):
            asked_ids(session, review, [*names, "nowhere"])


def test_the_character_zero_is_replaced_only_where_it_must_be(sqlite_engine: Engine, postgres_engine: Engine) -> None:
    collection = texts(**{"a\0b": ("a\0title", "an\0abstract")})
    for engine, sign in ((sqlite_engine, "\0"), (postgres_engine, "\ufffd")):
        review = shelve(engine, collection)
        with reading(engine) as session:
            found = load_collection(session, review)
            assert list(asked_ids(session, review, ["a\0b"])) == ["a\0b"]
        assert (found.ids, found.titles[0], found.abstracts[0]) == (
            (f"a{sign}b",), f"a{sign}title", f"an{sign}abstract"
        )  # fmt: skip
        with pytest.raises(InputError, match="1 ids are in the review already"):
            shelve(engine, collection, review)


def test_ids_that_become_the_same_are_refused(postgres_engine: Engine) -> None:
    review = new_review_row(postgres_engine)
    with pytest.raises(InputError, match="cannot tell apart"):
        shelve(postgres_engine, texts(**{"a\0": ("one", ""), "a\ufffd": ("two", "")}), review)
    assert numbers_of(postgres_engine, review) == {}


def test_reviews_have_ids_of_their_own_and_numbers_in_common(engine: Engine) -> None:
    one, other = shelve(engine, library(20)), shelve(engine, library(20))
    numbers = [*numbers_of(engine, one).values(), *numbers_of(engine, other).values()]
    assert len(set(numbers)) == 40
    with pytest.raises(InputError, match="20 ids are in the review already"):
        shelve(engine, library(20), one)


def test_twins_refer_to_their_heads_whatever_the_numbers_are(engine: Engine) -> None:
    collection = texts(a=("short one", ""), b=(LONG, ""), c=(LONG, ""), d=("another", ""))
    review = new_review_row(engine)
    with writing(engine) as session:
        new_numbers(session, 5)
        add_stratum(session, review, collection, find_duplicates(collection), {})
        add_stratum(session, review, texts(e=("a late one", "")), None, {"e": "c"})
    with reading(engine) as session:
        assert load_collection(session, review).twins == {"b": ("c", "e")}


def test_imports_into_two_reviews_at_once_do_not_wait_for_each_other(postgres_engine: Engine) -> None:
    reviews = [new_review_row(postgres_engine) for _ in range(2)]
    meeting = Barrier(2, timeout=60)

    def add(review: int) -> None:
        with writing(postgres_engine) as session:
            meeting.wait()
            add_stratum(session, review, library(500), None, {})
            meeting.wait()  # both have written, and neither has committed

    threads = [Thread(target=add, args=(review,)) for review in reviews]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    numbers = [list(numbers_of(postgres_engine, review).values()) for review in reviews]
    assert [len(given) for given in numbers] == [500, 500]
    assert not set(numbers[0]) & set(numbers[1])
    for review in reviews:
        with reading(postgres_engine) as session:
            assert load_collection(session, review).ids == library(500).ids
