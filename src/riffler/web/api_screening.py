"""Screening: what comes next, and what is said of it."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from anyio import from_thread
from fastapi import APIRouter, Query, Request, Response

from riffler.review.remarks import Answer, Remark
from riffler.web.models import (
    MAX_ID,
    MAX_SECONDS,
    NO_NUL,
    Answered,
    AnswerIn,
    AnswersIn,
    DocumentOut,
    NoteIn,
    Number,
    ReceiptOut,
    Suggested,
    SuggestedAs,
    TagIn,
    UndoIn,
    Undone,
)
from riffler.web.state import TheDesk
from riffler.web.views import counts_out, document_out, documents_out, receipt_out

router = APIRouter(tags=["screening"])


@router.get("/next")
def what_comes_next(
    request: Request,
    desk: TheDesk,
    n: Annotated[int, Query(ge=1, le=50, description="How many to look ahead.")] = 1,
) -> list[Suggested]:
    """Documents to read next; the one that was shown and not answered comes first, so a reload shows it again.

    In a team they are held for you from now on: ask again within ten minutes, answer, or leave.
    """
    queued = desk.upcoming(n, partial(is_somebody_there, request))
    documents = documents_out(desk, [one.document for one in queued])
    return [
        Suggested(suggestion=one.id, why=one.why, origin=one.origin, score=one.score, document=document)
        for one, document in zip(queued, documents, strict=True)
    ]


@router.post("/suggestions/{suggestion}/shown", status_code=204, response_class=Response)
def mark_shown(desk: TheDesk, suggestion: Number) -> None:
    """Say that a suggestion is on the screen; 409 where a better one replaced it: ask for the next again."""
    desk.show(suggestion)


@router.get("/document")
def one_document(
    desk: TheDesk, id: Annotated[str, Query(max_length=MAX_ID, pattern=NO_NUL, description="Its id.")]
) -> DocumentOut:
    """One document; of a duplicate the one that stands for it."""
    return document_out(desk, id)


@router.post("/answers")
def answer(desk: TheDesk, given: AnswersIn) -> Answered:
    """Record verdicts, all or none; when the reply comes they are on the disk. A later one corrects an earlier one.

    Of a document that several read each gives an opinion, which others do not see; an answer follows from them.
    """
    receipts = desk.answer([_as_answer(one) for one in given.answers])
    return Answered(receipts=[receipt_out(one) for one in receipts], counts=counts_out(desk.review))


@router.post("/undo")
def undo(request: Request, desk: TheDesk, given: UndoIn) -> Undone:
    """Take back an answer that holds; the one before it holds again. May be repeated to any depth."""
    undone = desk.undo(given.answer, given.key, partial(is_somebody_there, request))
    how = undone.suggestion
    return Undone(
        receipt=receipt_out(undone.receipt),
        document=document_out(desk, undone.receipt.document),
        counts=counts_out(desk.review),
        suggestion=None if how is None else SuggestedAs(suggestion=how.id, why=how.why, origin=how.origin),
    )


@router.post("/notes")
def note(desk: TheDesk, given: NoteIn) -> ReceiptOut:
    """Write a note about a document; the last one holds, an empty one removes it."""
    return receipt_out(desk.note(Remark(given.document, given.key, note=given.text)))


@router.get("/tags")
def all_tags(desk: TheDesk) -> list[str]:
    """All tags that some document has."""
    return desk.tags()


@router.post("/tags")
def tag(desk: TheDesk, given: TagIn) -> ReceiptOut:
    """Give a document a tag."""
    return receipt_out(desk.tag(Remark(given.document, given.key, note=given.tag)))


@router.post("/untag")
def untag(desk: TheDesk, given: TagIn) -> ReceiptOut:
    """Take a tag from a document."""
    return receipt_out(desk.untag(Remark(given.document, given.key, note=given.tag)))


def is_somebody_there(request: Request) -> bool:
    """Tell whether a page still waits: its farewell may overtake what it asked for, which would be held for nobody."""
    return not from_thread.run(request.is_disconnected)


def _as_answer(given: AnswerIn) -> Answer:
    expect = given.expect or 0 if "expect" in given.model_fields_set else None
    seconds = None if given.seconds is None else min(given.seconds, MAX_SECONDS)
    return Answer(given.document, given.key, given.suggestion, seconds, given.note, given.verdict, expect)
