"""The review at a glance, and its settings."""

from __future__ import annotations

from dataclasses import replace

from fastapi import APIRouter, Request

from riffler import __version__
from riffler.review.settings import ReviewSettings
from riffler.web.models import ReviewOut, Settings, SettingsIn, StratumOut
from riffler.web.state import TheReview, TheSettings
from riffler.web.views import counts_out, learner_out

router = APIRouter(tags=["review"])


@router.get("/review")
def the_whole(review: TheReview, server: TheSettings) -> ReviewOut:
    """The name, settings, counts and imports of the review, and how its learner is."""
    return ReviewOut(
        name=review.name,
        version=__version__,
        settings=_shown(review.settings),
        counts=counts_out(review),
        strata=[StratumOut(id=one.id, source=one.source, n=one.n) for one in review.imports()],
        learner=learner_out(review, server.learner),
    )


@router.patch("/settings")
def change_settings(request: Request, review: TheReview, given: SettingsIn) -> Settings:
    """Change settings; those left out stay as they are, and the old ones are kept in the history of the review."""
    changes = given.model_dump(exclude_unset=True)
    if "highlight" in changes:
        changes["highlight"] = tuple(changes["highlight"])
    with request.app.state.settings_lock:  # two changes at once: the second starts from what the first left
        changed = replace(review.settings, **changes)
        review.change_settings(changed)
    return _shown(changed)


def _shown(settings: ReviewSettings) -> Settings:
    return Settings(**settings.as_json())
