"""The server of one review and one reader: the API, the pages, and the gate before both."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from pathlib import Path
from types import ModuleType

from anyio import to_thread
from fastapi import APIRouter, Depends, FastAPI
from fastapi.security import HTTPBearer
from starlette.staticfiles import StaticFiles

from riffler import __version__
from riffler.review.store import open_review
from riffler.web import (
    api_files,
    api_finding,
    api_imports,
    api_progress,
    api_review,
    api_screening,
    api_tokens,
    pages,
)
from riffler.web.access import API, of_one_review
from riffler.web.description import describe
from riffler.web.errors import answer_errors
from riffler.web.house import SoloHouse
from riffler.web.security import Gate
from riffler.web.sessions import Sessions
from riffler.web.settings import ServerSettings
from riffler.web.solo_door import SoloDoor

HERE = Path(__file__).parent
ABOUT = """Everything that the review page can do.

Programs send `Authorization: Bearer TOKEN`; make a token on the settings page. Every change carries a `key` that the
client makes: a request whose reply was lost is sent again with the same key, and is recorded once.
"""
BEARER = HTTPBearer(auto_error=False, scheme_name="token", description="An API token; see POST /tokens.")
"""For the description alone: the gate looks at tokens before any handler runs."""

OF_REVIEW = (api_review, api_screening, api_finding, api_progress, api_imports, api_files, api_tokens)


def make_app(settings: ServerSettings) -> FastAPI:
    """Return the server of the review that the settings name.

    ``app.state`` has ``settings`` and ``sessions``, and while it runs ``review`` and ``house``, which handlers use.
    """
    app = bare_app(_running, ABOUT)
    app.state.settings, app.state.is_team = settings, False
    app.state.sessions = Sessions()
    add_api(app, "", *OF_REVIEW)
    add_pages(app, "", pages.router)
    door = SoloDoor(settings, app.state.sessions, lambda: app.state.review)
    app.add_middleware(Gate, settings=settings, access=of_one_review(), door=door, max_upload=settings.limits.n_bytes)
    return app


def bare_app(lifespan: Callable[[FastAPI], AbstractAsyncContextManager[None]], about: str) -> FastAPI:
    """Return a server without reviews: errors in words, a description, and the files of the page."""
    app = FastAPI(
        title="Riffler",
        version=__version__,
        description=about,
        lifespan=lifespan,
        openapi_url=f"{API}/openapi.json",
        docs_url=None,  # the usual page loads its scripts from another host
        redoc_url=None,
        redirect_slashes=False,
    )
    app.openapi = partial(describe, app)  # type: ignore[method-assign]
    answer_errors(app)
    app.add_api_route("/static/vega.js", pages.vega, include_in_schema=False)
    app.mount("/static", StaticFiles(directory=HERE / "static", check_dir=False), name="static")
    return app


def add_api(app: FastAPI, below: str, *parts: ModuleType, dependencies: tuple[object, ...] = ()) -> None:
    """Add parts of the API, below the address of a review or at the top."""
    needed = [Depends(BEARER), *dependencies]
    api = APIRouter(prefix=API + below, dependencies=needed)
    for part in parts:
        api.include_router(part.router)
    app.include_router(api)


def add_pages(app: FastAPI, below: str, *routers: APIRouter) -> None:
    """Add the pages of a review, below its address or at the top."""
    app.add_api_route(below or "/", pages.screen_page, include_in_schema=False)
    for router in routers:
        app.include_router(router, prefix=below, include_in_schema=False)


@asynccontextmanager
async def _running(app: FastAPI) -> AsyncIterator[None]:
    """Open the review and start its learner; at the end stop it, and leave one whole file."""
    settings: ServerSettings = app.state.settings
    app.state.review = await to_thread.run_sync(open_review, settings.review)
    app.state.house = SoloHouse(app.state.review, settings.learner)
    try:
        if settings.learner is not None:
            await to_thread.run_sync(settings.learner.start)
        yield
    finally:
        if settings.learner is not None:
            await to_thread.run_sync(settings.learner.stop)
        app.state.house.folder.remove()
        await to_thread.run_sync(app.state.review.close)
