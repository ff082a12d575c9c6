"""How far the review is: what the learner left, and charts of it."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from riffler.web.charts import chart_spec
from riffler.web.models import ChartName, ProgressOut, Term
from riffler.web.state import TheReview
from riffler.web.views import counts_out

router = APIRouter(tags=["progress"])

NOT_YET = {"advice": "unknown", "sentence": "The learner is reading the collection; nothing can be said yet."}


@router.get("/progress")
def progress(review: TheReview) -> ProgressOut:
    """What was found, what may be missing, and whether to go on.

    Nothing is claimed that the certificate does not allow. After an undo, a correction or an import the claims are
    withdrawn (`stale`) until they are made anew.
    """
    view = review.progress()
    values: dict[str, Any] = NOT_YET if view is None else view.values
    return ProgressOut(
        **{name: value for name, value in values.items() if name != "revision"},
        counts=counts_out(review),
        stale=view is None or view.stale,
        behind=review.n_answers_since(0) if view is None else view.n_behind,
        made_at=None if view is None else view.made_at,
    )


@router.get("/terms")
def terms(review: TheReview) -> list[Term]:
    """Words and pairs of words that speak for relevance (positive weights) and against it."""
    picture = review.picture("terms")
    return [] if picture is None else picture.read()


@router.get("/charts/{name}")
def chart(review: TheReview, name: ChartName) -> dict[str, Any]:
    """A Vega-Lite specification with its data."""
    view, clusters = review.progress(), review.picture("map")
    return chart_spec(
        name, {} if view is None else view.values, [] if clusters is None else clusters.read()["clusters"]
    )
