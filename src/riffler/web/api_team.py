"""A review that several people read: who takes part, what they do not agree on, and what was done."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from starlette.responses import FileResponse

from riffler.review.names import name_key
from riffler.review.pace import paces_of
from riffler.review.remarks import Answer
from riffler.review.screening import decision_of
from riffler.team.agreement import agreement_of, disagreements_of
from riffler.team.audit import read_audit, write_audit
from riffler.team.people import People
from riffler.web.api_files import CSV, OutFile, a_file, sent
from riffler.web.links import invitation_link, public_address
from riffler.web.models import Number, ReceiptOut
from riffler.web.models_team import (
    AgreementOut,
    AuditFormat,
    AuditOut,
    ConflictOut,
    DecisionIn,
    FrozenOut,
    InvitationOut,
    MemberAddress,
    MemberInvite,
    MemberOut,
    OpinionOut,
    RoleIn,
)
from riffler.web.state import TheHouse, ThePeople, TheReview, TheTeamDesk
from riffler.web.views import documents_out, receipt_out

router = APIRouter(tags=["team"])

JSON_LINES = "application/jsonl"
AtOnce = Annotated[int, Query(ge=1, le=200)]
Offset = Annotated[int, Query(ge=0, le=10**9)]


@router.get("/members")
def members(people: ThePeople, review: TheReview) -> list[MemberOut]:
    """All who take part, and those who did."""
    return [MemberOut(**asdict(one)) for one in people.members(review.id)]


@router.post("/members/invite", status_code=201)
def invite(request: Request, people: ThePeople, desk: TheTeamDesk, given: MemberInvite) -> MemberAddress:
    """Invite somebody to the review; who has an account of that name takes part at once."""
    there = None if given.name is None else _account_called(people, given.name)
    if there is not None:
        people.add_member(desk.review.id, there, given.role, desk.person)
        return MemberAddress(address=public_address(request) + request.state.visitor.base, joined=True)
    _, secret = people.invite(by=desk.person, name=given.name, review_id=desk.review.id, role=given.role)
    return MemberAddress(address=invitation_link(request, secret), joined=False)


@router.patch("/members/{id}", status_code=204, response_class=Response)
def change_role(people: ThePeople, desk: TheTeamDesk, id: Number, given: RoleIn) -> None:
    """Let a member do more or less; a review keeps an owner."""
    people.set_role(desk.review.id, id, given.role, desk.person)


@router.delete("/members/{id}", status_code=204, response_class=Response)
def remove_member(people: ThePeople, desk: TheTeamDesk, id: Number) -> None:
    """Let somebody take part no more: what they said stays, what they hold goes back, their tokens are revoked."""
    people.remove_member(desk.review.id, id, desk.person)


@router.get("/invitations")
def invitations(people: ThePeople, review: TheReview) -> list[InvitationOut]:
    """All invitations to the review, used ones too, the latest first."""
    return [InvitationOut(**asdict(one)) for one in people.invitations(review.id)]


@router.delete("/invitations/{id}", status_code=204, response_class=Response)
def revoke_invitation(people: ThePeople, desk: TheTeamDesk, id: Number) -> None:
    """Let an invitation work no more."""
    people.revoke_invitation(id, desk.person, desk.review.id)


@router.get("/conflicts")
def conflicts(desk: TheTeamDesk, n: AtOnce = 50, offset: Offset = 0) -> list[ConflictOut]:
    """Documents whose readers disagree, the first opened first."""
    found = desk.conflicts(n, offset)
    documents = documents_out(desk, [one.document for one in found])
    resolution = desk.review.settings.resolution
    return [
        ConflictOut(
            document=document,
            opinions=[
                OpinionOut(reviewer=said.reviewer, verdict=said.verdict, note=said.note, answered_at=said.answered_at)  # type: ignore[arg-type]  # the schema allows verdicts only
                for said in one.opinions
            ],
            may_resolve=decision_of(one.mine, desk.role, resolution) is not None,
        )
        for one, document in zip(found, documents, strict=True)
    ]


@router.post("/conflicts")
def resolve(desk: TheTeamDesk, given: DecisionIn) -> ReceiptOut:
    """Settle a conflict: by somebody who has not read the document, or by what its readers agreed on."""
    return receipt_out(desk.resolve(Answer(given.document, given.key, note=given.note, verdict=given.verdict)))


@router.get("/agreement")
def agreement(review: TheReview, n: AtOnce = 50, offset: Offset = 0) -> AgreementOut:
    """How far those agree who read the same documents, as far as all have; `n` and `offset` are of disagreements."""
    with review.moment() as session:
        return AgreementOut(
            agreement=agreement_of(session, review.id),
            paces=paces_of(session, review.id),
            disagreements=disagreements_of(session, review.id, n, offset),
        )


@router.post("/freeze")
def freeze(desk: TheTeamDesk) -> FrozenOut:
    """Let nobody change anything any more; exports go on."""
    desk.freeze()
    return FrozenOut(frozen_at=desk.review.frozen_at)


@router.post("/thaw")
def thaw(desk: TheTeamDesk) -> FrozenOut:
    """Let the work go on."""
    desk.thaw()
    return FrozenOut(frozen_at=desk.review.frozen_at)


@router.post("/leave", status_code=204, response_class=Response)
def leave(desk: TheTeamDesk) -> None:
    """Give back the documents that are held for you, so that others can read them."""
    desk.leave()


@router.get("/audit")
def audit(
    review: TheReview,
    n: AtOnce = 50,
    before: Annotated[str | None, Query(max_length=100, description="`place` of the last line that was read.")] = None,
) -> list[AuditOut]:
    """Everything that was done in the review, the latest first."""
    with review.moment() as session:
        return [AuditOut(**asdict(one)) for one in read_audit(session, review.id, n, before)]


@router.get("/audit/export", response_class=FileResponse, responses=a_file(CSV, JSON_LINES))
def export_audit(house: TheHouse, desk: TheTeamDesk, format: AuditFormat = "csv") -> FileResponse:
    """Download everything that was ever done in the review, the earliest first."""
    file = OutFile("-audit", f".{format}", CSV if format == "csv" else JSON_LINES, "audit")
    return sent(house, desk, file, lambda path: write_audit(desk.review, path))


def _account_called(people: People, name: str) -> int | None:
    wanted = name_key(name)
    return next((one.id for one in people.accounts() if one.can_log_in and name_key(one.name) == wanted), None)
