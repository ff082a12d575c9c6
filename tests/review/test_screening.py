"""Several read a document, blind; what follows from their opinions is what the search learns."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy import Engine

from riffler.errors import AnswerConflict, NotAllowed, ReviewFrozen
from riffler.review.database import reading
from riffler.review.history import HistoryFilter
from riffler.review.live import LiveSearch
from riffler.review.remarks import Answer, Remark
from riffler.review.screening import still_open
from riffler.review.settings import ReviewSettings
from riffler.team.people import People
from tests.review.reviews import library, whole
from tests.team.people import cheapen
from tests.team.teams import SINGLE, Team, team_at

ALL = replace(SINGLE, screening="all")


@pytest.fixture(autouse=True)
def _cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Passwords cost little."""
    cheapen(monkeypatch)


def verdict(team: Team, document: str) -> str | None:
    held = team.review.standings().get(document)
    return None if held is None else held.verdict


def open_now(team: Team) -> tuple[int, int]:
    with reading(team.engine) as session:
        found = still_open(session, team.review.id)
    return found.n_waiting, found.n_conflicts


def test_two_who_agree_make_an_answer(engine: Engine) -> None:
    team = team_at(engine, ALL)
    assert team.read("anna", "relevant") == "d0"
    assert (verdict(team, "d0"), open_now(team)) == (None, (1, 0))
    assert team.read("bert", "relevant") == "d0"
    held = team.review.standings()["d0"]
    assert (held.verdict, held.origin, open_now(team)) == ("relevant", "policy", (0, 0))
    assert [(entry.item, entry.answer, entry.origin) for entry in team.review.pending()] == [("d0", 1, "policy")]


def test_two_who_disagree_make_a_conflict_that_a_third_settles(engine: Engine) -> None:
    team = team_at(engine, ALL)
    team.read("anna", "relevant")
    team.read("bert", "irrelevant")
    assert (verdict(team, "d0"), open_now(team), team.review.pending()) == (None, (0, 1), [])
    [conflict] = team["olga"].conflicts()
    assert [(one.reviewer, one.verdict) for one in conflict.opinions] == [("anna", "relevant"), ("bert", "irrelevant")]
    with pytest.raises(NotAllowed, match="somebody who has not decides"):
        team["anna"].resolve(Answer("d0", "a", verdict="relevant"))
    receipt = team["olga"].resolve(Answer("d0", "o", verdict="relevant"))
    again = team["olga"].resolve(Answer("d0", "o", verdict="relevant"))
    assert (receipt.id, receipt.repeated, again.repeated) == (again.id, False, True)
    assert (verdict(team, "d0"), open_now(team), team["olga"].conflicts()) == ("relevant", (0, 0), [])
    with pytest.raises(AnswerConflict, match="no conflict about 'd0' any more"):
        team["olga"].resolve(Answer("d0", "p", verdict="irrelevant"))


def test_by_consensus_the_readers_or_an_owner_write_down_what_they_agreed_on(engine: Engine) -> None:
    team = team_at(engine, replace(ALL, resolution="consensus"), reviewers=("anna", "bert", "cleo"))
    for document in ("d0", "d1"):
        team.read("anna", "relevant")
        assert team.read("bert", "irrelevant") == document
    with pytest.raises(NotAllowed, match="Those who have read"):
        team["cleo"].resolve(Answer("d0", "c", verdict="relevant"))
    team["bert"].resolve(Answer("d0", "b", verdict="relevant", note="talked it over"))
    team["olga"].resolve(Answer("d1", "o", verdict="irrelevant"))
    lines = team.review.history(HistoryFilter(kind="answer"))
    assert [(one.document, one.verdict, one.decided) for one in lines] == [
        ("d1", "irrelevant", "owner"),
        ("d0", "relevant", "consensus"),
    ]


def test_the_half_read_comes_first_and_never_to_who_has_read_it(engine: Engine) -> None:
    team = team_at(engine, ALL, reviewers=("anna", "bert", "cleo"))
    assert [team.read("anna", "relevant") for _ in range(3)] == ["d0", "d1", "d2"]
    assert team.next_of("bert", 2) == ["d0", "d1"]
    assert team.next_of("cleo", 2) == ["d2", "d3"]  # two readers are enough for d0 and d1
    assert team.next_of("anna", 1) == ["d4"]


def test_three_readers_where_three_are_wanted(engine: Engine) -> None:
    team = team_at(engine, replace(ALL, readers=3), reviewers=("anna", "bert", "cleo"))
    for name in ("anna", "bert", "cleo"):
        assert verdict(team, "d0") is None
        assert team.read(name, "irrelevant") == "d0"
    assert verdict(team, "d0") == "irrelevant"


def test_only_control_documents_are_read_twice_where_that_is_wanted(engine: Engine) -> None:
    team = team_at(engine, replace(SINGLE, screening="control"))
    assert team.read("anna", "relevant") == "d0"
    assert verdict(team, "d0") == "relevant"
    team.fill(["d9"], origin="control")
    assert [team.read(name, "relevant") for name in ("anna", "bert")] == ["d9", "d9"]
    held = team.review.standings()["d9"]
    assert (held.verdict, held.origin) == ("relevant", "control")


def test_a_share_is_drawn_by_the_seed_and_about_as_large_as_wanted() -> None:
    settings = ReviewSettings(screening="share", screening_share=0.3, seed=4)
    names = [f"d{row}" for row in range(4000)]
    drawn = [name for name in names if settings.readers_of(name, "policy") == 2]
    assert 0.27 < len(drawn) / len(names) < 0.33
    assert drawn == [name for name in names if settings.readers_of(name, "control") == 2]
    assert drawn != [name for name in names if replace(settings, seed=5).readers_of(name, "policy") == 2]


def test_nobody_sees_what_others_said_before_all_have_read(engine: Engine) -> None:
    team = team_at(engine, ALL)
    team.read("anna", "relevant")
    team["anna"].note(Remark("d0", "n", note="clearly in"))
    team["anna"].tag(Remark("d0", "t", note="rct"))
    for name in ("bert", "olga", "rita"):
        desk = team[name]
        one = desk.documents(["d0"])[0]
        assert (one.standing, one.note, one.tags) == (None, "", ())
        assert desk.history(HistoryFilter()) == []
        assert desk.standings_of(["d0"]) == {}
    mine = team["anna"].documents(["d0"])[0]
    assert mine.standing is not None
    assert (mine.standing.verdict, mine.note, mine.tags) == ("relevant", "clearly in", ("rct",))
    assert team["anna"].standings_of(["d0"])["d0"].verdict == "relevant"
    team.read("bert", "relevant")
    assert (whole(team.review, "d0").note, team["bert"].documents(["d0"])[0].tags) == ("clearly in", ("rct",))
    assert len(team["bert"].history(HistoryFilter())) == 5  # two opinions, note, tag, answer


def test_a_word_before_the_first_opinion_is_hidden_too(engine: Engine) -> None:
    team = team_at(engine, ALL)
    assert team.show("anna") == "d0"
    team["anna"].note(Remark("d0", "n", note="exclude: wrong population"))
    team["anna"].tag(Remark("d0", "t", note="secret"))
    team["anna"].leave()
    assert team.show("bert") == "d0"
    assert team["bert"].documents(["d0"])[0].note == ""
    assert (team["bert"].tags(), team["anna"].tags()) == ([], ["secret"])
    for name in ("bert", "anna"):
        team.say(name, "d0", "relevant")
    assert team.review.standings()["d0"].origin == "policy"
    assert team["bert"].tags() == ["secret"]


def test_labels_of_a_file_do_not_decide_what_is_half_read(engine: Engine) -> None:
    team = team_at(engine, ALL)
    team.read("anna", "relevant")
    team.review.add_documents(library(3, prefix="e"), labels={"d0": 0, "d1": 0})
    assert (verdict(team, "d0"), verdict(team, "d1")) == (None, "irrelevant")
    assert team.read("bert", "relevant") == "d0"
    assert verdict(team, "d0") == "relevant"


def test_an_opinion_that_replaced_another_is_undone_to_the_first(engine: Engine) -> None:
    team = team_at(engine, ALL)
    team.read("anna", "relevant")
    team.say("anna", "d0", "irrelevant")
    team["anna"].undo(None, "u")
    assert team["anna"].standings_of(["d0"])["d0"].verdict == "relevant"
    assert team.next_of("bert") == ["d0"]
    team["anna"].undo(None, "v")
    assert team["anna"].standings_of(["d0"]) == {}


def test_an_owner_settles_what_no_second_reader_comes_for(engine: Engine) -> None:
    team = team_at(engine, ALL)
    team.read("anna", "relevant")
    with pytest.raises(NotAllowed, match="somebody who has not decides"):
        team["anna"].resolve(Answer("d0", "a", verdict="relevant"))
    with pytest.raises(AnswerConflict, match="no conflict"):
        team["bert"].resolve(Answer("d0", "b", verdict="relevant"))
    team["olga"].resolve(Answer("d0", "o", verdict="relevant"))
    assert (verdict(team, "d0"), open_now(team)) == ("relevant", (0, 0))


def test_who_was_removed_meanwhile_writes_nothing(engine: Engine) -> None:
    team = team_at(engine)
    people, anna = People(engine), team["anna"]
    people.set_role(team.review.id, anna.person, "reader", by=None)
    with pytest.raises(NotAllowed, match="your role was changed"):
        anna.upcoming(1)
    people.remove_member(team.review.id, anna.person, by=None)
    with pytest.raises(NotAllowed, match="You were removed"):
        team.say("anna", "d0", "relevant")
    assert team.review.standings() == {}


def test_one_may_change_ones_mind_until_all_have_read(engine: Engine) -> None:
    team = team_at(engine, ALL)
    team.read("anna", "relevant")
    mine = team["anna"].documents(["d0"])[0].standing
    assert mine is not None
    team.say("anna", "d0", "irrelevant", expect=mine.last_id)
    team.read("bert", "irrelevant")
    assert verdict(team, "d0") == "irrelevant"


def test_an_opinion_is_undone_and_the_document_is_ones_own_again(engine: Engine) -> None:
    team = team_at(engine, ALL)
    team.read("anna", "relevant")
    undone = team["anna"].undo(None, "u")
    assert undone.suggestion is not None
    assert (undone.receipt.document, undone.suggestion.document, team.next_of("anna")) == ("d0", "d0", ["d0"])
    assert team["anna"].undo(None, "u").receipt.repeated
    assert team.next_of("bert", 2) == ["d0", "d1"]  # it needs two readers still
    team.say("anna", "d0", "irrelevant", undone.suggestion.id)
    team.say("bert", "d0", "irrelevant", undone.suggestion.id)
    assert verdict(team, "d0") == "irrelevant"


def test_when_all_have_read_opinions_stand(engine: Engine) -> None:
    team = team_at(engine, ALL)
    team.read("anna", "relevant")
    team.read("bert", "irrelevant")
    with pytest.raises(AnswerConflict, match="so yours stands"):
        team["bert"].undo(None, "u")
    with pytest.raises(AnswerConflict, match="they disagree"):
        team.say("bert", "d0", "relevant")
    team["olga"].resolve(Answer("d0", "o", verdict="relevant"))
    with pytest.raises(NotAllowed, match="Only an owner"):
        team.say("bert", "d0", "irrelevant")


def test_nobody_takes_back_or_corrects_what_others_said_but_an_owner(engine: Engine) -> None:
    team = team_at(engine)
    receipt = team.say("anna", "d0", "relevant")
    with pytest.raises(NotAllowed, match="Only they, or an owner"):
        team["bert"].undo(receipt.id, "b")
    with pytest.raises(NotAllowed, match="Only they, or an owner"):
        team.say("bert", "d0", "irrelevant")
    assert team.say("anna", "d0", "maybe").origin == "correction"
    corrected = team.say("olga", "d0", "irrelevant")
    team["olga"].undo(corrected.id, "o")
    assert verdict(team, "d0") == "maybe"


def test_not_even_an_owner_takes_back_an_opinion(engine: Engine) -> None:
    team = team_at(engine, ALL)
    opinion = team.say("anna", "d0", "relevant")
    with pytest.raises(NotAllowed, match="somebody else's"):
        team["olga"].undo(opinion.id, "o")


def test_an_owner_reopens_what_was_settled(engine: Engine) -> None:
    team = team_at(engine, ALL)
    for name in ("anna", "bert"):
        team.read(name, "relevant")
    answer = team.review.standings()["d0"].last_id
    with pytest.raises(NotAllowed, match="agreed on this answer"):
        team["bert"].undo(answer, "b")
    team["olga"].undo(answer, "o")
    assert open_now(team) == (0, 1)
    team["olga"].resolve(Answer("d0", "r", verdict="irrelevant"))
    assert verdict(team, "d0") == "irrelevant"
    assert team.say("olga", "d0", "relevant").origin == "correction"
    assert (verdict(team, "d0"), open_now(team)) == ("relevant", (0, 0))


def test_a_key_of_somebody_else_gives_nothing_away(engine: Engine) -> None:
    team = team_at(engine, ALL)
    team["anna"].answer([Answer("d0", "key", verdict="relevant")])
    with pytest.raises(AnswerConflict, match="used for another remark"):
        team["bert"].answer([Answer("d0", "key", verdict="relevant")])


def test_what_somebody_found_is_read_by_others_too(engine: Engine) -> None:
    team = team_at(engine, ALL)
    assert team.say("anna", "d30", "relevant").origin == "search"
    queued = team["bert"].upcoming(1)[0]
    assert (queued.document, queued.why) == ("d30", "found by a colleague")
    team["bert"].show(queued.id)
    team.say("bert", "d30", "relevant", queued.id)
    assert team.review.standings()["d30"].origin == "search"


def test_a_third_reader_is_told_that_two_are_enough(engine: Engine) -> None:
    team = team_at(engine, ALL, reviewers=("anna", "bert", "cleo"))
    team.read("anna", "relevant")
    assert team.show("bert") == "d0"
    with pytest.raises(AnswerConflict, match="all the readers that it needs"):
        team.say("cleo", "d0", "relevant")


def test_the_search_goes_on_behind_what_is_half_read(engine: Engine) -> None:
    team = team_at(engine, ALL, n_queued=0)
    live = LiveSearch(team.review)
    live.refresh(5, ahead=5)
    first = [team.read("anna", "irrelevant") for _ in range(5)]
    live.refresh(5, ahead=5)
    second = [team.read("anna", "irrelevant") for _ in range(5)]
    assert not set(first) & set(second)
    assert [team.read("bert", "irrelevant") for _ in range(5)] == first
    live.refresh(5, ahead=5)
    assert sorted(entry.item for entry in team.review.ledger()) == sorted(first)


def test_a_conflict_among_control_documents_keeps_the_certificate_waiting(engine: Engine) -> None:
    team = team_at(engine, replace(SINGLE, screening="control", target=0.5, confidence=0.5), n_queued=0)
    live = LiveSearch(team.review)
    disagreed = None
    for _ in range(200):
        live.refresh(5, ahead=5)
        queued = team["anna"].upcoming(1)
        if not queued:
            break
        team["anna"].show(queued[0].id)
        team.say("anna", queued[0].document, "irrelevant", queued[0].id)
        if queued[0].origin == "control":
            is_first, disagreed = disagreed is None, disagreed or queued[0].document
            team.say("bert", queued[0].document, "relevant" if is_first else "irrelevant")
    assert disagreed is not None
    assert open_now(team) == (0, 1)
    live.refresh(5)
    assert not live.search.estimate().stop
    team["olga"].resolve(Answer(disagreed, "o", verdict="irrelevant"))
    live.refresh(5)
    assert live.search.estimate().stop


def test_a_frozen_review_is_left_as_it_is(engine: Engine) -> None:
    team = team_at(engine)
    team["olga"].freeze()
    assert team.next_of("anna") == []
    for change in (
        lambda: team.say("anna", "d0", "relevant"),
        lambda: team["anna"].note(Remark("d0", "n", note="x")),
        lambda: team["olga"].change_settings({"criteria": "x"}),
        lambda: team["anna"].undo(None, "u"),
    ):
        with pytest.raises(ReviewFrozen, match="An owner can thaw it"):
            change()
    team["olga"].thaw()
    assert team.read("anna", "relevant") == "d0"


def test_two_owners_who_change_the_screening_at_once_do_not_undo_each_other(engine: Engine) -> None:
    team = team_at(engine)
    seen = team.review.settings_version
    team["olga"].change_settings({"screening": "all"}, seen)
    with pytest.raises(AnswerConflict, match="Somebody else changed the settings"):
        team["olga"].change_settings({"screening": "control"}, seen)
    assert team.review.settings.screening == "all"
    assert team["olga"].change_settings({"readers": 3}, seen + 1).readers == 3
