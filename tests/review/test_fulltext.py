"""Search in texts: what is typed finds the same documents on SQLite and on PostgreSQL."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine, event, text

from riffler.data.duplicates import find_duplicates
from riffler.errors import InputError
from riffler.review.database import reading, writing
from riffler.review.documents import add_stratum
from riffler.review.fulltext import Hit, find_any, find_texts, index_stratum
from riffler.review.fulltext_folding import places_of, words_of
from riffler.review.fulltext_query import EXCERPT_WORDS
from tests.review.reviews import library
from tests.review.shelf import new_review_row, shelve, texts

FILLER = " ".join(f"filler{number}" for number in range(100))
BOOKS = texts(
    uber=("Über die Wale", "Ein Café am Meer, na\u0308mlich hier"),
    great=("the great whale", "It sings in the deep; anti-viral drugs do nothing for it"),
    turned=("great is the whale", "deep it sings"),
    signs=('C++ & "quotes"', "1.5 mg of x_y at 37°C, foo™, O'Brien's 50%"),
    whaling=("whaling", ""),
    gap=("humpback", "whale songs"),
    greek=("Κύματα και θάλασσα", "日本語 テキスト"),
    blank=("", "***"),
)
QUERIES = {
    "uber": {"uber"},
    "ÜBER cafe": {"uber"},
    "Cafe\u0301": {"uber"},
    "nämlich": {"uber"},
    '"great whale"': {"great"},
    "great whale": {"great", "turned"},
    "whal": {"great", "turned", "whaling", "gap"},
    '"whal"': set(),
    "whal great": set(),
    '"humpback whale"': set(),  # one word is in the title, the other in the abstract
    "humpback whale": {"gap"},
    "anti-viral": {"great"},
    "anti-vir": {"great"},
    "viral-anti": set(),
    "c++": {"signs", "uber"},
    "quotes": {"signs"},
    "1.5": {"signs"},
    "x_y": {"signs"},
    "foo": {"signs"},
    "o'brien": {"signs"},
    "50%": {"signs"},
    "κύματα": {"greek"},
    "日本語": {"greek"},
    "great & whale": {"great", "turned"},
    "great | never": set(),
    "!great": {"great", "turned"},
    "great <-> whale": {"great", "turned"},
    "great NOT whale": set(),
    "title:great": set(),
    "great:*": {"great", "turned"},
    "'great' \\ whale": {"great", "turned"},
    '"great whale': {"great", "turned"},
    "***": set(),
    '"': set(),
    "\0": set(),
    "": set(),
}
READ_ONLY = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


def hits(engine: Engine, review_id: int, words: str, n: int = 1000, offset: int = 0) -> list[Hit]:
    with reading(engine) as session:
        return find_texts(session, review_id, words, n, offset)


def found(engine: Engine, review_id: int, words: str) -> set[str]:
    return {hit.document for hit in hits(engine, review_id, words)}


def any_of(engine: Engine, review_id: int, words: str, n: int = 1000) -> list[str]:
    with reading(engine) as session:
        return find_any(session, review_id, words, n)


def test_words_phrases_beginnings_and_accents_are_found(engine: Engine) -> None:
    review = shelve(engine, BOOKS)
    assert {words: found(engine, review, words) for words in QUERIES} == QUERIES


def test_whatever_is_typed_is_taken(engine: Engine) -> None:
    review = shelve(engine, BOOKS)

    @READ_ONLY
    @given(words=st.text() | st.text(alphabet="aé\"'()&|!<>-:*\\\0 _^{}+?$%;\u0301"))
    def never_raises(words: str) -> None:
        hits(engine, review, words)
        any_of(engine, review, words)

    never_raises()
    for words in ("whale " * 50_000, "-".join(["a"] * 50_000), "w" * 1_000_000, " ".join(map(str, range(50_000)))):
        hits(engine, review, words)
        any_of(engine, review, words)


def test_half_a_character_is_refused_in_words(engine: Engine) -> None:
    review = shelve(engine, BOOKS)
    for words in ("whale\ud800", "\ud800"):
        with pytest.raises(InputError, match="half a character"):
            hits(engine, review, words)
        with pytest.raises(InputError, match="half a character"):
            any_of(engine, review, words)


def test_both_databases_find_the_same(sqlite_engine: Engine, postgres_engine: Engine) -> None:
    rng, alphabet = random.Random(1), "abAé-_.2  "
    titles = ["".join(rng.choices(alphabet, k=rng.randrange(14))) for _ in range(400)]
    collection = texts(**{f"d{at}": (title, titles[-at]) for at, title in enumerate(titles)})
    one, other = shelve(sqlite_engine, collection), shelve(postgres_engine, collection)
    part = st.text(alphabet, min_size=1, max_size=8)

    @READ_ONLY
    @given(words=st.lists(part | part.map(lambda words: f'"{words}"'), max_size=3).map(" ".join))
    def find_the_same(words: str) -> None:
        assert found(sqlite_engine, one, words) == found(postgres_engine, other, words)
        assert set(any_of(sqlite_engine, one, words)) == set(any_of(postgres_engine, other, words))

    find_the_same()


def test_only_documents_of_the_review_are_found(engine: Engine) -> None:
    one, other = shelve(engine, BOOKS), shelve(engine, library(10))
    assert found(engine, other, "great") == set()
    assert found(engine, one, "great") == {"great", "turned"}
    assert set(any_of(engine, other, "great whale")) == set(any_of(engine, other, "whale"))
    assert "great" in any_of(engine, one, "great whale")


def test_a_word_in_a_title_counts_for_more(engine: Engine) -> None:
    review = shelve(
        engine,
        texts(
            abstract=("A plain title of five words", "The krill is here, and nothing else is said of it."),
            title=("A krill title of five words", "This is here, and nothing else is said of it at all."),
        ),
    )
    assert [hit.document for hit in hits(engine, review, "krill")] == ["title", "abstract"]
    assert any_of(engine, review, "krill") == ["title", "abstract"]


def test_equally_good_documents_come_in_the_order_of_their_numbers(engine: Engine) -> None:
    names = [f"d{at}" for at in range(30)]
    review = shelve(engine, texts(**dict.fromkeys(names, ("the same title", "krill"))))
    assert [hit.document for hit in hits(engine, review, "krill")] == names
    pages = [hits(engine, review, "krill", n=7, offset=offset) for offset in range(0, 35, 7)]
    assert [hit.document for page in pages for hit in page] == names
    assert any_of(engine, review, "krill", n=5) == names[:5]


def test_some_of_the_words_are_enough_and_a_rare_one_tells_more(engine: Engine) -> None:
    common = {f"c{at}": ("", f"markets and prices number {at}") for at in range(20)}
    review = shelve(engine, texts(**common, rare=("", "krill and others number 99")))
    found_any = any_of(engine, review, "What of the markets, or krill?")
    assert (found_any[0], set(found_any)) == ("rare", {"rare", *common})
    assert any_of(engine, review, "the of and") == any_of(engine, review, "") == []


def test_a_twin_is_found_and_names_the_one_that_stands_for_it(engine: Engine) -> None:
    long = "The song of the humpback whale in the southern ocean changes every year, and others learn it quickly"
    collection = texts(a=("short one", ""), b=(long, ""), c=(long, ""))
    review = new_review_row(engine)
    with writing(engine) as session:
        index_stratum(session, add_stratum(session, review, collection, find_duplicates(collection), {}))
    assert [(hit.document, hit.asked) for hit in hits(engine, review, "humpback")] == [("b", "b"), ("c", "b")]
    assert any_of(engine, review, "humpback") == ["b"]


def test_an_excerpt_shows_what_was_looked_for(engine: Engine) -> None:
    review = shelve(
        engine,
        texts(
            short=("snow", "Deep snow melts, slowly."),
            long=("a title", f"{FILLER} Deep Snow mélts, {FILLER}"),
            nowhere=("deep snow melts", FILLER),
            empty=("deep snow melts", ""),
        ),
    )
    excerpts = {hit.document: hit.excerpt for hit in hits(engine, review, 'deep "snow melts"')}
    assert excerpts["empty"] == ()
    marked = {name: [piece for piece, is_wanted in pieces if is_wanted] for name, pieces in excerpts.items()}
    assert ["".join(marked["short"]), "".join(marked["long"])] == ["Deepsnow melts", "DeepSnow mélts"]
    assert marked["nowhere"] == []
    whole = {name: "".join(piece for piece, _ in pieces) for name, pieces in excerpts.items()}
    assert whole["short"] == "Deep snow melts, slowly."
    assert (whole["long"][0], whole["long"][-1], whole["nowhere"][-1]) == ("…", "…", "…")
    assert whole["nowhere"].startswith("filler0 filler1 ")
    assert all(len(words_of(excerpt)) <= EXCERPT_WORDS for excerpt in whole.values())
    (unfinished,) = [hit.excerpt for hit in hits(engine, review, "slow")]
    assert unfinished == (("Deep snow melts, ", False), ("slowly", True), (".", False))


def test_a_huge_text_is_indexed_as_far_as_there_is_room(postgres_engine: Engine) -> None:
    two_letters = [chr(0x20000 + at) + chr(0x20000 + at // 7) for at in range(40_000)]
    review = shelve(
        postgres_engine,
        texts(
            numbers=("first", " ".join(map(str, range(300_000)))),
            letters=("second", " ".join([*two_letters, *reversed(two_letters)])),
            long=("third", "w" * 3_000_000),
            same=("fourth", "krill " * 300_000),
            title=("fifth " * 100_000, "never mind"),
        ),
    )
    for words, name in {
        "first 12345": "numbers", "second": "letters", "third": "long", "fourth krill": "same", "fifth": "title"
    }.items():  # fmt: skip
        assert found(postgres_engine, review, words) == {name}


def test_a_search_uses_the_index(postgres_engine: Engine) -> None:
    review = shelve(postgres_engine, library(3000))
    statements: list[tuple[str, object]] = []
    with postgres_engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        event.listen(postgres_engine, "before_cursor_execute", lambda *given: statements.append((given[2], given[3])))
        hits(postgres_engine, review, "whale 123")
        any_of(postgres_engine, review, "1234 2950")
        connection.execute(text("VACUUM ANALYZE"))  # as PostgreSQL does by itself within a minute
        connection.execute(text("SET enable_seqscan = off"))
        asked = [one for one in statements if "documents_text" in one[0]]
        for statement, parameters in asked:
            plan = connection.exec_driver_sql(f"EXPLAIN {statement}", parameters)  # type: ignore[arg-type]
            assert "ix_documents_text_words" in "\n".join(plan.scalars())
    assert len(asked) == 2


@given(words=st.text())
def test_folding_is_the_same_word_by_word(words: str) -> None:
    places = list(places_of(words))
    assert [word for word, _, _ in places] == words_of(words)
    assert all(words_of(words[start:end]) == [word] for word, start, end in places)


@given(words=st.text())
def test_folded_words_are_only_letters_and_numbers(words: str) -> None:
    assert all(word.isalnum() and len(word) <= 100 for word in words_of(words))
