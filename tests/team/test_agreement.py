"""How far readers agree: what counts, what is hidden, what is said in words, and where they differ."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Engine

from riffler.records import IntArray
from riffler.review.database import reading
from riffler.review.schema import VERDICTS
from riffler.team.agreement import (
    Agreement,
    Disagreement,
    agreement_between,
    agreement_of,
    disagreements_of,
)
from riffler.team.kappa import FEWEST, NOTHING, ONE_VERDICT
from riffler.team.people import People
from tests.review.reviews import say
from tests.team.people import empty_review
from tests.team.teams import SINGLE, Team, team_at

DOUBLE = replace(SINGLE, screening="all", readers=2)
YES, NO, MAYBE, UNREAD = 0, 1, 2, -1

tables = st.integers(1, 4).flatmap(
    lambda n: st.lists(st.lists(st.integers(UNREAD, 3), min_size=n, max_size=n), min_size=1, max_size=25)
)


@pytest.fixture
def team(engine: Engine, people: People) -> Team:
    """Give a team of which two read every document; passwords cost little."""
    return team_at(engine, DOUBLE, reviewers=("anna", "bert", "cleo"))


def agreement(team: Team) -> Agreement:
    with reading(team.engine) as session:
        return agreement_of(session, team.review.id)


def disagreements(team: Team, n: int = 50, offset: int = 0) -> list[Disagreement]:
    with reading(team.engine) as session:
        return disagreements_of(session, team.review.id, n, offset)


def both_say(team: Team, document: str, first: str, second: str) -> None:
    team.say("anna", document, first)
    team.say("bert", document, second)


def rows(*pairs: tuple[int, ...]) -> IntArray:
    return np.array(pairs)


@given(said=tables)
def test_counts_are_those_of_a_loop(said: list[list[int]]) -> None:
    found = agreement_between([f"reader {place}" for place in range(len(said[0]))], np.array(said))
    read = [[one for one in row if one != UNREAD] for row in said]
    read = [row for row in read if len(row) >= 2]
    pairs = [pair for row in read for pair in combinations(row, 2)]
    assert (found.n_documents, found.n_pairs) == (len(read), len(pairs))
    assert found.n_disagreements == sum(len(set(row)) > 1 for row in read)
    assert (found.share is None) == (not pairs)
    if found.share is not None:
        assert found.share.value == pytest.approx(np.mean([first == second for first, second in pairs]))
        assert found.share.low <= found.share.value <= found.share.high
    assert sum(pair.n_documents for pair in found.pairs) == len(pairs)
    for first in range(4):
        for second in range(4):
            assert found.table[first][second] == sum(pair in ((first, second), (second, first)) for pair in pairs)
    assert found.n_documents >= FEWEST or "Too early" in found.sentence


def test_a_pair_has_a_table_with_a_direction() -> None:
    found = agreement_between(["Ann", "Bo"], rows((YES, NO), (YES, NO), (NO, YES), (MAYBE, MAYBE), (YES, UNREAD)))
    (pair,) = found.pairs
    assert (pair.first, pair.second, pair.n_documents) == ("Ann", "Bo", 4)
    assert pair.table == ((0, 2, 0, 0), (1, 0, 0, 0), (0, 0, 1, 0), (0, 0, 0, 0))
    assert found.table == ((0, 3, 0, 0), (3, 0, 0, 0), (0, 0, 1, 0), (0, 0, 0, 0))
    assert found.verdicts == VERDICTS


def test_relevant_against_the_rest_does_not_ask_how_the_rest_differs() -> None:
    found = agreement_between(["Ann", "Bo"], rows(*[(YES, YES), (NO, MAYBE), (MAYBE, NO)] * 5))
    assert found.kappa.value is not None
    assert found.kappa.value < 0.5
    assert found.kappa_relevant.value == 1.0


def test_two_people_have_the_kappa_of_cohen_and_more_that_of_fleiss() -> None:
    two = rows(*[(YES, YES, UNREAD), (NO, NO, UNREAD), (YES, NO, UNREAD)] * 5)
    found = agreement_between(["Ann", "Bo", "Cy"], two)
    assert (found.kappa, found.kappa.name) == (found.pairs[0].kappa, "Cohen")
    found = agreement_between(["Ann", "Bo", "Cy"], np.vstack([two, [(YES, UNREAD, YES)]]))
    assert found.kappa.name == found.kappa_relevant.name == "Fleiss"
    assert [(pair.first, pair.second) for pair in found.pairs] == [("Ann", "Bo"), ("Ann", "Cy")]


def test_the_sentence_claims_nothing_from_few_documents() -> None:
    few = agreement_between(["Ann", "Bo"], rows(*[(YES, YES)] * 4, *[(NO, NO)] * 5))
    assert few.sentence == few.pairs[0].sentence
    assert few.sentence == "Too early to say how far readers agree: 9 documents were read by two, and 10 are needed."
    assert "one document was read" in agreement_between(["Ann", "Bo"], rows((YES, NO))).sentence
    assert "no documents were read" in agreement_between(["Ann", "Bo"], rows((YES, UNREAD))).sentence


def test_the_sentence_says_how_sure_it_is() -> None:
    most = rows(*[(YES, YES)] * 12, *[(NO, NO)] * 25, (YES, NO), (NO, YES), (NO, YES))
    assert agreement_between(["Ann", "Bo"], most).sentence == (
        "92% of 40 documents that two people read got the same verdict; kappa 0.83, from 0.65 to 1.00."
    )
    three = np.column_stack([most, most[:, 0]])
    assert agreement_between(["Ann", "Bo", "Cy"], three).sentence.startswith(
        "95% of 120 pairs of opinions about 40 documents are the same verdict; kappa 0.89, from "
    )


def test_the_sentence_says_where_kappa_says_nothing() -> None:
    one = agreement_between(["Ann", "Bo"], rows(*[(NO, NO)] * 40))
    assert (one.kappa.value, one.kappa.note) == (None, ONE_VERDICT)
    assert one.sentence == f"100% of 40 documents that two people read got the same verdict. {ONE_VERDICT}"
    full = agreement_between(["Ann", "Bo"], rows(*[(NO, NO), (YES, YES)] * 20))
    assert (full.kappa.value, full.kappa.low) == (1.0, None)
    assert "kappa 1.00. The opinions vary too little for an interval" in full.sentence


def test_a_review_without_opinions_has_no_agreement(team: Team) -> None:
    found = agreement(team)
    assert (found.n_documents, found.n_pairs, found.share, found.pairs) == (0, 0, None, ())
    assert found.kappa.note == NOTHING
    assert disagreements(team) == []


def test_documents_that_wait_for_a_reader_do_not_count(team: Team) -> None:
    for document in ("d0", "d1", "d2"):
        team.say("anna", document, "relevant")
    assert agreement(team).n_documents == 0
    team.say("bert", "d0", "relevant")
    team.say("cleo", "d1", "maybe")
    found = agreement(team)
    assert (found.n_documents, found.n_disagreements) == (2, 1)
    assert [(pair.first, pair.second) for pair in found.pairs] == [("anna", "bert"), ("anna", "cleo")]


def test_two_of_three_opinions_are_still_hidden(engine: Engine, people: People) -> None:
    team = team_at(engine, replace(DOUBLE, readers=3), reviewers=("anna", "bert", "cleo"))
    both_say(team, "d0", "relevant", "irrelevant")
    assert agreement(team).n_documents == 0
    assert disagreements(team) == []
    team.say("cleo", "d0", "relevant")
    found = agreement(team)
    assert (found.n_documents, found.n_pairs, found.n_disagreements) == (1, 3, 1)


def test_opinions_that_were_taken_back_or_replaced_do_not_count(team: Team) -> None:
    team.say("anna", "d0", "relevant")
    team.say("anna", "d0", "irrelevant")
    team.say("bert", "d0", "irrelevant")
    found = agreement(team)
    assert (found.n_documents, found.n_disagreements) == (1, 0)
    assert found.table[NO][NO] == 1
    team.say("anna", "d1", "relevant")
    team["anna"].undo(None, "second thoughts")
    team.say("anna", "d1", "irrelevant")
    assert agreement(team).n_documents == 1
    team.say("bert", "d1", "skip")
    assert agreement(team).table[NO][3] == agreement(team).table[3][NO] == 1


def test_answers_of_one_reader_and_other_reviews_do_not_count(team: Team) -> None:
    both_say(team, "d0", "relevant", "irrelevant")
    team["olga"].change_settings({"screening": "single"})
    team.say("anna", "d1", "relevant")
    assert agreement(team).n_documents == 1
    with reading(team.engine) as session:
        assert agreement_of(session, empty_review(team.engine)).n_documents == 0


def test_disagreements_come_latest_first_with_what_was_decided(team: Team) -> None:
    both_say(team, "d0", "relevant", "irrelevant")
    both_say(team, "d1", "relevant", "relevant")
    both_say(team, "d2", "maybe", "irrelevant")
    both_say(team, "d3", "skip", "relevant")
    team["cleo"].resolve(say("d0", "relevant", "settled"))
    found = disagreements(team)
    assert [one.document for one in found] == ["d3", "d2", "d0"]
    last = found[-1]
    assert last.title
    assert [(one.reviewer, one.verdict) for one in last.opinions] == [("anna", "relevant"), ("bert", "irrelevant")]
    assert (last.verdict, last.decided, last.by) == ("relevant", "third", "cleo")
    assert last.at is not None
    assert [(one.verdict, one.decided, one.by, one.at) for one in found[:2]] == [(None, None, None, None)] * 2
    assert disagreements(team, n=1, offset=1) == found[1:2]
    assert agreement(team).n_disagreements == 3


def test_a_decision_that_an_owner_changed_is_a_correction(team: Team) -> None:
    both_say(team, "d0", "relevant", "irrelevant")
    team["cleo"].resolve(say("d0", "relevant", "settled"))
    team.say("olga", "d0", "maybe")
    (found,) = disagreements(team)
    assert (found.verdict, found.decided, found.by) == ("maybe", "correction", "olga")
