"""What goes over the wire between people of a team and their server, typed and bounded."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, StrictBool

from riffler.review.pace import Pace
from riffler.team.agreement import Agreement, Disagreement
from riffler.web.models import NO_NUL, DocumentId, DocumentOut, Given, Key, Note, Verdict

Role = Literal["reader", "reviewer", "owner"]
AuditFormat = Literal["csv", "jsonl"]

# Longer ones than an account can have are refused in the words of accounts.
Name = Annotated[str, Field(max_length=1000, pattern=NO_NUL, description="Of an account.")]
Password = Annotated[str, Field(max_length=4000)]
Secret = Annotated[str, Field(min_length=1, max_length=200, description="What stands behind the # of the address.")]


class LogIn(Given):
    """A name and its password."""

    name: Name
    password: Password


class NewPassword(Given):
    """The password of now, and the one that is to be."""

    old: Password
    new: Password


class SecretIn(Given):
    """An invitation."""

    secret: Secret


class AcceptIn(Given):
    """An invitation, and the account that it is used for."""

    secret: Secret
    name: Name | None = Field(default=None, description="Null where the invitation says it.")
    password: Password


class InviteIn(Given):
    """Somebody who is to get an account."""

    name: Name | None = Field(default=None, description="Null lets them choose one.")
    is_admin: StrictBool = Field(default=False, description="Whether they look after the server.")


class MemberInvite(Given):
    """Somebody who is to take part in a review."""

    name: Name | None = Field(default=None, description="Null lets them choose one.")
    role: Role


class RoleIn(Given):
    """What a member may do."""

    role: Role


class AdminIn(Given):
    """Whether an account looks after the server; a number is no answer to that."""

    is_admin: StrictBool


class ReviewIn(Given):
    """A new review, which has no documents yet."""

    name: Annotated[str, Field(min_length=1, max_length=200, pattern=NO_NUL)]


class DecisionIn(Given):
    """What settles a conflict."""

    document: DocumentId
    verdict: Verdict
    key: Key
    note: Note = ""


class LoggedIn(BaseModel):
    """Whose visit has begun; its cookie comes with the reply."""

    name: str


class Me(BaseModel):
    """Your account."""

    name: str
    is_admin: bool


class InvitationLook(BaseModel):
    """What an invitation offers."""

    name: str | None
    review: str | None = Field(description="Name of the review that is joined.")
    role: Role | None
    is_admin: bool
    is_reset: bool = Field(description="It sets the password of an account that is there.")
    by: str | None = Field(description="Who made it.")


class Joined(BaseModel):
    """Where to go on: the address of the review that was joined, null for none."""

    base: str | None


class Accepted(Joined):
    """Whose visit has begun, and where to go on."""

    name: str


class AddressOut(BaseModel):
    """An address that works once."""

    address: str


class MemberAddress(AddressOut):
    """An invitation, or the address of the review where the account is a member now."""

    joined: bool = Field(description="There was such an account, and it takes part from now on.")


class ReviewName(BaseModel):
    """A review that you take part in."""

    identity: str
    name: str
    role: Role
    frozen_at: str | None


class ReviewMade(BaseModel):
    """The name of a review in addresses."""

    identity: str


class AccountOut(BaseModel):
    """An account."""

    id: int
    name: str
    is_admin: bool
    closed_at: str | None
    joined_at: str
    can_log_in: bool


class MemberOut(BaseModel):
    """Somebody who takes part in a review, or did."""

    id: int
    name: str
    role: Role
    joined_at: str
    left_at: str | None


class InvitationOut(BaseModel):
    """An invitation, without its secret."""

    id: int
    name: str | None
    review_name: str | None
    role: Role | None
    is_admin: bool
    made_by: str
    made_at: str
    ends_at: float = Field(description="Seconds since 1970.")
    used_at: str | None
    revoked_at: str | None
    is_reset: bool


class ActOut(BaseModel):
    """Something that was done."""

    id: int
    at: str
    who: str
    act: str
    details: dict[str, Any]


class AuditOut(BaseModel):
    """One line of the audit trail: something that was said, done, or happened."""

    at: str
    who: str
    what: str
    document: str | None
    title: str | None
    details: dict[str, Any]
    source: str
    number: int
    place: str = Field(description="Send it as `before` to go on reading.")


class OpinionOut(BaseModel):
    """What one reader said."""

    reviewer: str
    verdict: Verdict
    note: str
    answered_at: str


class ConflictOut(BaseModel):
    """A document whose readers disagree."""

    document: DocumentOut
    opinions: list[OpinionOut]
    may_resolve: bool = Field(description="Whether you may settle it.")


class AgreementOut(BaseModel):
    """How far the readers agree, how fast they read, and where they did not agree."""

    agreement: Agreement
    paces: list[Pace]
    disagreements: list[Disagreement]


class FrozenOut(BaseModel):
    """Since when nothing can be changed; null where it can."""

    frozen_at: str | None


class Health(BaseModel):
    """That the server and its database answer."""

    status: Literal["ok"]
