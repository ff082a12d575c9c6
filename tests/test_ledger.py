"""The ledger counts, remembers the last answer, and comes back from its file as it was."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest

from riffler import DataFileError, Ledger
from riffler.ledger import UNKNOWN, Event, Round


def example() -> Ledger:
    ledger = Ledger()
    ledger.record([7, "ä\u2028b"], round=0, origin="top", in_top=True, probability=1.0, answers=[1, UNKNOWN], cost=0.5)
    ledger.record([8], round=1, origin="sample", in_top=[False], probability=[0.125], answers=[0], cost=[2.0])
    ledger.record([7], round=1, origin="known", in_top=True, probability=1.0, answers=[1], cost=0.0)
    ledger.record([], round=1, origin="sample", in_top=[], probability=[], answers=[], cost=[])
    ledger.close_round(Round(0, 10, 2, 0.0))
    ledger.close_round(Round(1, 10, 2, 0.125, cut=True))
    ledger.note(Event(1, "clusters"))
    return ledger


def test_what_it_says() -> None:
    ledger = example()
    assert len(ledger) == 4
    assert ledger.n_asked == 3
    assert ledger.cost == 3.0
    assert ledger.answers().tolist() == [1, UNKNOWN, 0, 1]
    assert ledger.probabilities().tolist() == [1.0, 1.0, 0.125, 1.0]
    assert ledger.answer_of(8) == 0
    assert ledger.answer_of("8") is None
    assert ledger.holds(7, 1)
    assert not ledger.holds(8, 0)
    assert [entry.asked_at.endswith("+00:00") for entry in ledger] == [True] * 4


def test_an_empty_ledger_has_empty_arrays() -> None:
    ledger = Ledger()
    assert (ledger.answers().size, ledger.probabilities().size) == (0, 0)
    assert ledger.rounds == ()


def test_entries_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        next(iter(example())).answer = 0  # type: ignore[misc]


def test_it_comes_back_from_its_file(tmp_path: Path) -> None:
    ledger = example()
    ledger.save(tmp_path / "ledger.jsonl")
    back = Ledger.load(tmp_path / "ledger.jsonl")
    assert list(back) == list(ledger)
    assert back.rounds == ledger.rounds
    assert back.events == (Event(1, "clusters"),)
    assert (back.cost, back.n_asked, back.answer_of("ä\u2028b")) == (3.0, 3, UNKNOWN)


@pytest.mark.parametrize(
    "line",
    ['{"kind": "entry", "item": 1}', '{"kind": "end"}', "{", "[]", "", '{"item": 1}'],
    ids=["fields missing", "unknown kind", "cut short", "a list", "blank", "no kind"],
)
def test_a_malformed_line_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "ledger.jsonl"
    example().save(path)
    path.write_text(path.read_text(encoding="utf-8") + line + "\n", encoding="utf-8")
    with pytest.raises(DataFileError, match=r"ledger.jsonl, line 8: expected an entry, a round or an event"):
        Ledger.load(path)


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataFileError, match="not a text in UTF-8"):
        Ledger.load(path)
