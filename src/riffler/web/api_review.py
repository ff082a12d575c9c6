"""The review at a glance, and its settings."""

from __future__ import annotations

from fastapi import APIRouter

from riffler import __version__
from riffler.review.settings import ReviewSettings
from riffler.web.models import OpenOut, ReviewOut, Settings, SettingsIn, SettingsSaved, StratumOut
from riffler.web.state import TheDesk, TheHouse
from riffler.web.views import counts_out, learner_out, open_now

router = APIRouter(tags=["review"])


@router.get("/review")
def the_whole(desk: TheDesk, house: TheHouse) -> ReviewOut:
    """The name, settings, counts and imports of the review, and how its learner is."""
    review = desk.review
    still_open = open_now(review)
    return ReviewOut(
        name=review.name,
        identity=review.identity,
        role=desk.role,
        frozen_at=review.frozen_at,
        settings_version=review.settings_version,
        open=OpenOut(waiting=still_open.n_waiting, conflicts=still_open.n_conflicts, held=desk.n_held_by_others()),
        version=__version__,
        settings=_shown(review.settings),
        counts=counts_out(review),
        strata=[StratumOut(id=one.id, source=one.source, n=one.n) for one in review.imports()],
        learner=learner_out(review, house.learner(review)),
    )


@router.patch("/settings")
def change_settings(desk: TheDesk, given: SettingsIn) -> SettingsSaved:
    """Change settings; those left out stay as they are, and the old ones are kept in the history of the review."""
    changes = given.model_dump(exclude_unset=True)
    if "highlight" in changes:
        changes["highlight"] = tuple(changes["highlight"])
    expect = changes.pop("expect", None)
    changed = desk.change_settings(changes, expect=expect)
    return SettingsSaved(**changed.as_json(), settings_version=desk.review.settings_version)


def _shown(settings: ReviewSettings) -> Settings:
    return Settings(**settings.as_json())
