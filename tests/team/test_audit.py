"""The audit trail: all that was done, once and in order, on pages and as a file that harms no spreadsheet."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from sqlalchemy import Engine, select

from riffler import InputError, StorageError, collection_from_frame
from riffler.review import remarks, screening
from riffler.review.database import reading
from riffler.review.remarks import Remark
from riffler.review.schema import EventRow, LedgerRow
from riffler.review.schema_team import ActRow
from riffler.review.store import Review
from riffler.team import acts, audit
from riffler.team.audit import AuditLine, all_lines, read_audit, write_audit
from riffler.team.people import People
from tests.review.reviews import say
from tests.team.people import empty_review
from tests.team.teams import SINGLE, Team, team_at

DOUBLE = replace(SINGLE, screening="all", readers=2)
RISKY = "=HYPERLINK(A1)"


@pytest.fixture
def team(engine: Engine, people: People) -> Team:
    """Give a team that has done one thing of each kind; passwords cost little."""
    team = team_at(engine, DOUBLE, reviewers=("anna", "bert", "@bob"))
    team.say("anna", "d0", "relevant", seconds=4.5)
    team.say("bert", "d0", "irrelevant")
    team["olga"].resolve(say("d0", "maybe", "settled"))
    team.say("anna", "d1", "relevant")
    team.say("bert", "d1", "relevant")
    team.say("olga", "d1", "irrelevant")
    team["olga"].undo(None, "undo")
    team.say("@bob", "d2", "skip")  # which others must not know yet
    team["@bob"].undo(None, "undo too")
    team["anna"].note(Remark("d3", "n1", note="+49 171"))
    team["anna"].note(Remark("d3", "n2"))
    team["anna"].tag(Remark("d3", "t1", note="later"))
    team["anna"].untag(Remark("d3", "t2", note="later"))
    team["olga"].change_settings({"screening": "single", "criteria": "only whales"})
    team.review.add_documents(
        collection_from_frame(pl.DataFrame({"id": ["e0"], "title": [RISKY]})), labels={"d5": 1}, reviewer="olga"
    )
    team.say("anna", "e0", "relevant")
    team["olga"].note_act("exported", format="csv")
    team["olga"].freeze()
    empty_review(engine, "another one")
    return team


def pages(team: Team, n: int) -> list[AuditLine]:
    """Read all pages of n lines."""
    found: list[AuditLine] = []
    with reading(team.engine) as session:
        while page := read_audit(session, team.review.id, n, found[-1].place if found else None):
            assert len(page) <= n
            found += page
    return found


def whole(team: Team) -> list[AuditLine]:
    with reading(team.engine) as session:
        return list(all_lines(session, team.review.id))


def failing(line: AuditLine) -> dict[str, Any]:
    raise OSError("the disk went away")


def written(team: Team, path: Path) -> list[dict[str, Any]]:
    write_audit(team.review, path)
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    with path.open(encoding="utf-8-sig", newline="") as stream:
        return list(csv.DictReader(stream))


def test_everything_that_was_done_is_there_once(team: Team) -> None:
    with reading(team.engine) as session:
        done = {
            (source, number)
            for source, table in (("event", EventRow), ("ledger", LedgerRow), ("act", ActRow))
            for number in session.scalars(select(table.id).where(table.review_id == team.review.id))
        }
    lines = whole(team)
    assert len(lines) == len(done)
    assert {(line.source, line.number) for line in lines} == done


def test_lines_come_in_the_order_of_their_moments(team: Team) -> None:
    moments = [line.at for line in whole(team)]
    assert moments == sorted(moments)
    assert {line.source for line in whole(team)[:12]} > {"act"}


def test_lines_say_in_words_what_was_done(team: Team) -> None:
    said = [(line.who, line.what, line.document) for line in whole(team) if line.source == "ledger"]
    assert said == [
        ("anna", "gave the opinion relevant", "d0"),
        ("bert", "gave the opinion irrelevant", "d0"),
        ("olga", "settled as maybe, as a third person", "d0"),
        ("anna", "gave the opinion relevant", "d1"),
        ("bert", "gave the opinion relevant", "d1"),
        ("bert", "all readers said relevant", "d1"),
        ("olga", "changed the answer to irrelevant", "d1"),
        ("olga", "took back the answer irrelevant", "d1"),
        ("@bob", "gave the opinion skip", "d2"),
        ("@bob", "took back the opinion skip", "d2"),
        ("anna", "wrote a note", "d3"),
        ("anna", "removed the note", "d3"),
        ("anna", "gave a tag", "d3"),
        ("anna", "took a tag away", "d3"),
        ("olga", "relevant was known before", "d5"),
        ("anna", "answered relevant", "e0"),
    ]
    beside = {line.what: line for line in whole(team) if line.source != "ledger"}
    assert beside["wording changed"].details == {
        "criteria": {"before": "", "after": "only whales"},
        "screening": {"before": "all", "after": "single"},
    }
    assert (beside["changed settings"].who, beside["documents added"].who) == ("olga", "")
    assert (beside["exported"].details, beside["exported"].document) == ({"format": "csv"}, None)
    assert "froze the review" in beside


def test_a_line_has_what_its_row_has(team: Team) -> None:
    first, *_, last = (line for line in whole(team) if line.what == "gave the opinion relevant")
    assert first.title == "whale whale 0"
    assert (first.details["verdict"], first.details["seconds"]) == ("relevant", 4.5)
    assert None not in first.details.values()
    assert "seconds" not in last.details
    (settled,) = (line for line in whole(team) if line.what.startswith("settled"))
    assert settled.details["decided"] == "third"
    undone = next(line for line in whole(team) if line.what.startswith("took back the answer"))
    assert undone.details["undoes"] == undone.number - 1


@pytest.mark.parametrize("n", [1, 2, 7, 1000])
def test_pages_have_the_same_lines_the_latest_first(team: Team, n: int) -> None:
    assert [replace(line, place="") for line in reversed(pages(team, n))] == whole(team)


def test_what_is_done_meanwhile_changes_no_later_page(team: Team) -> None:
    before = pages(team, 1000)
    with reading(team.engine) as session:
        first = read_audit(session, team.review.id, 1)
    team["olga"].thaw()
    team.say("anna", "d7", "maybe")
    team["olga"].change_settings({"criteria": "and seals"})
    with reading(team.engine) as session:
        assert first + read_audit(session, team.review.id, 1000, first[-1].place) == before


def test_a_place_that_is_none_is_refused(team: Team) -> None:
    for place in ("", "7", "1-2", "a-b-c", "1-2--3", "1-2-²"):
        with reading(team.engine) as session, pytest.raises(InputError, match="no place in the audit trail"):
            read_audit(session, team.review.id, 10, place)


def test_an_undo_comes_after_what_it_undoes_whatever_the_clock_says(
    engine: Engine, people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    team = team_at(engine)
    team.say("anna", "d0", "relevant")
    for module in (remarks, screening, acts):
        monkeypatch.setattr(module, "now", lambda: "1999-12-31T23:59:59.999+00:00")
    team["anna"].undo(None, "undo")
    team["olga"].note_act("exported")
    words = [line.what for line in whole(team)]
    assert words.index("answered relevant") < words.index("took back the answer relevant")
    for n in (1, 2, 1000):
        lines = pages(team, n)
        assert sorted((line.source, line.number) for line in lines) == sorted(
            (line.source, line.number) for line in whole(team)
        )
        words = [line.what for line in lines]
        assert words.index("took back the answer relevant") < words.index("answered relevant")


@pytest.mark.parametrize("ending", [".csv", ".jsonl"])
def test_the_file_has_every_line_the_earliest_first(
    team: Team, tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = written(team, tmp_path / f"audit{ending}")
    assert [(row["at"], row["source"], int(row["number"])) for row in rows] == [
        (line.at, line.source, line.number) for line in whole(team)
    ]
    assert [json.loads(row["details"]) if ending == ".csv" else row["details"] for row in rows] == [
        line.details for line in whole(team)
    ]
    monkeypatch.setattr(audit, "BLOCK", 3)
    assert written(team, tmp_path / f"blocks{ending}") == rows


def test_formulas_are_guarded_in_tables_and_kept_elsewhere(team: Team, tmp_path: Path) -> None:
    guarded, kept = written(team, tmp_path / "audit.csv"), written(team, tmp_path / "audit.jsonl")
    assert {row["title"] for row in guarded if row["document"] == "e0"} == {f"'{RISKY}"}
    assert {row["title"] for row in kept if row["document"] == "e0"} == {RISKY}
    assert {"'@bob"} == {row["who"] for row in guarded if "bob" in row["who"]}
    assert {"@bob"} == {row["who"] for row in kept if "bob" in row["who"]}
    assert not [cell for row in guarded for cell in row.values() if cell and cell[0] in "=+-@\t\r\n"]


def test_a_review_in_which_nothing_was_done_has_a_file_with_a_head(engine: Engine, tmp_path: Path) -> None:
    team = Team(engine, Review(engine, empty_review(engine)), {})
    assert written(team, tmp_path / "audit.jsonl") == written(team, tmp_path / "audit.csv") == []
    head = "at,who,what,document,title,details,source,number\n"
    assert (tmp_path / "audit.csv").read_text("utf-8-sig") == head
    assert pages(team, 10) == []


def test_a_file_that_cannot_be_written_is_not_there(
    team: Team, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InputError, match=r"\.csv or \.jsonl"):
        write_audit(team.review, tmp_path / "audit.xml")
    with pytest.raises(StorageError, match="cannot be written"):
        write_audit(team.review, tmp_path / "no" / "audit.csv")
    monkeypatch.setattr(audit, "_values", failing)
    with pytest.raises(StorageError, match="cannot be written"):
        write_audit(team.review, tmp_path / "audit.jsonl")
    assert not [file.name for file in tmp_path.iterdir() if "audit" in file.name]
