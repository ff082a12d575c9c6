"""The tables of a team: who may do what, who reads what just now, and what is read by several.

Moments that something is decided by are seconds since 1970 by the clock of the database: servers have clocks of their
own. Secrets are kept as hashes.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import JSON, Boolean, Double, ForeignKey, Index, LargeBinary, Text, UniqueConstraint, false
from sqlalchemy.orm import Mapped, mapped_column

from riffler.review.schema import Base, one_of

__all__ = [
    "ROLES", "STATES", "ActRow", "Base", "HoldRow", "InvitationRow", "MemberRow", "ScreeningRow", "TryRow",
    "UploadPart", "UploadRow", "VisitRow",
]  # fmt: skip

ROLES = ("reader", "reviewer", "owner")
"""What a member may do: each may do what those before it may."""

STATES = ("waiting", "conflict", "settled")


class MemberRow(Base):
    """Somebody who takes part in a review."""

    __tablename__ = "members"
    __table_args__ = (one_of("role", ROLES), Index(None, "reviewer_id"))
    review_id: Mapped[int] = mapped_column(ForeignKey("reviews.id"), primary_key=True)
    reviewer_id: Mapped[int] = mapped_column(ForeignKey("reviewers.id"), primary_key=True)
    role: Mapped[str] = mapped_column(Text)
    joined_at: Mapped[str] = mapped_column(Text)
    left_at: Mapped[str | None] = mapped_column(Text)


class InvitationRow(Base):
    """An address that works once: for a new account, or to set a new password."""

    __tablename__ = "invitations"
    __table_args__ = (one_of("role", ROLES),)
    id: Mapped[int] = mapped_column(primary_key=True)
    hash: Mapped[str] = mapped_column(Text, unique=True)
    name: Mapped[str | None] = mapped_column(Text)  # of the account; None where who comes chooses one
    review_id: Mapped[int | None] = mapped_column(ForeignKey("reviews.id"), index=True)  # that is joined
    role: Mapped[str | None] = mapped_column(Text)  # in that review
    is_admin: Mapped[bool] = mapped_column(Boolean, server_default=false())
    made_by: Mapped[int | None] = mapped_column(ForeignKey("reviewers.id"))
    made_at: Mapped[str] = mapped_column(Text)
    ends_at: Mapped[float] = mapped_column(Double)
    used_at: Mapped[str | None] = mapped_column(Text)
    revoked_at: Mapped[str | None] = mapped_column(Text)


class VisitRow(Base):
    """A browser that somebody logged in with."""

    __tablename__ = "visits"
    id: Mapped[int] = mapped_column(primary_key=True)
    hash: Mapped[str] = mapped_column(Text, unique=True)
    reviewer_id: Mapped[int] = mapped_column(ForeignKey("reviewers.id"), index=True)
    csrf: Mapped[str] = mapped_column(Text)
    made_at: Mapped[str] = mapped_column(Text)
    seen_at: Mapped[float] = mapped_column(Double)
    ends_at: Mapped[float] = mapped_column(Double)


class TryRow(Base):
    """A log-in that failed."""

    __tablename__ = "tries"
    __table_args__ = (Index(None, "what", "at"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    what: Mapped[str] = mapped_column(Text)  # a name that was tried, or an address that it came from
    at: Mapped[float] = mapped_column(Double)


class HoldRow(Base):
    """A document that somebody reads now: nobody else gets it, unless several shall read it.

    Each reader of a document has a slot of it. One that one person reads has slot 0 alone; so the key itself keeps it
    from being given to two.
    """

    __tablename__ = "holds"
    __table_args__ = (UniqueConstraint("document_id", "reviewer_id"), Index(None, "review_id", "reviewer_id"))
    document_id: Mapped[int] = mapped_column(ForeignKey("documents.id"), primary_key=True)
    slot: Mapped[int] = mapped_column(primary_key=True)
    review_id: Mapped[int] = mapped_column(ForeignKey("reviews.id"))
    reviewer_id: Mapped[int] = mapped_column(ForeignKey("reviewers.id"))
    suggestion_id: Mapped[int | None] = mapped_column(ForeignKey("suggestions.id"), index=True)
    taken_at: Mapped[float] = mapped_column(Double)
    renewed_at: Mapped[float] = mapped_column(Double)
    is_shown: Mapped[bool] = mapped_column(Boolean, server_default=false())  # it was on the holder's screen


class ScreeningRow(Base):
    """A document that several people read, each without knowing what the others say."""

    __tablename__ = "screenings"
    __table_args__ = (one_of("state", STATES), Index(None, "review_id", "state"))
    document_id: Mapped[int] = mapped_column(ForeignKey("documents.id"), primary_key=True)
    review_id: Mapped[int] = mapped_column(ForeignKey("reviews.id"))
    needed: Mapped[int]  # opinions
    state: Mapped[str] = mapped_column(Text)
    suggestion_id: Mapped[int | None] = mapped_column(ForeignKey("suggestions.id"))  # that it was first shown by
    opened_at: Mapped[str] = mapped_column(Text)
    n_opinions: Mapped[int] = mapped_column(
        server_default="0"
    )  # so that the next reader is found without counting them
    first_reader_id: Mapped[int | None] = mapped_column(ForeignKey("reviewers.id"))


class ActRow(Base):
    """Something that somebody did beside answering: logged in, invited, changed a role, exported, froze."""

    __tablename__ = "acts"
    id: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[str] = mapped_column(Text)
    review_id: Mapped[int | None] = mapped_column(ForeignKey("reviews.id"), index=True)
    reviewer_id: Mapped[int | None] = mapped_column(ForeignKey("reviewers.id"))
    act: Mapped[str] = mapped_column(Text)
    details: Mapped[dict[str, Any]] = mapped_column(JSON, default=dict)


class UploadRow(Base):
    """A file that waits to be added; whichever server gets the second request finds it here."""

    __tablename__ = "uploads"
    id: Mapped[int] = mapped_column(primary_key=True)
    hash: Mapped[str] = mapped_column(Text, unique=True)
    review_id: Mapped[int] = mapped_column(ForeignKey("reviews.id"), index=True)
    reviewer_id: Mapped[int | None] = mapped_column(ForeignKey("reviewers.id"))
    name: Mapped[str] = mapped_column(Text)  # as its owner calls it
    ends_at: Mapped[float] = mapped_column(Double)


class UploadPart(Base):
    """Some bytes of such a file."""

    __tablename__ = "upload_parts"
    upload_id: Mapped[int] = mapped_column(ForeignKey("uploads.id"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    payload: Mapped[bytes] = mapped_column(LargeBinary)
