"""The pages: HTML around what the review holds. Everything that changes it goes through the API."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse, RedirectResponse, Response

from riffler.review.desk import Desk
from riffler.review.folder_side import where_documents_are_added
from riffler.review.history import HistoryFilter
from riffler.review.schema import VERDICTS
from riffler.review.store import Review
from riffler.web import words
from riffler.web.access import READER
from riffler.web.charts import CHARTS, chart_data
from riffler.web.models import MAX_TAG, NO_NUL
from riffler.web.state import TheDesk, TheHouse, TheKeys
from riffler.web.vega import vega_script
from riffler.web.views import open_now
from riffler.web.visitor import Visitor

HERE = Path(__file__).parent
SOLO_PAGES = (
    ("", "Read"),
    ("/search", "Search"),
    ("/history", "History"),
    ("/progress", "Progress"),
    ("/data", "Data"),
    ("/settings", "Settings"),
)
READER_PAGES = (*SOLO_PAGES[1:5], ("/team", "Team"))
TEAM_PAGES = (*SOLO_PAGES[:4], ("/conflicts", "Conflicts"), ("/data", "Data"), ("/team", "Team"), SOLO_PAGES[5])
SERVER_PAGES = (("/", "Reviews"), ("/account", "Account"))
ADMIN_PAGES = (*SERVER_PAGES, ("/people", "People"))
KINDS = ("answer", "undo", "note", "tag", "untag")
ORIGINS = ("policy", "control", "search", "prior", "correction")
N_LINES = 50

router = APIRouter()


def screen_page(request: Request, desk: TheDesk) -> Response:
    """One document at a time; who only looks is not given any, and sees how far it is."""
    if desk.role == READER and "document" not in request.query_params:
        return RedirectResponse(f"{request.state.visitor.base}/progress", 303)
    settings = desk.review.settings
    return review_page(
        request,
        desk,
        "screen.html",
        criteria=settings.criteria,
        description=settings.description,
        highlight=json.dumps(settings.highlight),
    )


@router.get("/search", response_class=HTMLResponse)
def search_page(request: Request, desk: TheDesk, q: Annotated[str, Query(max_length=1000)] = "") -> HTMLResponse:
    """Search the collection, and label what is found."""
    return review_page(request, desk, "search.html", q=q)


@router.get("/history", response_class=HTMLResponse)
def history_page(
    request: Request,
    desk: TheDesk,
    house: TheHouse,
    kind: str = "",
    verdict: str = "",
    origin: str = "",
    holding: str = "",
    reviewer: Annotated[str, Query(max_length=MAX_TAG, pattern=NO_NUL)] = "",
    words: Annotated[str, Query(max_length=1000)] = "",
    before: Annotated[int | None, Query(ge=1, le=2**63 - 1)] = None,
) -> HTMLResponse:
    """What was said, the latest first."""
    names = house.reviewers(desk.review)
    chosen = {
        "kind": kind, "verdict": verdict, "origin": origin, "holding": holding, "reviewer": reviewer, "words": words,
    }  # fmt: skip
    wanted = HistoryFilter(
        kind=kind or None,
        verdict=verdict or None,
        origin=origin or None,
        reviewer=reviewer or None,
        holding={"true": True, "false": False}.get(holding),
        words=words,
        before=before,
        n=N_LINES + 1,
    )
    found = desk.history(wanted)
    return review_page(
        request,
        desk,
        "history.html",
        lines=found[:N_LINES],
        older=found[N_LINES - 1].id if len(found) > N_LINES else None,
        chosen=chosen,
        verdicts=VERDICTS,
        kinds=(*KINDS, "opinion") if names else KINDS,
        origins=ORIGINS,
        reviewers=names,
    )


@router.get("/progress", response_class=HTMLResponse)
def progress_page(request: Request, desk: TheDesk) -> HTMLResponse:
    """How far it is, what may be claimed, and whether to go on."""
    return review_page(request, desk, "progress.html", **_progress(desk.review))


@router.get("/progress/panel", response_class=HTMLResponse)
def progress_panel(request: Request, desk: TheDesk) -> HTMLResponse:
    """The same numbers without the page around them, for the page to renew itself."""
    return review_page(request, desk, "_renewed.html", **_progress(desk.review))


@router.get("/data", response_class=HTMLResponse)
def data_page(request: Request, desk: TheDesk) -> HTMLResponse:
    """Import, export, backup and counts."""
    from riffler.review.come_up import come_up
    from riffler.review.export import FORMATS
    from riffler.review.prisma import prisma_counts

    folder = desk.review.folder
    return review_page(
        request,
        desk,
        "data.html",
        formats=list(FORMATS),
        which=("all", *VERDICTS, "unread"),
        come_up=come_up(desk.review),
        elsewhere=None if folder is None else where_documents_are_added(folder),
        prisma=prisma_counts(desk.review),
    )


@router.get("/settings", response_class=HTMLResponse)
def settings_page(request: Request, desk: TheDesk, keys: TheKeys) -> HTMLResponse:
    """What is sought, when a document is relevant, how sure it shall be, and keys for programs."""
    tokens = [{**asdict(one.token), "reviewer": one.reviewer} for one in keys.list()]
    version = desk.review.settings_version  # before the settings: a change in between is noticed, not overwritten
    return review_page(
        request,
        desk,
        "settings.html",
        settings=desk.review.settings,
        settings_version=version,
        is_on_disk=desk.review.folder is not None,
        tokens=tokens,
    )


def vega() -> Response:
    """The script that draws charts."""
    return Response(vega_script(), media_type="text/javascript")


def static(name: str) -> str:
    """Return the address of a file for the browser; it changes with any of them, so that none is ever out of date."""
    return f"/static/{name}?v={_version()}"


def review_page(request: Request, desk: Desk, template: str, **values: Any) -> HTMLResponse:  # noqa: ANN401
    """Return a page of a review."""
    visitor: Visitor = request.state.visitor
    of_review = {
        "name": desk.review.name,
        "identity": desk.review.identity,
        "frozen_at": desk.review.frozen_at,
        "role": desk.role,
        "n_conflicts": 0 if visitor.account is None or desk.role == READER else open_now(desk.review).n_conflicts,
        "pages": [(visitor.base + path or "/", label) for path, label in _pages(visitor)],
    }
    return page(request, template, **of_review, **values)


def page(request: Request, template: str, **values: Any) -> HTMLResponse:  # noqa: ANN401
    """Return a page with what all of them have."""
    visitor: Visitor = request.state.visitor
    common = {
        "csrf": visitor.csrf,
        "here": request.scope["path"],
        "base": visitor.base,
        "is_team": request.app.state.is_team,
        "visitor": _shown(visitor),
    }
    return HTMLResponse(_templates().get_template(template).render(**common, **values))


def _shown(visitor: Visitor) -> dict[str, Any] | None:
    """Return what pages say of who is logged in."""
    if visitor.account is None:
        return None
    account = visitor.account
    return {"id": account.id, "name": account.name, "is_admin": account.is_admin, "role": visitor.role or ""}


def _pages(visitor: Visitor) -> tuple[tuple[str, str], ...]:
    if visitor.account is None:
        return SOLO_PAGES
    return READER_PAGES if visitor.role == READER else TEAM_PAGES


def _progress(review: Review) -> dict[str, Any]:
    """Return what the panel shows; the learner may not have left a picture yet."""
    view = review.progress()
    values = None if view is None else view.values
    picture = review.picture("map")
    clusters = [] if picture is None else picture.read()["clusters"]
    has_map = review.folder is None  # nobody groups what stays on disk
    charts = [name for name in CHARTS if has_map or name != "map"]
    return {
        "has_map": has_map,
        "view": view,
        "values": values,
        "counts": review.counts(),
        "still_open": open_now(review),
        "tables": {} if values is None else {name: chart_data(name, values, clusters) for name in charts},
    }


@cache
def _templates() -> Environment:
    made = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals["static"] = static
    made.filters.update(words.FILTERS)
    return made


@cache
def _version() -> str:
    digest = hashlib.sha256()
    for path in sorted((HERE / "static").iterdir()):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]
