"""What the handlers ask for: the desk of who asks, the review that it stands at, and the house that both are in.

Those that wait for nothing are asynchronous: the others are called in a thread, which takes longer than what they do.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request
from fastapi.concurrency import run_in_threadpool

from riffler.review.desk import Desk
from riffler.review.store import Review
from riffler.review.upload_limits import Limits
from riffler.team.desk import TeamDesk
from riffler.team.office import Office
from riffler.team.people import People
from riffler.web.house import House, Keys, Room
from riffler.web.team_house import TeamHouse
from riffler.web.visitor import Visitor


async def the_house(request: Request) -> House:
    """Return the house of the server."""
    house: House = request.app.state.house
    return house


async def the_visitor(request: Request) -> Visitor:
    """Return who asks, as the gate knows them."""
    visitor: Visitor = request.state.visitor
    return visitor


async def the_limits(request: Request) -> Limits:
    """Return the limits of files that are imported."""
    limits: Limits = request.app.state.settings.limits
    return limits


TheHouse = Annotated[House, Depends(the_house)]
TheVisitor = Annotated[Visitor, Depends(the_visitor)]
TheLimits = Annotated[Limits, Depends(the_limits)]


async def the_desk(house: TheHouse, visitor: TheVisitor) -> Desk:
    """Return the desk of who asks; the first of a review waits for the database."""
    return house.desk(visitor) if house.is_open(visitor) else await run_in_threadpool(house.desk, visitor)


TheDesk = Annotated[Desk, Depends(the_desk)]


async def the_review(desk: TheDesk) -> Review:
    """Return the review that is asked for."""
    return desk.review


async def the_keys(house: TheHouse, desk: TheDesk) -> Keys:
    """Return the keys for programs that who asks may see."""
    return house.keys(desk)


async def the_room(house: TheHouse, desk: TheDesk) -> Room:
    """Return where the files wait that are uploaded."""
    return house.room(desk)


async def the_team_desk(desk: TheDesk) -> TeamDesk:
    """Return the desk of a member."""
    assert isinstance(desk, TeamDesk)
    return desk


async def the_office(house: TheHouse) -> Office:
    """Return the office of a team's server."""
    assert isinstance(house, TeamHouse)
    return house.office


async def the_people(office: Annotated[Office, Depends(the_office)]) -> People:
    """Return the people of a team's server."""
    return office.people


async def the_account(visitor: TheVisitor) -> int:
    """Return the number of the account that asks."""
    assert visitor.account is not None
    return visitor.account.id


TheReview = Annotated[Review, Depends(the_review)]
TheKeys = Annotated[Keys, Depends(the_keys)]
TheRoom = Annotated[Room, Depends(the_room)]
TheTeamDesk = Annotated[TeamDesk, Depends(the_team_desk)]
TheOffice = Annotated[Office, Depends(the_office)]
ThePeople = Annotated[People, Depends(the_people)]
TheAccount = Annotated[int, Depends(the_account)]
