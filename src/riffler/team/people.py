"""The people of a server: accounts, invitations, members and what they did. Each method is one change or one look.

`by` is the number of the account that does it; None is whoever has the database itself, such as on the command line.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.orm import Session

from riffler.errors import InputError
from riffler.review.database import clock, lock_review, reading, writing, writing_review
from riffler.review.names import name_key
from riffler.review.tokens import Token, list_tokens, make_token, revoke_token
from riffler.team import accounts, invitations, members
from riffler.team.accounts import Account, clean_name, shown_account
from riffler.team.acts import Act, read_acts, record_act
from riffler.team.entrance import Entrance
from riffler.team.invitations import GONE, Invitation, Offer
from riffler.team.members import Member, Membership
from riffler.team.passwords import check_new_password, hash_password
from riffler.team.visits import Entry, KeyEntry, Visit

__all__ = [
    "Account", "Act", "Entry", "Invitation", "KeyEntry", "Member", "Membership", "People", "Token", "Visit",
]  # fmt: skip


class People(Entrance):
    """Everybody whom a server knows; any number of servers may share the database."""

    # Accounts

    def accounts(self) -> list[Account]:
        """All accounts, closed ones too."""
        with reading(self._engine) as session:
            return accounts.list_accounts(session)

    def account(self, account_id: int) -> Account:
        """One account, by its number."""
        with reading(self._engine) as session:
            return shown_account(accounts.get_account(session, account_id))

    def has_accounts(self) -> bool:
        """Whether anybody can log in."""
        return any(account.can_log_in for account in self.accounts())

    def make_account(self, name: str, password: str, *, is_admin: bool = False, by: int | None = None) -> Account:
        """Make an account with a password."""
        check_new_password(clean_name(name), password)
        hashed = hash_password(password)
        with writing(self._engine) as session:
            return shown_account(accounts.add_account(session, name, hashed, is_admin=is_admin, by=by))

    def close_account(self, account_id: int, by: int | None) -> None:
        """Let an account in no more: its visits end, its keys are revoked, what it holds goes back."""
        with writing(self._engine) as session:
            accounts.close_account(session, account_id, by)

    def reopen_account(self, account_id: int, by: int | None) -> None:
        """Let a closed account in again."""
        with writing(self._engine) as session:
            accounts.reopen_account(session, account_id, by)

    def set_admin(self, account_id: int, is_admin: bool, by: int | None) -> None:
        """Let an account look after the server, or no more."""
        with writing(self._engine) as session:
            accounts.set_admin(session, account_id, is_admin, by)

    # Invitations

    def invite(
        self,
        *,
        by: int | None,
        name: str | None = None,
        review_id: int | None = None,
        role: str | None = None,
        is_admin: bool = False,
        days: float = 7.0,
    ) -> tuple[Invitation, str]:
        """Make an invitation, and return it with its secret; one with the name of an account sets its password."""
        with self._writing(review_id) as session:
            offer = Offer(name, review_id, role, is_admin)
            return invitations.add_invitation(session, offer, by, days, clock(session))

    def invitation(self, secret: str) -> Invitation | None:
        """The invitation with a secret, if it still works."""
        with reading(self._engine) as session:
            return invitations.find_invitation(session, secret, clock(session))

    def invitations(self, review_id: int | None) -> list[Invitation]:
        """All invitations to a review, used ones too, or all there are for None; the latest first."""
        with reading(self._engine) as session:
            return invitations.list_invitations(session, review_id)

    def revoke_invitation(self, invitation_id: int, by: int | None, review_id: int | None) -> None:
        """Let an invitation to a review work no more, or any for None."""
        with writing(self._engine) as session:
            invitations.revoke_invitation(session, invitation_id, review_id, by)

    def accept(self, secret: str, *, name: str | None = None, password: str) -> Account:
        """Make the account of who was invited, or set the password of the one that the invitation names."""
        found = self._working(secret)
        chosen = clean_name(found.name or name or "")
        if name is not None and name_key(name) != name_key(chosen):
            raise InputError(f"This invitation is for {chosen}, got the name {name!r}. Leave the name as it is.")
        check_new_password(chosen, password)
        hashed = hash_password(password)
        with self._writing(found.review_id) as session:
            return invitations.accept_invitation(session, secret, chosen, hashed, clock(session))

    def join(self, secret: str, account_id: int) -> Account:
        """Give what an invitation offers to somebody who is logged in."""
        with self._writing(self._working(secret).review_id) as session:
            return invitations.join_by_invitation(session, secret, account_id, clock(session))

    # Members

    def members(self, review_id: int) -> list[Member]:
        """All members of a review, those who left too."""
        with reading(self._engine) as session:
            return members.list_members(session, review_id)

    def reviews_of(self, account_id: int) -> list[Membership]:
        """The reviews that somebody takes part in."""
        with reading(self._engine) as session:
            return members.list_reviews(session, account_id)

    def role_of(self, review_id: int, account_id: int) -> str | None:
        """What somebody may do in a review; None where they are not a member."""
        with reading(self._engine) as session:
            return members.role_of(session, review_id, account_id)

    def add_member(self, review_id: int, account_id: int, role: str, by: int | None) -> None:
        """Let somebody take part in a review."""
        with writing_review(self._engine, review_id) as session:
            members.add_member(session, review_id, account_id, role, by)

    def set_role(self, review_id: int, account_id: int, role: str, by: int | None) -> None:
        """Let a member do more or less; a review keeps an owner."""
        with writing_review(self._engine, review_id) as session:
            members.set_role(session, review_id, account_id, role, by)

    def remove_member(self, review_id: int, account_id: int, by: int | None) -> None:
        """Let somebody take part no more: their keys are revoked, what they hold goes back; a review keeps an owner."""
        with writing_review(self._engine, review_id) as session:
            members.remove_member(session, review_id, account_id, by)

    # Keys for programs

    def make_token(self, review_id: int, account_id: int, name: str) -> tuple[Token, str]:
        """Make a key for a program of a member, and return it with its secret, which nobody can read again."""
        with writing_review(self._engine, review_id) as session:
            if members.role_of(session, review_id, account_id) is None:
                raise InputError("Only a member of a review has keys to it. Ask an owner to join.")
            made, secret = make_token(session, review_id, name, account_id)
            record_act(session, "token made", review_id=review_id, reviewer_id=account_id, token=made.id, name=name)
            return made, secret

    def tokens(self, review_id: int, account_id: int | None) -> list[Token]:
        """The keys of a member, revoked ones too, or those of all members for None."""
        with reading(self._engine) as session:
            return list_tokens(session, review_id, account_id)

    def revoke_token(self, review_id: int, token_id: int, by: int | None, account_id: int | None) -> None:
        """Let a key of a member open nothing from now on, or one of anybody for None."""
        with writing(self._engine) as session:
            revoke_token(session, review_id, token_id, account_id)
            record_act(session, "token revoked", review_id=review_id, reviewer_id=by, token=token_id)

    # What was done

    def record(self, act: str, *, review_id: int | None = None, by: int | None = None, **details: object) -> None:
        """Write down something that was done outside of a transaction, such as an export."""
        with writing(self._engine) as session:
            record_act(session, act, review_id=review_id, reviewer_id=by, **details)

    def acts(self, review_id: int | None, n: int = 100, before: int | None = None) -> list[Act]:
        """The last acts of a review, or of all and of the server itself for None; the latest first."""
        with reading(self._engine) as session:
            return read_acts(session, review_id, n, before)

    def _working(self, secret: str) -> Invitation:
        found = self.invitation(secret)
        if found is None:
            raise InputError(GONE)
        return found

    @contextmanager
    def _writing(self, review_id: int | None) -> Iterator[Session]:
        """Give a session for one change, of a review if there is one."""
        with writing(self._engine) as session:
            if review_id is not None:
                lock_review(session, review_id)
            yield session
