"""Tokens: how programs come in."""

from __future__ import annotations

from dataclasses import asdict

from fastapi import APIRouter, Response

from riffler.web.models import Number, TokenIn, TokenMade, TokenOut
from riffler.web.state import TheReview

router = APIRouter(tags=["tokens"])


@router.get("/tokens")
def tokens(review: TheReview) -> list[TokenOut]:
    """All tokens, revoked ones too; their secrets are kept nowhere."""
    return [TokenOut(**asdict(one)) for one in review.tokens()]


@router.post("/tokens", status_code=201)
def make_token(review: TheReview, given: TokenIn) -> TokenMade:
    """Make a token. Its secret is in this reply and never shown again."""
    made, secret = review.make_token(given.name)
    return TokenMade(**asdict(made), token=secret)


@router.delete("/tokens/{id}", status_code=204, response_class=Response)
def revoke_token(review: TheReview, id: Number) -> None:
    """Revoke a token: it opens nothing from now on."""
    review.revoke_token(id)
