"""What ends when somebody loses a right: visits, keys, invitations that still wait, and documents that are held."""

from __future__ import annotations

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from riffler.review.database import now
from riffler.review.holds import return_held
from riffler.review.names import name_key
from riffler.review.schema import TokenRow
from riffler.review.schema_team import HoldRow, InvitationRow, VisitRow
from riffler.review.tokens import hash_secret

_ALONE = {"synchronize_session": False}


def end_visits(session: Session, account_id: int, keep: str | None = None) -> None:
    """Log an account out everywhere, except where a cookie is kept."""
    ended = delete(VisitRow).where(VisitRow.reviewer_id == account_id)
    if keep is not None:
        ended = ended.where(VisitRow.hash != hash_secret(keep))
    session.execute(ended, execution_options=_ALONE)


def leave_review(session: Session, review_id: int, account_id: int) -> None:
    """End what somebody has in a review; what was said stays."""
    keys = (TokenRow.review_id == review_id, TokenRow.reviewer_id == account_id, TokenRow.revoked_at.is_(None))
    session.execute(update(TokenRow).where(*keys).values(revoked_at=now()), execution_options=_ALONE)
    revoke_invitations(session, account_id, review_id)
    return_held(session, review_id, account_id)


def leave_server(session: Session, account_id: int) -> None:
    """End what an account has anywhere."""
    end_visits(session, account_id)
    keys = (TokenRow.reviewer_id == account_id, TokenRow.revoked_at.is_(None))
    session.execute(update(TokenRow).where(*keys).values(revoked_at=now()), execution_options=_ALONE)
    revoke_invitations(session, account_id)
    for review_id in set(session.scalars(select(HoldRow.review_id).where(HoldRow.reviewer_id == account_id))):
        return_held(session, review_id, account_id)


def revoke_resets(session: Session, name: str) -> None:
    """Revoke what could still set the password of an account, now that it has another."""
    waiting = select(InvitationRow).where(
        InvitationRow.name.is_not(None), InvitationRow.used_at.is_(None), InvitationRow.revoked_at.is_(None)
    )
    for row in session.scalars(waiting):
        if name_key(row.name or "") == name_key(name):
            row.revoked_at = now()


def revoke_invitations(session: Session, made_by: int, review_id: int | None = None) -> None:
    """Revoke the invitations to a review that somebody made, or all of theirs: who lost a right gives it no more."""
    waiting = [InvitationRow.made_by == made_by, InvitationRow.used_at.is_(None), InvitationRow.revoked_at.is_(None)]
    if review_id is not None:
        waiting.append(InvitationRow.review_id == review_id)
    session.execute(update(InvitationRow).where(*waiting).values(revoked_at=now()), execution_options=_ALONE)
