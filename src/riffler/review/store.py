"""A review in a database: everything that is done to it goes through here, and is on the disk when a call returns."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Lock
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Any, Self

from sqlalchemy import Engine, func, select
from sqlalchemy.orm import Session

from riffler.data.collection import Collection
from riffler.disk import DiskCollection
from riffler.errors import AnswerConflict, InputError, ReviewFileError, ReviewFrozen
from riffler.review.database import connect, lock_review, now, reading, writing, writing_review
from riffler.review.documents import (
    Import,
    add_stratum,
    asked_ids,
    load_collection,
)
from riffler.review.drafts import beside
from riffler.review.folder import FolderLink, link_of, write_link
from riffler.review.folder_side import FolderSide, check_no_folder
from riffler.review.fulltext import Hit, find_any, find_texts, index_stratum
from riffler.review.history import HistoryFilter, HistoryLine, read_history
from riffler.review.known import append_known, known_verdicts
from riffler.review.new_file import copy_to_file, leave_one_file
from riffler.review.notes import held_tags
from riffler.review.pictures import ProgressView, view_progress
from riffler.review.queue import Queued, mark_shown, suggestion_of, upcoming
from riffler.review.remarks import (
    Answer,
    Receipt,
    Remark,
    append_answers,
    append_undo,
    append_undo_of_last,
    append_word,
    reviewer_id,
)
from riffler.review.rounds import SETTINGS_CHANGED
from riffler.review.schema import Document, EventRow, LedgerRow, ReviewRow, Stratum
from riffler.review.settings import ReviewSettings
from riffler.review.standing import Standing, count_verdicts, standings
from riffler.review.tokens import Token, find_token, list_tokens, make_token, mark_used, revoke_token
from riffler.review.upgrade import bring_up_to_date, copy_file
from riffler.review.whole_documents import WholeDocument, whole_documents

if TYPE_CHECKING:
    from riffler.data.duplicates import Duplicates

SOLE_REVIEWER = "reviewer"
WORDING_CHANGED = "wording"
"""Event of settings that the page alone uses."""

LEFT_OUT = "left out"
"""Event of documents that were in a file and in the review already, by their ids."""


def open_review(path: str | os.PathLike[str]) -> FileReview:
    """Open the review in a file; one of an older version is upgraded, with a backup beside it."""
    target = Path(path)
    if target.is_dir():
        raise ReviewFileError(f"{target} is a folder, and a review is a file. Name that, such as papers.riffler.")
    if not target.is_file():
        raise ReviewFileError(f"{target}: there is no such file. Create the review first.")
    engine = connect(target)
    try:
        bring_up_to_date(engine, target)
        return FileReview(engine, target)
    except BaseException:
        engine.dispose()
        raise


class Review(FolderSide):
    """An open review; several processes and threads may have the same one open.

    Every change is one transaction: when the call returns it survives a crash, when it raises nothing was written.
    """

    def __init__(self, engine: Engine, review_id: int) -> None:
        self._engine = engine
        self.taking = Lock()  # those whom this process gives documents to wait here, which is cheaper than to collide
        with reading(engine) as session:
            row = session.get_one(ReviewRow, review_id)
        self.id, self.name, self.identity, self.made_with = row.id, row.name, row.identity, row.made_with

    def backup(self, path: str | os.PathLike[str]) -> None:
        """Write a copy of this moment to a new file, which is whole or not there; work may go on meanwhile."""
        target = Path(path)
        _check_free(target)
        with reading(self._engine) as session:
            copy_to_file(session, self.id, target)

    @contextmanager
    def moment(self) -> Iterator[Session]:
        """Give a session that sees one moment of the review, for what reads it from end to end."""
        with reading(self._engine) as session:
            yield session

    # What the review is

    @property
    def settings(self) -> ReviewSettings:
        """The settings of this moment."""
        with reading(self._engine) as session:
            return ReviewSettings.from_json(session.get_one(ReviewRow, self.id).settings)

    @property
    def settings_version(self) -> int:
        """How often the settings were changed: who changes them says which ones it was decided on."""
        with reading(self._engine) as session:
            return _n_changes(session, self.id)

    def change_settings(
        self,
        changes: Mapping[str, Any],
        *,
        expect: int | None = None,
        also: Callable[[Session], None] = lambda session: None,
    ) -> ReviewSettings:
        """Change some settings, keep the old ones among the events, and return what holds now.

        expect : version that the change was decided on; where somebody has changed them since, nothing is written
        also : is done in the same transaction
        """
        if "policy" in changes:
            self._check_policy(changes["policy"])
        with self.changing() as session:
            if expect is not None and expect != _n_changes(session, self.id):
                raise AnswerConflict(
                    "Somebody else changed the settings a moment ago. Nothing was written. Load the page again, and "
                    "change them if you still want it."
                )
            row = session.get_one(ReviewRow, self.id)
            before = ReviewSettings.from_json(row.settings)
            after = replace(before, **changes)
            details = {"before": row.settings, "after": after.as_json()}
            row.settings = after.as_json()
            # what only the page shows is no reason to build the search anew
            name = WORDING_CHANGED if before.for_search() == after.for_search() else SETTINGS_CHANGED
            session.add(EventRow(review_id=self.id, at=now(), name=name, details=details))
            also(session)
        return after

    def _check_policy(self, name: str) -> None:
        """Refuse a new policy that the folder has no clusters for; nobody waits for a change while it is opened."""
        with reading(self._engine) as session:
            check_not_frozen(session, self.id)
            row, link = session.get_one(ReviewRow, self.id), link_of(session, self.id)
        if link is not None and name != ReviewSettings.from_json(row.settings).policy:
            link.check_policy(name)

    @property
    def frozen_at(self) -> str | None:
        """When an owner froze the review; None where nobody did."""
        with reading(self._engine) as session:
            return session.get_one(ReviewRow, self.id).frozen_at

    @contextmanager
    def changing(self) -> Iterator[Session]:
        """Give a session for one change, unless the review is frozen; nobody else changes it meanwhile."""
        with writing_review(self._engine, self.id) as session:
            check_not_frozen(session, self.id)
            yield session

    def follow_folder(self, collection: DiskCollection) -> None:
        """Go on with the folder of this review at another place; one in another state is refused."""
        link, new = self.folder, FolderLink.to(collection)
        if link is None:
            raise InputError(f"{collection.source}: this review is of files, not of a collection on disk.")
        link.check(collection)
        if new != link:  # else nothing is written: a frozen review may be read where its folder is
            with self.changing() as session:
                write_link(session, self.id, new)

    def add_documents(
        self,
        collection: Collection,
        *,
        duplicates: Duplicates | None = None,
        twins: Mapping[str, str] = MappingProxyType({}),
        labels: Mapping[str, int] = MappingProxyType({}),
        n_left_out: int = 0,
        n_imports: int | None = None,
        reviewer: str = SOLE_REVIEWER,
    ) -> None:
        """Add the documents of a collection as a stratum of their own: all of them, or none.

        twins : ids of new documents that one of the review stands for: they are shown with it, not asked for
        labels : by id, of documents that the review has; they hold where nobody said anything
        n_left_out : documents of the same file that the review has, for the counts
        n_imports : how many imports all this was found out with; it is refused if there are others since
        reviewer : who knew the labels
        """
        with writing(self._engine) as session:
            check_no_folder(session, self.id)
            lock_review(session, -self.id)  # imports wait for one another, and nobody who reads waits for them
            check_not_frozen(session, self.id)
            there = session.scalar(select(func.count(Stratum.id)).where(Stratum.review_id == self.id))
            if n_imports is not None and n_imports != there:
                raise AnswerConflict(
                    f"{collection.source}: other documents were added to the review meanwhile, so what is new has to "
                    "be found out again. Nothing was written. Import the file again."
                )
            add_import(session, self.id, collection, duplicates, twins, labels, reviewer)
            if n_left_out:
                details = {"source": collection.source, "n": n_left_out}
                session.add(EventRow(review_id=self.id, at=now(), name=LEFT_OUT, details=details))

    def collection(self) -> Collection:
        """All documents that are asked for, with their original columns; of a folder those that came up."""
        with reading(self._engine) as session:
            return load_collection(session, self.id)

    def whole_documents(self, names: Sequence[str]) -> list[WholeDocument]:
        """Documents with their duplicates, verdicts, notes and tags, all of one moment."""
        with reading(self._engine) as session:
            return whole_documents(session, self.id, names)

    def strata(self) -> dict[int, tuple[str, ...]]:
        """The ids of the documents that are asked for, by stratum, in the order in which the strata came."""
        with reading(self._engine) as session:
            rows = session.execute(
                select(Document.stratum_id, Document.name)
                .where(Document.review_id == self.id, Document.twin_of.is_(None))
                .order_by(Document.stratum_id, Document.position)
            )
            names: dict[int, list[str]] = {}
            for stratum, name in rows:
                names.setdefault(stratum, []).append(name)
        return {stratum: tuple(found) for stratum, found in names.items()}

    def imports(self) -> list[Import]:
        """What was imported, the first first."""
        with reading(self._engine) as session:
            rows = session.scalars(select(Stratum).where(Stratum.review_id == self.id).order_by(Stratum.id))
            return [Import(row.id, row.source, row.added_at, row.n_asked) for row in rows]

    # What people say

    def answer(self, answers: Sequence[Answer], *, reviewer: str = SOLE_REVIEWER) -> list[Receipt]:
        """Record answers, all or none; one about a document that has an answer corrects it."""
        with self.changing() as session:
            return append_answers(session, self.id, reviewer_id(session, reviewer), answers)

    def undo(self, ledger_id: int, key: str, *, reviewer: str = SOLE_REVIEWER) -> Receipt:
        """Take back an answer that holds; the one before it holds again, if there was one."""
        with self.changing() as session:
            return append_undo(session, self.id, reviewer_id(session, reviewer), ledger_id, key)

    def undo_last(self, key: str, *, reviewer: str = SOLE_REVIEWER) -> Receipt:
        """Take back the reviewer's last answer that holds."""
        with self.changing() as session:
            return append_undo_of_last(session, self.id, reviewer_id(session, reviewer), key)

    def note(self, remark: Remark, *, reviewer: str = SOLE_REVIEWER) -> Receipt:
        """Record a note about a document; the last one holds, "" removes it."""
        return self._word("note", remark, reviewer)

    def tag(self, remark: Remark, *, reviewer: str = SOLE_REVIEWER) -> Receipt:
        """Give a document a tag."""
        return self._word("tag", remark, reviewer)

    def untag(self, remark: Remark, *, reviewer: str = SOLE_REVIEWER) -> Receipt:
        """Take a tag from a document."""
        return self._word("untag", remark, reviewer)

    def standings(self) -> dict[str, Standing]:
        """What holds now for every document that has an answer, first asked first."""
        with reading(self._engine) as session:
            return {one.document: one for one in standings(session, self.id)}

    def standings_of(self, documents: Sequence[str]) -> dict[str, Standing]:
        """What holds now for those of some documents that have an answer; a twin is its head."""
        with reading(self._engine) as session:
            about = LedgerRow.document_id.in_(asked_ids(session, self.id, documents).values())
            return {one.document: one for one in standings(session, self.id, about)}

    def counts(self) -> dict[str, int]:
        """How many documents are relevant, irrelevant, maybe, skip and unread."""
        with reading(self._engine) as session:
            return count_verdicts(session, self.id)

    def tags(self) -> list[str]:
        """All tags that are in use."""
        with reading(self._engine) as session:
            return sorted({tag for _, tag in session.execute(held_tags(LedgerRow.review_id == self.id))})

    def history(self, wanted: HistoryFilter = HistoryFilter()) -> list[HistoryLine]:  # noqa: B008 - frozen
        """What was said, the latest first."""
        with reading(self._engine) as session:
            return read_history(session, self.id, wanted)

    def events(self) -> list[tuple[str, str, dict[str, Any]]]:
        """What happened beside answers: when, what, and its details, the earliest first."""
        with reading(self._engine) as session:
            rows = session.scalars(select(EventRow).where(EventRow.review_id == self.id).order_by(EventRow.id))
            return [(row.at, row.name, row.details) for row in rows]

    def find(self, words: str, *, n: int = 50, offset: int = 0) -> list[Hit]:
        """Documents that have all the words, the best first; a phrase stands in double quotes."""
        with reading(self._engine) as session:
            return find_texts(session, self.id, words, n, offset)

    def find_any(self, words: str, *, n: int = 50) -> list[str]:
        """Ids of documents that have some of the words, the best first."""
        with reading(self._engine) as session:
            return find_any(session, self.id, words, n)

    # What the page shows

    def upcoming(self, n: int = 1, *, reviewer: str = SOLE_REVIEWER) -> list[Queued]:
        """What is to be shown next, at most n; what was shown and not answered comes first."""
        with reading(self._engine) as session:
            return upcoming(session, self.id, reviewer, n)

    def mark_shown(self, suggestion: int, *, reviewer: str = SOLE_REVIEWER) -> None:
        """Write down that a suggestion is on the screen."""
        with writing_review(self._engine, self.id) as session:
            mark_shown(session, self.id, reviewer, suggestion)

    def suggestion_of(self, document: str) -> Queued | None:
        """How a document came to be shown, where it was suggested."""
        with reading(self._engine) as session:
            return suggestion_of(session, self.id, document)

    def progress(self) -> ProgressView | None:
        """What the learner last said about the progress; nothing is claimed where it no longer holds."""
        picture = self.picture("progress")
        return None if picture is None else view_progress(picture, self.revision(), self.n_answers_since)

    # Keys for programs

    def make_token(self, name: str) -> tuple[Token, str]:
        """Make a key for a program, and return it with its secret, which nobody can read again."""
        with writing(self._engine) as session:
            return make_token(session, self.id, name)

    def check_token(self, secret: str) -> Token | None:
        """The key with this secret; None where there is none, or it was revoked."""
        with reading(self._engine) as session:
            return find_token(session, self.id, secret)

    def note_use(self, token: Token) -> None:
        """Write down that a key is used now."""
        with writing(self._engine) as session:
            mark_used(session, token.id)

    def tokens(self) -> list[Token]:
        """All keys, revoked ones too."""
        with reading(self._engine) as session:
            return list_tokens(session, self.id)

    def revoke_token(self, token: int) -> None:
        """Let a key open nothing from now on."""
        with writing(self._engine) as session:
            revoke_token(session, self.id, token)

    def _word(self, kind: str, remark: Remark, reviewer: str) -> Receipt:
        with self.changing() as session:
            return append_word(session, self.id, reviewer_id(session, reviewer), kind, remark)


class FileReview(Review):
    """An open review in a file of its own."""

    def __init__(self, engine: Engine, path: Path) -> None:
        self.path = path
        with reading(engine) as session:
            first = session.scalar(select(ReviewRow.id).order_by(ReviewRow.id).limit(1))
        if first is None:
            raise ReviewFileError(f"{path}: the file holds no review. Use a backup.")
        super().__init__(engine, first)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Move everything into the one file, as far as nobody else has it open, and close it."""
        try:
            leave_one_file(self._engine)
        finally:
            self._engine.dispose()

    def backup(self, path: str | os.PathLike[str]) -> None:
        """Write a copy of this moment to a new file, which is whole or not there; work may go on meanwhile."""
        target = Path(path)
        if target.resolve() == self.path.resolve():
            raise InputError(f"{target}: this is the review itself. Choose another file for the backup.")
        _check_free(target)
        copy_file(self.path, target)


def check_not_frozen(session: Session, review_id: int) -> None:
    """Refuse to change a review that an owner has frozen."""
    refuse_frozen(session.scalar(select(ReviewRow.frozen_at).where(ReviewRow.id == review_id)))


def refuse_frozen(frozen_at: str | None) -> None:
    """Refuse a change where there is a moment since which the review is frozen."""
    if frozen_at is not None:
        raise ReviewFrozen(
            f"The review is frozen since {frozen_at[:16].replace('T', ' ')} UTC: nothing is changed any more. "
            "An owner can thaw it."
        )


def _check_free(target: Path) -> None:
    there = next((file for file in (target, *beside(target)) if file.exists()), None)
    if there is not None:
        raise InputError(f"{there}: there is a file already. Choose another name for the backup, or remove it.")


def _n_changes(session: Session, review_id: int) -> int:
    changes = EventRow.name.in_((SETTINGS_CHANGED, WORDING_CHANGED))
    return session.scalar(select(func.count(EventRow.id)).where(EventRow.review_id == review_id, changes)) or 0


def add_import(
    session: Session,
    review_id: int,
    collection: Collection,
    duplicates: Duplicates | None,
    twins: Mapping[str, str],
    labels: Mapping[str, int],
    reviewer: str,
) -> None:
    """Add the documents of a collection to a review as a stratum of their own, with what is known of them."""
    stratum_id = add_stratum(session, review_id, collection, duplicates, twins)
    index_stratum(session, stratum_id)
    lock_review(session, review_id)  # not before: others answer while a large file is added
    check_not_frozen(session, review_id)  # meanwhile
    verdicts = known_verdicts(session, review_id, stratum_id, collection, labels)
    append_known(session, review_id, reviewer, verdicts)
    n = session.scalar(select(func.count(Document.id)).where(Document.review_id == review_id))
    details = {"source": collection.source, "n_added": collection.n_items, "n_documents": n}
    session.add(EventRow(review_id=review_id, at=now(), name="documents", details=details))
