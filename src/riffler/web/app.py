"""The server of one review: the API, the pages, and the gate before both."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from threading import Lock

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
from riffler.web.errors import answer_errors
from riffler.web.models import ErrorOut
from riffler.web.security import Gate
from riffler.web.sessions import Sessions
from riffler.web.settings import ServerSettings
from riffler.web.uploads import PrivateFolder, WaitingRoom

HERE = Path(__file__).parent
PREFIX = "/api/v1"
ABOUT = """Everything that the review page can do.

Programs send `Authorization: Bearer TOKEN`; make a token on the settings page. Every change carries a `key` that the
client makes: a request whose reply was lost is sent again with the same key, and is recorded once.
"""
WRONG = {
    status: {"model": ErrorOut, "description": words}
    for status, words in {
        400: "What was given cannot be used.",
        401: "The token is not known, or there is none.",
        403: "The request came from another page, or for another host.",
        404: "There is no such thing.",
        409: "It does not fit what holds now; nothing was written.",
        413: "The body is too large.",
        415: "The body has another type.",
        422: "The request is not as described.",
        429: "Too many wrong tokens.",
        500: "A fault of Riffler.",
        503: "The review is busy or cannot be written.",
        507: "The disk is full; nothing was written.",
    }.items()
}

BEARER = HTTPBearer(auto_error=False, scheme_name="token", description="An API token; see POST /tokens.")
"""For the description alone: the gate looks at tokens before any handler runs."""


def make_app(settings: ServerSettings) -> FastAPI:
    """Return the server of the review that the settings name.

    ``app.state`` has ``settings`` and ``sessions``, and while it runs ``review``, which every handler uses.
    """
    app = FastAPI(
        title="Riffler",
        version=__version__,
        description=ABOUT,
        lifespan=_running,
        openapi_url=f"{PREFIX}/openapi.json",
        docs_url=None,  # the usual page loads its scripts from another host
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.settings = settings
    app.state.settings_lock = Lock()
    app.state.sessions = Sessions()
    answer_errors(app)
    api = APIRouter(prefix=PREFIX, responses=WRONG, dependencies=[Depends(BEARER)])  # type: ignore[arg-type]
    for part in (api_review, api_screening, api_finding, api_progress, api_imports, api_files, api_tokens):
        api.include_router(part.router)
    app.include_router(api)
    app.include_router(pages.router, include_in_schema=False)
    app.mount("/static", StaticFiles(directory=HERE / "static", check_dir=False), name="static")
    app.add_middleware(
        Gate,
        settings=settings,
        sessions=app.state.sessions,
        knows_token=lambda secret: app.state.review.check_token(secret) is not None,
        max_upload=settings.limits.n_bytes,
    )
    return app


@asynccontextmanager
async def _running(app: FastAPI) -> AsyncIterator[None]:
    """Open the review and start its learner; at the end stop it, and leave one whole file."""
    settings: ServerSettings = app.state.settings
    app.state.review = await to_thread.run_sync(open_review, settings.review)
    app.state.folder, app.state.uploads = PrivateFolder(), WaitingRoom[api_imports.Upload]()
    try:
        if settings.learner is not None:
            await to_thread.run_sync(settings.learner.start)
        yield
    finally:
        if settings.learner is not None:
            await to_thread.run_sync(settings.learner.stop)
        app.state.folder.remove()
        await to_thread.run_sync(app.state.review.close)
