"""Making a review in a new file: of documents that it takes in, or of a collection on disk."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import numpy as np
from sqlalchemy.orm import Session

from riffler.data.atomic import atomic_write
from riffler.data.collection import Collection
from riffler.disk import DiskCollection
from riffler.errors import InputError
from riffler.records import IntArray
from riffler.review.database import connect, now, writing
from riffler.review.drafts import keep_to_itself, remove_beside, sweep_drafts
from riffler.review.folder import add_folder
from riffler.review.new_file import leave_one_file
from riffler.review.schema import ReviewRow
from riffler.review.settings import ReviewSettings
from riffler.review.store import SOLE_REVIEWER, FileReview, add_import, open_review
from riffler.review.upgrade import make_tables
from riffler.search import policy_from
from riffler.search.ground import check_clusters_on_disk

if TYPE_CHECKING:
    from riffler.data.duplicates import Duplicates


def create_review(
    path: str | os.PathLike[str],
    collection: Collection,
    settings: ReviewSettings = ReviewSettings(),  # noqa: B008 - frozen
    *,
    name: str | None = None,
    duplicates: Duplicates | None = None,
) -> FileReview:
    """Make a review of a collection in a new file, and open it; the file is whole or not there.

    Labels of the collection are known from the start. With ``duplicates`` one document of each group is asked for.
    """
    return _created(
        Path(path),
        settings,
        name,
        lambda session, made: add_import(session, made, collection, duplicates, {}, {}, SOLE_REVIEWER),
    )


def create_folder_review(
    path: str | os.PathLike[str],
    collection: DiskCollection,
    settings: ReviewSettings = ReviewSettings(),  # noqa: B008 - frozen
    *,
    name: str | None = None,
    known: IntArray | None = None,
) -> FileReview:
    """Make a review of a collection on disk in a new file, and open it; the documents stay where they are.

    known : rows whose labels are known from the start; None for all that have one
    """
    check_clusters_on_disk(collection, policy_from(settings.policy))
    labels = collection.labels
    rows = np.flatnonzero(labels >= 0) if known is None and labels is not None else known
    chosen = np.empty(0, dtype=np.int64) if rows is None else rows
    return _created(
        Path(path), settings, name, lambda session, made: add_folder(session, made, collection, SOLE_REVIEWER, chosen)
    )


def _created(
    target: Path, settings: ReviewSettings, name: str | None, fill: Callable[[Session, int], None]
) -> FileReview:
    """Make a review in a new file, which is whole or not there, and open it."""
    if target.exists():
        raise InputError(f"{target}: there is a file already. Open it, or choose another name.")
    sweep_drafts(target)
    with atomic_write(target) as draft:
        engine = connect(draft)
        keep_to_itself(engine)
        try:
            make_tables(engine)
            with writing(engine) as session:
                review_id = add_review(session, target.stem if name is None else name, settings)
                fill(session, review_id)
            leave_one_file(engine)
        finally:
            engine.dispose()
            remove_beside(draft)
        remove_beside(target)  # SQLite would take what a removed review left behind for a part of this one
    return open_review(target)


def add_review(session: Session, name: str, settings: ReviewSettings) -> int:
    """Add a review without documents, and return its number."""
    row = ReviewRow(
        name=name, settings=settings.as_json(), made_at=now(), made_with=version("riffler"), identity=str(uuid4())
    )
    session.add(row)
    session.flush()
    return row.id
