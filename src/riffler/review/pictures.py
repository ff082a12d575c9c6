"""Pictures: what the learner leaves for others to show. The last of each name is kept, and says how much it knew.

=========  ====================================================================================================
progress   JSON, see `riffler.review.panel`
terms      JSON: ``[[term, weight], ...]``; positive weights speak for relevance, negative ones against it
map        JSON: ``{"clusters": [{"x", "y", "radius", "size", "words", "n_reviewed", "n_relevant"}]}``
scores     float32, one a document, in the order of ``Review.collection().ids``
=========  ====================================================================================================
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy.orm import Session

from riffler.review.database import now
from riffler.review.rounds import Revision
from riffler.review.schema import PictureRow

WITHDRAWN = {
    "advice": "unknown",
    "sentence": "An answer, the settings or the documents were changed: the estimates are being made anew.",
    "decision": None,
    "recall": None,
}
"""What is said in place of claims that may no longer hold."""


@dataclass(frozen=True, slots=True)
class Picture:
    """Something that was true when the ledger ended with row ``ledger_id``."""

    name: str
    ledger_id: int
    payload: bytes
    made_at: str = ""

    @classmethod
    def of(cls, name: str, ledger_id: int, values: object) -> Picture:
        """Make a picture of what JSON can say.

        >>> Picture.of("terms", 7, [["snow", 1.5]]).read()
        [['snow', 1.5]]
        """
        return cls(name, ledger_id, json.dumps(values, ensure_ascii=False, allow_nan=False).encode())

    def read(self) -> Any:  # noqa: ANN401 - whatever JSON holds
        """Return what :meth:`of` was given."""
        return json.loads(self.payload)


@dataclass(frozen=True, slots=True)
class ProgressView:
    """The picture of the progress, as it may be shown now.

    values : see `riffler.review.panel`
    n_behind : answers and undos that it does not know
    stale : something was changed since, so that its claims were withdrawn
    """

    values: dict[str, Any]
    made_at: str
    ledger_id: int
    n_behind: int
    stale: bool


def view_progress(picture: Picture, current: Revision, n_answers_since: Callable[[int], int]) -> ProgressView:
    """Return what may be shown of a picture of the progress.

    Further answers leave its claims true, as claims about the moment when it was made; anything else withdraws them.
    """
    values = picture.read()
    stale = values["revision"] != asdict(current)
    shown = {**values, **WITHDRAWN} if stale else values
    return ProgressView(shown, picture.made_at, picture.ledger_id, n_answers_since(picture.ledger_id), stale)


def keep_pictures(session: Session, review_id: int, pictures: Iterable[Picture]) -> None:
    """Keep pictures in place of the earlier ones of the same names."""
    moment = now()
    for one in pictures:
        row = PictureRow(
            review_id=review_id, name=one.name, made_at=moment, ledger_id=one.ledger_id, payload=one.payload
        )
        session.merge(row)


def read_picture(session: Session, review_id: int, name: str) -> Picture | None:
    """Return the last picture of this name; None before the first."""
    row = session.get(PictureRow, (review_id, name))
    return None if row is None else Picture(row.name, row.ledger_id, row.payload, row.made_at)
