"""What the handlers share, kept on the app: the review, the settings and the sessions."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from riffler.review.store import Review
from riffler.web.settings import ServerSettings


def the_review(request: Request) -> Review:
    """Return the open review of the server."""
    review: Review = request.app.state.review
    return review


def the_settings(request: Request) -> ServerSettings:
    """Return what the server was started with."""
    settings: ServerSettings = request.app.state.settings
    return settings


TheReview = Annotated[Review, Depends(the_review)]
TheSettings = Annotated[ServerSettings, Depends(the_settings)]
