"""Looking things up: words in the collection, and what was said before."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Query

from riffler.review.history import HistoryFilter
from riffler.web.models import MAX_ID, MAX_TAG, NO_NUL, Found, HitOut, Kind, Line, Origin, Piece, Verdict
from riffler.web.state import TheDesk

router = APIRouter(tags=["finding"])

Words = Annotated[str, Query(max_length=1000, pattern=NO_NUL)]


@router.get("/search")
def search(
    desk: TheDesk,
    q: Annotated[str, Query(max_length=1000, pattern=NO_NUL, description='Words; a phrase stands in "quotes".')],
    n: Annotated[int, Query(ge=1, le=200)] = 50,
    offset: Annotated[int, Query(ge=0, le=10**9)] = 0,
) -> Found:
    """Documents that have all the words, the best first. Labels given to them never count as a random sample."""
    n_in_folder = desk.review.bring_in_fitting(q)
    hits = desk.review.find(q, n=n + 1, offset=offset)
    shown = hits[:n]
    said = desk.standings_of([hit.asked for hit in shown])
    found = []
    for hit in shown:
        standing = said.get(hit.asked)
        pieces = [Piece(text=text, hit=is_hit) for text, is_hit in hit.excerpt]
        one = HitOut(id=hit.document, title=hit.title, snippet=pieces, verdict=None, answer=None)
        if standing is not None:
            one = one.model_copy(update={"verdict": standing.verdict, "answer": standing.last_id})
        found.append(one)
    return Found(hits=found, more=len(hits) > n, in_folder=n_in_folder)


@router.get("/history")
def history(
    desk: TheDesk,
    kind: Kind | None = None,
    verdict: Verdict | None = None,
    origin: Origin | None = None,
    holding: Annotated[bool | None, Query(description="Only answers that hold, or only those that do not.")] = None,
    words: Words = "",
    document: Annotated[str | None, Query(max_length=MAX_ID, pattern=NO_NUL)] = None,
    reviewer: Annotated[str | None, Query(max_length=MAX_TAG, pattern=NO_NUL, description="Only of this name.")] = None,
    before: Annotated[int | None, Query(ge=1, le=2**63 - 1, description="Only lines older than this one.")] = None,
    n: Annotated[int, Query(ge=1, le=500)] = 50,
) -> list[Line]:
    """What was said, the latest first; `before` the id of the last line gives the next ones."""
    wanted = HistoryFilter(
        document=document,
        reviewer=reviewer,
        kind=kind,
        verdict=verdict,
        origin=origin,
        holding=holding,
        words=words,
        before=before,
        n=n,
    )
    return [Line(**asdict(line)) for line in desk.history(wanted)]
