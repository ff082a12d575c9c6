"""The notes and tags that hold: of a note the last one, of a tag what was said of it last."""

from __future__ import annotations

from sqlalchemy import ColumnElement, Select, func, select

from riffler.review.schema import LedgerRow
from riffler.review.screening import OPINION_STANDS
from riffler.review.standing import STANDS

IS_NOTE = (LedgerRow.kind == "note") | ((STANDS | OPINION_STANDS) & (LedgerRow.note != ""))
"""Of a row of the ledger: it says something about its document in words, by itself or with what holds."""


def held_notes(about: ColumnElement[bool]) -> Select[int, str]:
    """Select document and note, of the rows of the ledger that ``about`` picks; "" is a note that was removed."""
    last = select(func.max(LedgerRow.id)).where(about, IS_NOTE).group_by(LedgerRow.document_id)
    return select(LedgerRow.document_id, LedgerRow.note).where(LedgerRow.id.in_(last))


def held_tags(about: ColumnElement[bool]) -> Select[int, str]:
    """Select document and tag, in the order of the tags, of the rows of the ledger that ``about`` picks."""
    is_word = LedgerRow.kind.in_(("tag", "untag"))
    last = select(func.max(LedgerRow.id)).where(about, is_word).group_by(LedgerRow.document_id, LedgerRow.note)
    tags = select(LedgerRow.document_id, LedgerRow.note).where(LedgerRow.id.in_(last), LedgerRow.kind == "tag")
    return tags.order_by(LedgerRow.note)
