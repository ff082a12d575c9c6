"""Tokens: how programs come in."""

from __future__ import annotations

from dataclasses import asdict

from fastapi import APIRouter, Response

from riffler.web.models import Number, TokenIn, TokenMade, TokenOut
from riffler.web.state import TheKeys

router = APIRouter(tags=["tokens"])


@router.get("/tokens")
def tokens(keys: TheKeys) -> list[TokenOut]:
    """Your tokens, revoked ones too, and for an owner those of all; their secrets are kept nowhere."""
    return [TokenOut(**asdict(one.token), reviewer=one.reviewer) for one in keys.list()]


@router.post("/tokens", status_code=201)
def make_token(keys: TheKeys, given: TokenIn) -> TokenMade:
    """Make a token. Its secret is in this reply and never shown again."""
    made, secret = keys.make(given.name)
    return TokenMade(**asdict(made), token=secret)


@router.delete("/tokens/{id}", status_code=204, response_class=Response)
def revoke_token(keys: TheKeys, id: Number) -> None:
    """Revoke a token: it opens nothing from now on."""
    keys.revoke(id)
