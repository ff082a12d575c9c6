"""The entrance of a server: logging in and out, passwords, and invitations."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from riffler.errors import TooManyTries, UnknownName
from riffler.team.invitations import GONE, Invitation
from riffler.team.people import People
from riffler.web.models_team import (
    Accepted,
    AcceptIn,
    InvitationLook,
    Joined,
    LoggedIn,
    LogIn,
    Me,
    NewPassword,
    SecretIn,
)
from riffler.web.solo_door import caller_of
from riffler.web.state import TheAccount, ThePeople, TheVisitor
from riffler.web.team_door import TeamDoor

router = APIRouter(tags=["entrance"])


@router.post("/login")
def log_in(request: Request, response: Response, people: ThePeople, given: LogIn) -> LoggedIn:
    """Log in with a browser; an earlier visit with the same cookie ends. Programs use tokens instead."""
    secret, visit = people.log_in(given.name, given.password, caller_of(request))
    _begin_visit(request, response, people, secret)
    return LoggedIn(name=visit.account.name)


@router.post("/logout", status_code=204, response_class=Response)
def log_out(request: Request, people: ThePeople) -> Response:
    """End this visit."""
    door, response = _door(request), Response(status_code=204)
    if (cookie := door.cookie_of(request)) is not None:
        people.log_out(cookie)
    door.take_cookie(request, response)
    return response


@router.get("/me")
def me(visitor: TheVisitor) -> Me:
    """Your account."""
    assert visitor.account is not None
    return Me(name=visitor.account.name, is_admin=visitor.account.is_admin)


@router.post("/me/password", status_code=204, response_class=Response)
def change_password(request: Request, people: ThePeople, account: TheAccount, given: NewPassword) -> None:
    """Set a new password; other visits than this one end."""
    people.change_password(account, given.old, given.new, keep=_door(request).cookie_of(request))


@router.post("/invitations/look")
def look(request: Request, people: ThePeople, given: SecretIn) -> InvitationLook:
    """See what an invitation offers; it is not used up."""
    found = _invitation(request, people, given.secret)
    return InvitationLook(
        name=found.name,
        review=found.review_name,
        role=found.role,  # type: ignore[arg-type]  # the schema allows roles only
        is_admin=found.is_admin,
        is_reset=found.is_reset,
        by=found.made_by or None,
    )


@router.post("/invitations/accept")
def accept(request: Request, response: Response, people: ThePeople, given: AcceptIn) -> Accepted:
    """Make the account of who was invited, or set its password, and log in."""
    found = _invitation(request, people, given.secret)
    account = people.accept(given.secret, name=given.name, password=given.password)
    secret, visit = people.enter(account.id, caller_of(request))
    _begin_visit(request, response, people, secret)
    return Accepted(name=visit.account.name, base=_base(people, account.id, found))


@router.post("/invitations/join")
def join(request: Request, people: ThePeople, account: TheAccount, given: SecretIn) -> Joined:
    """Use an invitation with the account that you are logged in with."""
    found = _invitation(request, people, given.secret)
    people.join(given.secret, account)
    return Joined(base=_base(people, account, found))


def _invitation(request: Request, people: People, secret: str) -> Invitation:
    """Return the invitation with a secret; wrong ones are counted, and many are slowed."""
    found = people.invitation(secret)
    if found is None:
        if seconds := people.note_wrong_secret(caller_of(request)):
            raise TooManyTries(seconds)
        raise UnknownName(GONE)
    return found


def _base(people: People, account: int, invitation: Invitation) -> str | None:
    """Return where the pages of the review begin that an invitation was for."""
    joined = (one for one in people.reviews_of(account) if one.review_id == invitation.review_id)
    return next((f"/reviews/{one.identity}" for one in joined), None)


def _begin_visit(request: Request, response: Response, people: People, secret: str) -> None:
    """Give a browser the cookie of a new visit; the one that it had opens nothing any more."""
    door = _door(request)
    if (before := door.cookie_of(request)) is not None:
        people.log_out(before)
    door.give_cookie(request, response, secret)


def _door(request: Request) -> TeamDoor:
    door: TeamDoor = request.app.state.door
    return door
