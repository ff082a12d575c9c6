"""The pages: HTML around what the review holds. Everything that changes it goes through the API."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse, Response

from riffler.review.history import HistoryFilter
from riffler.review.schema import VERDICTS
from riffler.review.store import Review
from riffler.web import words
from riffler.web.charts import CHARTS, chart_data
from riffler.web.state import TheReview
from riffler.web.vega import vega_script

HERE = Path(__file__).parent
PAGES = (
    ("/", "Read"),
    ("/search", "Search"),
    ("/history", "History"),
    ("/progress", "Progress"),
    ("/data", "Data"),
    ("/settings", "Settings"),
)
KINDS = ("answer", "undo", "note", "tag", "untag")
ORIGINS = ("policy", "control", "search", "prior", "correction")
N_LINES = 50

router = APIRouter()


@router.get("/", response_class=HTMLResponse)
def screen_page(request: Request, review: TheReview) -> HTMLResponse:
    """One document at a time."""
    settings = review.settings
    return _page(
        request,
        review,
        "screen.html",
        criteria=settings.criteria,
        description=settings.description,
        highlight=json.dumps(settings.highlight),
    )


@router.get("/search", response_class=HTMLResponse)
def search_page(request: Request, review: TheReview, q: Annotated[str, Query(max_length=1000)] = "") -> HTMLResponse:
    """Search the collection, and label what is found."""
    return _page(request, review, "search.html", q=q)


@router.get("/history", response_class=HTMLResponse)
def history_page(
    request: Request,
    review: TheReview,
    kind: str = "",
    verdict: str = "",
    origin: str = "",
    holding: str = "",
    words: Annotated[str, Query(max_length=1000)] = "",
    before: Annotated[int | None, Query(ge=1, le=2**63 - 1)] = None,
) -> HTMLResponse:
    """What was said, the latest first."""
    chosen = {"kind": kind, "verdict": verdict, "origin": origin, "holding": holding, "words": words}
    wanted = HistoryFilter(
        kind=kind or None,
        verdict=verdict or None,
        origin=origin or None,
        holding={"true": True, "false": False}.get(holding),
        words=words,
        before=before,
        n=N_LINES + 1,
    )
    found = review.history(wanted)
    return _page(
        request,
        review,
        "history.html",
        lines=found[:N_LINES],
        older=found[N_LINES - 1].id if len(found) > N_LINES else None,
        chosen=chosen,
        verdicts=VERDICTS,
        kinds=KINDS,
        origins=ORIGINS,
    )


@router.get("/progress", response_class=HTMLResponse)
def progress_page(request: Request, review: TheReview) -> HTMLResponse:
    """How far it is, what may be claimed, and whether to go on."""
    return _page(request, review, "progress.html", **_progress(review))


@router.get("/progress/panel", response_class=HTMLResponse)
def progress_panel(request: Request, review: TheReview) -> HTMLResponse:
    """The same numbers without the page around them, for the page to renew itself."""
    return _page(request, review, "_renewed.html", **_progress(review))


@router.get("/data", response_class=HTMLResponse)
def data_page(request: Request, review: TheReview) -> HTMLResponse:
    """Import, export, backup and counts."""
    from riffler.review.export import FORMATS
    from riffler.review.prisma import prisma_counts

    counts = prisma_counts(review)
    return _page(request, review, "data.html", formats=list(FORMATS), which=("all", *VERDICTS, "unread"), prisma=counts)


@router.get("/settings", response_class=HTMLResponse)
def settings_page(request: Request, review: TheReview) -> HTMLResponse:
    """What is sought, when a document is relevant, how sure it shall be, and keys for programs."""
    return _page(request, review, "settings.html", settings=review.settings, tokens=review.tokens())


@router.get("/static/vega.js")
def vega() -> Response:
    """The script that draws charts."""
    return Response(vega_script(), media_type="text/javascript")


def static(name: str) -> str:
    """Return the address of a file for the browser; it changes with any of them, so that none is ever out of date."""
    return f"/static/{name}?v={_version()}"


def _page(request: Request, review: Review, template: str, **values: Any) -> HTMLResponse:  # noqa: ANN401
    common = {
        "csrf": request.state.visitor.csrf,
        "here": request.scope["path"],
        "identity": _identity(review),
        "name": review.name,
        "pages": PAGES,
    }
    return HTMLResponse(_templates().get_template(template).render(**common, **values))


def _progress(review: Review) -> dict[str, Any]:
    """Return what the panel shows; the learner may not have left a picture yet."""
    view = review.progress()
    values = None if view is None else view.values
    picture = review.picture("map")
    clusters = [] if picture is None else picture.read()["clusters"]
    return {
        "view": view,
        "values": values,
        "counts": review.counts(),
        "tables": {} if values is None else {name: chart_data(name, values, clusters) for name in CHARTS},
    }


def _identity(review: Review) -> str:
    """Return what tells this review from others in the same browser: when it was made."""
    return hashlib.sha256(f"{review.name}/{review.events()[0][0]}".encode()).hexdigest()[:16]


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
