"""Where somebody sits at a review: what they are shown, and what they may say. In a file there is one desk."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from riffler.review.history import HistoryFilter, HistoryLine
from riffler.review.queue import Queued
from riffler.review.remarks import Answer, Receipt, Remark
from riffler.review.settings import ReviewSettings
from riffler.review.standing import Standing
from riffler.review.store import SOLE_REVIEWER, Review
from riffler.review.whole_documents import WholeDocument


@dataclass(frozen=True, slots=True)
class Undone:
    """An answer that was taken back; ``suggestion`` is how its document came to be shown, where it was suggested."""

    receipt: Receipt
    suggestion: Queued | None


class Desk:
    """The only desk of a review that one person reads: everything is allowed, and nothing is hidden.

    name : whose it is
    role : "owner", "reviewer" or "reader"
    """

    role = "owner"

    def __init__(self, review: Review, name: str = SOLE_REVIEWER) -> None:
        self.review, self.name = review, name

    def upcoming(self, n: int, is_wanted: Callable[[], bool] = lambda: True) -> list[Queued]:
        """What is to be read next, at most n; what was shown and not answered comes first.

        is_wanted : asked at the last moment, where documents are given to one person alone: if it says no, none are
        """
        return self.review.upcoming(n, reviewer=self.name)

    def show(self, suggestion: int) -> None:
        """Write down that a suggestion is on the screen."""
        self.review.mark_shown(suggestion, reviewer=self.name)

    def n_held_by_others(self) -> int:
        """How many documents others read now, and nobody else is given."""
        return 0

    def leave(self) -> None:
        """Go away: what is on the screen may be shown to others."""

    def answer(self, answers: Sequence[Answer]) -> list[Receipt]:
        """Record answers, all or none."""
        return self.review.answer(answers, reviewer=self.name)

    def undo(self, ledger_id: int | None, key: str, is_wanted: Callable[[], bool] = lambda: True) -> Undone:
        """Take back an answer; without a number the last one that was given here.

        is_wanted : asked at the last moment, where the document is given to one person alone: if it says no, it is not
        """
        if ledger_id is None:
            receipt = self.review.undo_last(key, reviewer=self.name)
        else:
            receipt = self.review.undo(ledger_id, key, reviewer=self.name)
        return Undone(receipt, self.review.suggestion_of(receipt.document))

    def note(self, remark: Remark) -> Receipt:
        """Record a note about a document; the last one holds, "" removes it."""
        return self.review.note(remark, reviewer=self.name)

    def tag(self, remark: Remark) -> Receipt:
        """Give a document a tag."""
        return self.review.tag(remark, reviewer=self.name)

    def untag(self, remark: Remark) -> Receipt:
        """Take a tag from a document."""
        return self.review.untag(remark, reviewer=self.name)

    def tags(self) -> list[str]:
        """All tags that are in use."""
        return self.review.tags()

    def documents(self, names: Sequence[str]) -> list[WholeDocument]:
        """Documents with their duplicates, verdicts, notes and tags, as far as they may be seen from here."""
        return self.review.whole_documents(names)

    def standings_of(self, names: Sequence[str]) -> dict[str, Standing]:
        """What holds of some documents, as far as it may be seen from here."""
        return self.review.standings_of(names)

    def history(self, wanted: HistoryFilter) -> list[HistoryLine]:
        """What was said, the latest first, as far as it may be seen from here."""
        return self.review.history(replace(wanted, viewer=self.viewer))

    def change_settings(self, changes: Mapping[str, Any], expect: int | None = None) -> ReviewSettings:
        """Change some settings, and return what holds now."""
        return self.review.change_settings(changes, expect=expect)

    def note_act(self, act: str, **details: object) -> None:
        """Write down that something was done here which the ledger does not have, such as an export."""

    @property
    def viewer(self) -> int | None:
        """The number of who sits here, where that decides what is seen."""
        return None
