"""The pages that a team's server has beside those of every review."""

from __future__ import annotations

import time
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from riffler.team.invitations import Invitation
from riffler.team.people import People
from riffler.web.access import OWNER
from riffler.web.pages import ADMIN_PAGES, SERVER_PAGES, page, review_page
from riffler.web.state import TheAccount, ThePeople, TheTeamDesk
from riffler.web.team_door import local_path
from riffler.web.views import open_now
from riffler.web.visitor import Visitor

N_ACTS = 100

server_router = APIRouter()
review_router = APIRouter()


@server_router.get("/login", response_class=HTMLResponse)
def login_page(request: Request, to: Annotated[str, Query(max_length=4000)] = "/") -> Response:
    """A name and a password; who is in already goes on."""
    wanted = local_path(to)
    if request.state.visitor.is_known:
        return RedirectResponse(wanted, 303)
    return _server_page(request, "login.html", to=wanted)


@server_router.get("/invitation", response_class=HTMLResponse)
def invitation_page(request: Request) -> HTMLResponse:
    """What an invitation offers; its secret is behind the # of the address, which no server sees."""
    return _server_page(request, "invitation.html")


@server_router.get("/", response_class=HTMLResponse)
def reviews_page(request: Request, people: ThePeople, account: TheAccount) -> HTMLResponse:
    """The reviews that somebody takes part in."""
    return _server_page(request, "reviews.html", reviews=_reviews(people, account))


@server_router.get("/account", response_class=HTMLResponse)
def account_page(request: Request, people: ThePeople, account: TheAccount) -> HTMLResponse:
    """A new password, and the reviews of an account."""
    return _server_page(request, "account.html", reviews=_reviews(people, account))


@server_router.get("/people", response_class=HTMLResponse)
def people_page(
    request: Request, people: ThePeople, before: Annotated[int | None, Query(ge=1, le=2**63 - 1)] = None
) -> HTMLResponse:
    """Accounts, invitations, and what was done on the server."""
    found = people.acts(None, N_ACTS + 1, before)
    return _server_page(
        request,
        "people.html",
        accounts=people.accounts(),
        invitations=_working(people, None),
        acts=found[:N_ACTS],
        older=found[N_ACTS - 1].id if len(found) > N_ACTS else None,
    )


@review_router.get("/conflicts", response_class=HTMLResponse)
def conflicts_page(request: Request, desk: TheTeamDesk) -> HTMLResponse:
    """Documents whose readers disagree."""
    still_open, resolution = open_now(desk.review), desk.review.settings.resolution
    return review_page(request, desk, "conflicts.html", still_open=still_open, resolution=resolution)


@review_router.get("/team", response_class=HTMLResponse)
def team_page(request: Request, desk: TheTeamDesk, people: ThePeople) -> HTMLResponse:
    """Who takes part, how far they agree, and what was done."""
    return review_page(
        request,
        desk,
        "team.html",
        members=people.members(desk.review.id),
        invitations=_working(people, desk.review.id) if desk.role == OWNER else [],
        still_open=open_now(desk.review),
    )


def _server_page(request: Request, template: str, **values: Any) -> HTMLResponse:  # noqa: ANN401
    visitor: Visitor = request.state.visitor
    pages = ADMIN_PAGES if visitor.is_admin else SERVER_PAGES if visitor.is_known else ()
    of_no_review = {"name": "", "identity": "", "frozen_at": None, "role": "", "n_conflicts": 0}
    return page(request, template, **of_no_review, pages=pages, **values)


def _reviews(people: People, account: int) -> list[dict[str, str | None]]:
    return [
        {
            "identity": one.identity,
            "name": one.name,
            "role": one.role,
            "frozen_at": one.frozen_at,
            "base": f"/reviews/{one.identity}",
        }
        for one in people.reviews_of(account)
    ]


def _working(people: People, review_id: int | None) -> list[Invitation]:
    """Return the invitations that can still be used."""
    at = time.time()  # of this server, which is good enough for eyes
    return [one for one in people.invitations(review_id) if not one.used_at and not one.revoked_at and one.ends_at > at]
