"""The server of a team: several reviews, each below an address of its own, and people who log in."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

from anyio import to_thread
from fastapi import Depends, FastAPI, Path

from riffler.team.office import open_office
from riffler.web import api_entrance, api_server, api_team, pages, pages_team
from riffler.web.access import REVIEWS, of_team
from riffler.web.app import OF_REVIEW, add_api, add_pages, bare_app
from riffler.web.security import Gate
from riffler.web.settings import TeamSettings
from riffler.web.team_door import TeamDoor
from riffler.web.team_house import TeamHouse

ABOUT = """Everything that the pages of a team's server can do.

Programs send `Authorization: Bearer TOKEN`; make a token on the settings page of a review, which it opens and nothing
else. Browsers log in. Every change of a review carries a `key` that the client makes: a request whose reply was lost is
sent again with the same key, and is recorded once.
"""


def make_team_app(settings: TeamSettings) -> FastAPI:
    """Return a server of the team whose database the settings name; it keeps nothing that others would need.

    ``app.state`` has ``settings`` and ``door``, and while it runs ``house``, which handlers use.
    """
    app = bare_app(_running, ABOUT)
    app.state.settings, app.state.is_team = settings, True
    app.state.door = TeamDoor(lambda: app.state.house.office.people)
    add_api(app, "", api_entrance, api_server)
    add_api(app, REVIEWS, *OF_REVIEW, api_team, dependencies=(Depends(_named),))
    app.include_router(pages_team.server_router, include_in_schema=False)
    add_pages(app, REVIEWS, pages.router, pages_team.review_router)
    app.add_middleware(
        Gate, settings=settings, access=of_team(), door=app.state.door, max_upload=settings.limits.n_bytes
    )
    return app


def _named(review: Annotated[str, Path(max_length=100, description="Identity of the review.")]) -> None:
    """Describe the part of the address that names a review: the gate has read it."""


@asynccontextmanager
async def _running(app: FastAPI) -> AsyncIterator[None]:
    """Open the database and look for what there is to learn; at the end stop that, and close it."""
    settings: TeamSettings = app.state.settings
    office = await to_thread.run_sync(open_office, settings.database)
    app.state.house = TeamHouse(office, settings.learners)
    try:
        if settings.learners is not None:
            await to_thread.run_sync(settings.learners.start)
        yield
    finally:
        if settings.learners is not None:
            await to_thread.run_sync(settings.learners.stop)
        app.state.house.folder.remove()
        await to_thread.run_sync(office.close)
