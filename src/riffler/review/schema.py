"""The tables of a review, for SQLite and PostgreSQL alike; `migrations/` makes them. Those of a team: `schema_team.py`.

The ledger is append-only: nothing in it is changed or removed, and everything else about labels is read from it.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    JSON,
    Boolean,
    CheckConstraint,
    Double,
    ForeignKey,
    Index,
    LargeBinary,
    MetaData,
    Text,
    UniqueConstraint,
    false,
    text,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

NEWEST = "0003"
"""Number of the newest migration, which these tables are like."""

KINDS = ("answer", "undo", "note", "tag", "untag", "opinion")
DECISIONS = ("agreement", "third", "consensus", "owner")
VERDICTS = ("relevant", "irrelevant", "maybe", "skip")
ORIGINS = ("prior", "policy", "control", "search", "correction")
UNDONE, WAITING = text("undoes_id IS NOT NULL"), text("shown_to IS NULL")


def one_of(column: str, values: tuple[str, ...]) -> CheckConstraint:
    """Return the constraint that a column has one of some values."""
    listed = ", ".join(f"'{value}'" for value in values)
    return CheckConstraint(f"{column} IN ({listed})", name=column)


class Base(DeclarativeBase):
    """All tables; constraints have names, so that a migration can change them on any database."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s",
            "pk": "pk_%(table_name)s",
        }
    )


class ReviewRow(Base):
    """A review; a SQLite file holds one, a server may hold many."""

    __tablename__ = "reviews"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(Text)
    settings: Mapped[dict[str, Any]] = mapped_column(JSON)
    made_at: Mapped[str] = mapped_column(Text)
    made_with: Mapped[str] = mapped_column(Text)  # version of Riffler
    identity: Mapped[str] = mapped_column(Text, server_default="")  # the same wherever the review is moved to
    frozen_at: Mapped[str | None] = mapped_column(Text)  # from then on nobody says anything more

    __table_args__ = (Index(None, "identity", unique=True),)


class Reviewer(Base):
    """Somebody who answers; with a password one who can log in."""

    __tablename__ = "reviewers"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(Text, unique=True)
    joined_at: Mapped[str] = mapped_column(Text)
    password: Mapped[str | None] = mapped_column(Text)  # its Argon2 hash
    is_admin: Mapped[bool] = mapped_column(Boolean, server_default=false())  # of the server
    closed_at: Mapped[str | None] = mapped_column(Text)  # the account; what was said stays


class Stratum(Base):
    """Documents that were imported together; each import has a control sample of its own."""

    __tablename__ = "strata"
    id: Mapped[int] = mapped_column(primary_key=True)
    review_id: Mapped[int] = mapped_column(ForeignKey("reviews.id"), index=True)
    source: Mapped[str] = mapped_column(Text)
    added_at: Mapped[str] = mapped_column(Text)
    shape: Mapped[bytes] = mapped_column(LargeBinary)  # the original columns without rows, as an Arrow file
    same_as: Mapped[dict[str, str]] = mapped_column(JSON)  # original columns that a document's own fields repeat
    n_asked: Mapped[int]  # documents that are asked for: those without twins of others


class Document(Base):
    """One text, as it was imported; never changed."""

    __tablename__ = "documents"
    __table_args__ = (UniqueConstraint("review_id", "name"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    review_id: Mapped[int] = mapped_column(ForeignKey("reviews.id"))
    stratum_id: Mapped[int] = mapped_column(ForeignKey("strata.id"), index=True)
    position: Mapped[int]  # in the imported file
    name: Mapped[str] = mapped_column(Text)  # the stable id of the collection
    title: Mapped[str] = mapped_column(Text)
    abstract: Mapped[str] = mapped_column(Text)
    extra: Mapped[str] = mapped_column(Text)  # the original columns, one JSON object
    twin_of: Mapped[int | None] = mapped_column(ForeignKey("documents.id"), index=True)  # shown with that one


class LedgerRow(Base):
    """One thing that somebody said about a document.

    An *answer* is what holds of it. Where several read a document each gives an *opinion*, and their answer follows
    from these: it says how it was decided.
    """

    __tablename__ = "ledger"
    __table_args__ = (
        UniqueConstraint("review_id", "request_key"),
        one_of("kind", KINDS),
        one_of("verdict", VERDICTS),
        one_of("origin", ORIGINS),
        one_of("decided", DECISIONS),
        CheckConstraint("(kind IN ('answer', 'opinion')) = (verdict IS NOT NULL)", name="answers_have_verdicts"),
        CheckConstraint("(kind IN ('answer', 'opinion')) = (origin IS NOT NULL)", name="answers_have_origins"),
        CheckConstraint("(kind = 'undo') = (undoes_id IS NOT NULL)", name="undos_name_an_answer"),
        Index(None, "document_id", "kind"),
        Index(None, "review_id"),  # the last rows of a review, without sorting them
        Index(None, "review_id", "kind", "verdict"),  # counts are read from it alone
        Index(None, "review_id", "origin"),
        Index("ix_ledger_undos", "review_id", sqlite_where=UNDONE, postgresql_where=UNDONE),
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    review_id: Mapped[int] = mapped_column(ForeignKey("reviews.id"))
    document_id: Mapped[int] = mapped_column(ForeignKey("documents.id"))
    reviewer_id: Mapped[int] = mapped_column(ForeignKey("reviewers.id"), index=True)
    request_key: Mapped[str] = mapped_column(Text)  # made by the client: a request sent twice is recorded once
    kind: Mapped[str] = mapped_column(Text)
    verdict: Mapped[str | None] = mapped_column(Text)
    origin: Mapped[str | None] = mapped_column(Text)
    undoes_id: Mapped[int | None] = mapped_column(ForeignKey("ledger.id"), unique=True)
    suggestion_id: Mapped[int | None] = mapped_column(ForeignKey("suggestions.id"))
    round: Mapped[int | None]  # of the search that suggested it
    probability: Mapped[float | None] = mapped_column(Double)  # with which it was suggested
    why: Mapped[str] = mapped_column(Text, default="")  # it was shown
    shown_at: Mapped[str | None] = mapped_column(Text)
    answered_at: Mapped[str] = mapped_column(Text)
    seconds: Mapped[float | None] = mapped_column(Double)  # spent reading
    note: Mapped[str] = mapped_column(Text, default="")  # text of a note, word of a tag
    decided: Mapped[str | None] = mapped_column(Text)  # how an answer followed from opinions


class Taken(Base):
    """One entry of the search's own ledger: in which round it took in which answer.

    The search learns later than people answer, and several answers at once; a replay needs the same rounds.
    """

    __tablename__ = "taken"
    __table_args__ = (UniqueConstraint("review_id", "round", "place"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    review_id: Mapped[int] = mapped_column(ForeignKey("reviews.id"))
    ledger_id: Mapped[int] = mapped_column(ForeignKey("ledger.id"), index=True)
    round: Mapped[int]
    place: Mapped[int]  # within the round
    origin: Mapped[str] = mapped_column(Text)  # "policy" a second time where the policy met a control document
    probability: Mapped[float] = mapped_column(Double)
    cost: Mapped[float] = mapped_column(Double)


class Suggestion(Base):
    """A document that is ready to be shown, or was."""

    __tablename__ = "suggestions"
    __table_args__ = (
        one_of("origin", ORIGINS),
        Index("ix_suggestions_waiting", "review_id", "place", sqlite_where=WAITING, postgresql_where=WAITING),
        Index(None, "shown_to", "shown_at"),
        {"sqlite_autoincrement": True},  # the number of one that was replaced is not given to another
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    review_id: Mapped[int] = mapped_column(ForeignKey("reviews.id"))
    document_id: Mapped[int] = mapped_column(ForeignKey("documents.id"), index=True)
    place: Mapped[int]  # in its queue
    origin: Mapped[str] = mapped_column(Text)
    round: Mapped[int]
    probability: Mapped[float] = mapped_column(Double)
    score: Mapped[float | None] = mapped_column(Double)
    why: Mapped[str] = mapped_column(Text)
    made_at: Mapped[str] = mapped_column(Text)
    shown_at: Mapped[str | None] = mapped_column(Text)  # for the first time
    shown_to: Mapped[int | None] = mapped_column(ForeignKey("reviewers.id"))  # None again where it was returned unread


class EventRow(Base):
    """Something beside an answer: clusters that joined the search, an export, a changed setting."""

    __tablename__ = "events"
    id: Mapped[int] = mapped_column(primary_key=True)
    review_id: Mapped[int] = mapped_column(ForeignKey("reviews.id"), index=True)
    at: Mapped[str] = mapped_column(Text)
    name: Mapped[str] = mapped_column(Text)
    round: Mapped[int | None]  # of the search, where it changed what is suggested from then on
    details: Mapped[dict[str, Any]] = mapped_column(JSON, default=dict)


class PictureRow(Base):
    """What the learner leaves for the page to show: the last of each name."""

    __tablename__ = "pictures"
    review_id: Mapped[int] = mapped_column(ForeignKey("reviews.id"), primary_key=True)
    name: Mapped[str] = mapped_column(Text, primary_key=True)
    made_at: Mapped[str] = mapped_column(Text)
    ledger_id: Mapped[int]  # the last row of the ledger that it knows; 0 for none
    payload: Mapped[bytes] = mapped_column(LargeBinary)


class LeaseRow(Base):
    """Who may write what the search does: one learner a review."""

    __tablename__ = "leases"
    review_id: Mapped[int] = mapped_column(ForeignKey("reviews.id"), primary_key=True)
    holder: Mapped[str] = mapped_column(Text)
    turn: Mapped[int]  # raised each time that somebody takes the lease, so that an earlier holder notices
    renewed_at: Mapped[float] = mapped_column(Double)  # seconds since 1970, by the clock of the database


class TokenRow(Base):
    """A key for programs; the secret itself is not kept."""

    __tablename__ = "tokens"
    id: Mapped[int] = mapped_column(primary_key=True)
    review_id: Mapped[int] = mapped_column(ForeignKey("reviews.id"), index=True)
    reviewer_id: Mapped[int | None] = mapped_column(ForeignKey("reviewers.id"))  # whose; none in a review of one reader
    name: Mapped[str] = mapped_column(Text)
    hash: Mapped[str] = mapped_column(Text, unique=True)  # SHA-256 of the secret, in hexadecimal
    made_at: Mapped[str] = mapped_column(Text)
    last_used_at: Mapped[str | None] = mapped_column(Text)
    revoked_at: Mapped[str | None] = mapped_column(Text)
