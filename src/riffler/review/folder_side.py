"""The side of a review that its folder is on: which one it is, and documents that come from there."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sqlalchemy.orm import Session

from riffler.disk import DiskCollection
from riffler.errors import InputError
from riffler.review import folder_search
from riffler.review.database import reading
from riffler.review.folder import FolderLink, copies_of, link_of, missing, write_copies
from riffler.review.folder_search import fitting_documents, opened_rows
from riffler.review.search_side import SearchSide


class FolderSide(SearchSide):
    """What a review knows of the collection on disk that it is of; documents come from there for its search."""

    @property
    def folder(self) -> FolderLink | None:
        """The collection on disk that the review is of; None where its documents are all in the database."""
        with reading(self._engine) as session:
            return link_of(session, self.id)

    def opened_folder(self) -> DiskCollection | None:
        """Open the collection on disk that the review is of, if it is of one; it must be as it was."""
        folder = self.folder
        return None if folder is None else folder.opened()

    def bring_in_fitting(self, words: str) -> int | None:
        """Let documents of the folder that fit some words best come into the review, so that a search finds them.

        Return how many documents of the folder have all the words; None where the review is of no folder.
        """
        folder = self.folder
        if folder is None:
            return None
        collection, rows = opened_rows(folder)
        fitting = fitting_documents(collection, rows, words, folder_search.MOST)
        self.bring_in(collection, fitting.names)
        return fitting.n_documents

    def bring_in(self, collection: DiskCollection, names: Sequence[str]) -> None:
        """Copy documents of the folder into the review, as far as they are not there yet: they are to be read."""
        with reading(self._engine) as session:
            new = missing(session, self.id, names)
        if new:
            copies = copies_of(collection, new)  # before: nobody who answers waits for the folder
            with self._learning() as session:
                write_copies(session, self.id, copies)


def check_no_folder(session: Session, review_id: int) -> None:
    """Refuse to add documents to a review of a collection on disk."""
    if (link := link_of(session, review_id)) is not None:
        raise InputError(where_documents_are_added(link))


def where_documents_are_added(link: FolderLink) -> str:
    """Say where documents are added that a review of a collection on disk does not take."""
    return (
        f"This review is of the collection in {Path(link.path).name}: documents are added there, by `riffler index`, "
        "and read in a new review."
    )
