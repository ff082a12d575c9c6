"""The server itself: its reviews, its accounts, what was done on it, and how it is."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from riffler.web.links import invitation_link
from riffler.web.models import Number
from riffler.web.models_team import (
    AccountOut,
    ActOut,
    AddressOut,
    AdminIn,
    Health,
    InvitationOut,
    InviteIn,
    ReviewIn,
    ReviewMade,
    ReviewName,
)
from riffler.web.state import TheAccount, TheOffice, ThePeople

router = APIRouter(tags=["server"])


@router.get("/health")
def health(office: TheOffice) -> Health:
    """Whether the server and its database answer; needs no log-in."""
    office.check()
    return Health(status="ok")


@router.get("/reviews")
def reviews(people: ThePeople, account: TheAccount) -> list[ReviewName]:
    """The reviews that you take part in, by name."""
    return [ReviewName(**asdict(one)) for one in people.reviews_of(account)]


@router.post("/reviews", status_code=201)
def make_review(office: TheOffice, account: TheAccount, given: ReviewIn) -> ReviewMade:
    """Make a review without documents, whose owner you are."""
    return ReviewMade(identity=office.create(given.name, by=account).identity)


@router.get("/accounts")
def accounts(people: ThePeople) -> list[AccountOut]:
    """All accounts, closed ones too."""
    return [AccountOut(**asdict(one)) for one in people.accounts()]


@router.post("/accounts/invite", status_code=201)
def invite(request: Request, people: ThePeople, account: TheAccount, given: InviteIn) -> AddressOut:
    """Invite somebody to the server."""
    _, secret = people.invite(by=account, name=given.name, is_admin=given.is_admin)
    return AddressOut(address=invitation_link(request, secret))


@router.post("/accounts/{id}/reset", status_code=201)
def reset(request: Request, people: ThePeople, account: TheAccount, id: Number) -> AddressOut:
    """Let somebody who has forgotten their password set a new one."""
    _, secret = people.invite(by=account, name=people.account(id).name)
    return AddressOut(address=invitation_link(request, secret))


@router.post("/accounts/{id}/close", status_code=204, response_class=Response)
def close(people: ThePeople, account: TheAccount, id: Number) -> None:
    """Let an account in no more: its visits end, its tokens are revoked, what it holds goes back."""
    people.close_account(id, account)


@router.post("/accounts/{id}/reopen", status_code=204, response_class=Response)
def reopen(people: ThePeople, account: TheAccount, id: Number) -> None:
    """Let a closed account in again."""
    people.reopen_account(id, account)


@router.put("/accounts/{id}/admin", status_code=204, response_class=Response)
def set_admin(people: ThePeople, account: TheAccount, id: Number, given: AdminIn) -> None:
    """Let an account look after the server, or no more; a server keeps an admin."""
    people.set_admin(id, given.is_admin, account)


@router.get("/invitations")
def invitations(people: ThePeople) -> list[InvitationOut]:
    """All invitations, used ones too, the latest first."""
    return [InvitationOut(**asdict(one)) for one in people.invitations(None)]


@router.delete("/invitations/{id}", status_code=204, response_class=Response)
def revoke_invitation(people: ThePeople, account: TheAccount, id: Number) -> None:
    """Let an invitation work no more."""
    people.revoke_invitation(id, account, None)


@router.get("/acts")
def acts(
    people: ThePeople,
    n: Annotated[int, Query(ge=1, le=500)] = 100,
    before: Annotated[int | None, Query(ge=1, le=2**63 - 1, description="Only older ones than this.")] = None,
) -> list[ActOut]:
    """What was done on the server and in its reviews, the latest first."""
    return [ActOut(**asdict(one)) for one in people.acts(None, n, before)]
