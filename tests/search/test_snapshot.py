"""Which moments of a search are kept, and which of them another ledger still agrees with."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from riffler.ledger import Entry, Event, Ledger
from riffler.search.snapshot import Snapshot, newest_common, worth_keeping


def test_few_are_kept_and_none_is_far_from_what_is_looked_for() -> None:
    kept: list[int] = []
    for newest in range(1, 1025):
        kept = [number for number in [*kept, newest] if worth_keeping(number, newest)]
        assert len(kept) <= 12
        for age in range(newest - kept[0]):
            nearest = max(number for number in kept if number <= newest - age)
            assert newest - nearest <= 5 * max(age, 1)


def ledger(*rounds: str, events: tuple[int, ...] = ()) -> Ledger:
    """A ledger with an entry for each letter; capitals are relevant."""
    made = Ledger()
    for number, letters in enumerate(rounds):
        for letter in letters:
            made.append(Entry(letter.lower(), number, "policy", False, 1.0, int(letter.isupper()), 1.0, ""))
    for number in events:
        made.note(Event(number, "clusters"))
    return made


def moment(n_entries: int, round: int, n_events: int = 0) -> Snapshot:
    nothing: Any = None
    return Snapshot(n_entries, n_events, round, 0, nothing, nothing, nothing, nothing, nothing)


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (ledger("ab", "C", "d"), 3),  # nothing changed
        (ledger("ab", "C"), 3),  # the last is gone
        (ledger("ab", "c", "d"), 2),  # the third was corrected
        (ledger("ab", "d"), 2),  # the third is gone, and its round with it
        (ledger("aB", "C", "d"), 0),  # the second was corrected
        (ledger("a", "C", "d"), 0),  # the second is gone
        (ledger("abx", "C", "d"), 0),  # a round has become another
    ],
)
def test_the_newest_moment_before_the_change_is_found(other: Ledger, expected: int) -> None:
    kept = [moment(0, 0), moment(2, 1), moment(3, 2)]
    found = newest_common(kept, ledger("ab", "C", "d"), other)
    assert found is not None
    assert found.n_entries == expected


def test_events_must_agree_too() -> None:
    own = ledger("ab", "C", "d", events=(1,))
    kept = [moment(2, 1), moment(3, 2, n_events=1)]
    assert newest_common(kept, own, ledger("ab", "C", "d", events=(1,))) is kept[1]
    assert newest_common(kept, own, ledger("ab", "C", "d", events=(2,))) is kept[0]
    assert newest_common(kept, own, ledger("ab", "C", "d", events=(0,))) is None


def test_times_and_chances_make_no_difference() -> None:
    own, other = ledger("ab", "C"), Ledger()
    for entry in own:
        other.append(replace(entry, asked_at="later", probability=0.5))
    assert newest_common([moment(3, 2)], own, other) is not None
