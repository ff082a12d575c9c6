"""The first tables: reviews, reviewers, strata, documents, suggestions, the ledger, what the search took in, events."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

TEXT_INDEX = (
    "CREATE VIRTUAL TABLE documents_text USING fts5("
    "title, abstract, content='documents', content_rowid='id', tokenize='unicode61 remove_diacritics 2')"
)
APPEND_ONLY = (
    "CREATE TRIGGER ledger_{what} BEFORE {what} ON ledger BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END"
)


def upgrade() -> None:
    """Make all tables."""
    _reviewers()
    _reviews()
    _events()
    _strata()
    _documents()
    _suggestions()
    _ledger()
    _taken()
    if op.get_bind().dialect.name == "sqlite":
        op.execute(TEXT_INDEX)
        for what in ("UPDATE", "DELETE"):
            op.execute(APPEND_ONLY.format(what=what))


def _reviewers() -> None:
    op.create_table(
        "reviewers",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("joined_at", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_reviewers")),
        sa.UniqueConstraint("name", name=op.f("uq_reviewers_name")),
    )


def _reviews() -> None:
    op.create_table(
        "reviews",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.Column("made_at", sa.Text(), nullable=False),
        sa.Column("made_with", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_reviews")),
    )


def _events() -> None:
    op.create_table(
        "events",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("review_id", sa.Integer(), nullable=False),
        sa.Column("at", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("round", sa.Integer(), nullable=True),
        sa.Column("details", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["review_id"], ["reviews.id"], name=op.f("fk_events_review_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_events")),
    )
    op.create_index(op.f("ix_events_review_id"), "events", ["review_id"], unique=False)


def _strata() -> None:
    op.create_table(
        "strata",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("review_id", sa.Integer(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("added_at", sa.Text(), nullable=False),
        sa.Column("shape", sa.LargeBinary(), nullable=False),
        sa.Column("same_as", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["review_id"], ["reviews.id"], name=op.f("fk_strata_review_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_strata")),
    )
    op.create_index(op.f("ix_strata_review_id"), "strata", ["review_id"], unique=False)


def _documents() -> None:
    op.create_table(
        "documents",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("review_id", sa.Integer(), nullable=False),
        sa.Column("stratum_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("abstract", sa.Text(), nullable=False),
        sa.Column("extra", sa.Text(), nullable=False),
        sa.Column("twin_of", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["review_id"], ["reviews.id"], name=op.f("fk_documents_review_id")),
        sa.ForeignKeyConstraint(["stratum_id"], ["strata.id"], name=op.f("fk_documents_stratum_id")),
        sa.ForeignKeyConstraint(["twin_of"], ["documents.id"], name=op.f("fk_documents_twin_of")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_documents")),
        sa.UniqueConstraint("review_id", "name", name=op.f("uq_documents_review_id_name")),
    )
    op.create_index(op.f("ix_documents_stratum_id"), "documents", ["stratum_id"], unique=False)
    op.create_index(op.f("ix_documents_twin_of"), "documents", ["twin_of"], unique=False)


def _suggestions() -> None:
    op.create_table(
        "suggestions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("review_id", sa.Integer(), nullable=False),
        sa.Column("document_id", sa.Integer(), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("probability", sa.Double(), nullable=False),
        sa.Column("score", sa.Double(), nullable=True),
        sa.Column("why", sa.Text(), nullable=False),
        sa.Column("made_at", sa.Text(), nullable=False),
        sa.Column("shown_at", sa.Text(), nullable=True),
        sa.Column("shown_to", sa.Integer(), nullable=True),
        sa.CheckConstraint(
            "origin IN ('prior', 'policy', 'control', 'search', 'correction')", name=op.f("ck_suggestions_origin")
        ),
        sa.ForeignKeyConstraint(["document_id"], ["documents.id"], name=op.f("fk_suggestions_document_id")),
        sa.ForeignKeyConstraint(["review_id"], ["reviews.id"], name=op.f("fk_suggestions_review_id")),
        sa.ForeignKeyConstraint(["shown_to"], ["reviewers.id"], name=op.f("fk_suggestions_shown_to")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_suggestions")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_suggestions_document_id"), "suggestions", ["document_id"], unique=False)
    op.create_index(op.f("ix_suggestions_review_id_place"), "suggestions", ["review_id", "place"], unique=False)


def _ledger() -> None:
    op.create_table(
        "ledger",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("review_id", sa.Integer(), nullable=False),
        sa.Column("document_id", sa.Integer(), nullable=False),
        sa.Column("reviewer_id", sa.Integer(), nullable=False),
        sa.Column("request_key", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("verdict", sa.Text(), nullable=True),
        sa.Column("origin", sa.Text(), nullable=True),
        sa.Column("undoes_id", sa.Integer(), nullable=True),
        sa.Column("suggestion_id", sa.Integer(), nullable=True),
        sa.Column("round", sa.Integer(), nullable=True),
        sa.Column("probability", sa.Double(), nullable=True),
        sa.Column("why", sa.Text(), nullable=False),
        sa.Column("shown_at", sa.Text(), nullable=True),
        sa.Column("answered_at", sa.Text(), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=True),
        sa.Column("note", sa.Text(), nullable=False),
        sa.CheckConstraint("(kind = 'answer') = (origin IS NOT NULL)", name=op.f("ck_ledger_answers_have_origins")),
        sa.CheckConstraint("(kind = 'answer') = (verdict IS NOT NULL)", name=op.f("ck_ledger_answers_have_verdicts")),
        sa.CheckConstraint("(kind = 'undo') = (undoes_id IS NOT NULL)", name=op.f("ck_ledger_undos_name_an_answer")),
        sa.CheckConstraint("kind IN ('answer', 'undo', 'note', 'tag', 'untag')", name=op.f("ck_ledger_kind")),
        sa.CheckConstraint(
            "origin IN ('prior', 'policy', 'control', 'search', 'correction')", name=op.f("ck_ledger_origin")
        ),
        sa.CheckConstraint("verdict IN ('relevant', 'irrelevant', 'maybe', 'skip')", name=op.f("ck_ledger_verdict")),
        sa.ForeignKeyConstraint(["document_id"], ["documents.id"], name=op.f("fk_ledger_document_id")),
        sa.ForeignKeyConstraint(["review_id"], ["reviews.id"], name=op.f("fk_ledger_review_id")),
        sa.ForeignKeyConstraint(["reviewer_id"], ["reviewers.id"], name=op.f("fk_ledger_reviewer_id")),
        sa.ForeignKeyConstraint(["suggestion_id"], ["suggestions.id"], name=op.f("fk_ledger_suggestion_id")),
        sa.ForeignKeyConstraint(["undoes_id"], ["ledger.id"], name=op.f("fk_ledger_undoes_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_ledger")),
        sa.UniqueConstraint("review_id", "request_key", name=op.f("uq_ledger_review_id_request_key")),
        sa.UniqueConstraint("undoes_id", name=op.f("uq_ledger_undoes_id")),
    )
    op.create_index(op.f("ix_ledger_document_id_kind"), "ledger", ["document_id", "kind"], unique=False)
    op.create_index(op.f("ix_ledger_reviewer_id"), "ledger", ["reviewer_id"], unique=False)


def _taken() -> None:
    op.create_table(
        "taken",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("review_id", sa.Integer(), nullable=False),
        sa.Column("ledger_id", sa.Integer(), nullable=False),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("probability", sa.Double(), nullable=False),
        sa.Column("cost", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["ledger_id"], ["ledger.id"], name=op.f("fk_taken_ledger_id")),
        sa.ForeignKeyConstraint(["review_id"], ["reviews.id"], name=op.f("fk_taken_review_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_taken")),
        sa.UniqueConstraint("review_id", "round", "place", name=op.f("uq_taken_review_id_round_place")),
    )
    op.create_index(op.f("ix_taken_ledger_id"), "taken", ["ledger_id"], unique=False)
