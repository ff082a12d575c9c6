"""Teams: accounts, members, holds, documents that several read, what was done; and what PostgreSQL needs of its own."""

from __future__ import annotations

from uuid import uuid4

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

KINDS = "kind IN ('answer', 'undo', 'note', 'tag', 'untag', 'opinion')"
ORIGINS = "origin IN ('prior', 'policy', 'control', 'search', 'correction')"
VERDICTS = "verdict IN ('relevant', 'irrelevant', 'maybe', 'skip')"
DECISIONS = "decided IN ('agreement', 'third', 'consensus', 'owner')"
HAVE_VERDICTS = "(kind IN ('answer', 'opinion')) = (verdict IS NOT NULL)"
HAVE_ORIGINS = "(kind IN ('answer', 'opinion')) = (origin IS NOT NULL)"
ROLES = "role IN ('reader', 'reviewer', 'owner')"
UNDONE = "undoes_id IS NOT NULL"
COLUMNS = (
    "id, review_id, document_id, reviewer_id, request_key, kind, verdict, origin, undoes_id, suggestion_id, round, "
    "probability, why, shown_at, answered_at, seconds, note"
)
APPEND_ONLY_SQLITE = (
    "CREATE TRIGGER {table}_{what} BEFORE {what} ON {table} "
    "BEGIN SELECT RAISE(ABORT, 'the table {table} is append-only'); END"
)
APPEND_ONLY_POSTGRES = (
    "CREATE FUNCTION is_append_only() RETURNS trigger LANGUAGE plpgsql AS "
    "$$ BEGIN RAISE EXCEPTION 'the table % is append-only', TG_TABLE_NAME; END $$",
    *(
        f"CREATE TRIGGER {table}_unchanged BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
        "FOR EACH STATEMENT EXECUTE FUNCTION is_append_only()"
        for table in ("ledger", "acts")
    ),
)
TEXT_INDEX_POSTGRES = (
    "CREATE TABLE documents_text (document_id INTEGER PRIMARY KEY REFERENCES documents (id), words tsvector NOT NULL)",
    "CREATE INDEX ix_documents_text_words ON documents_text USING gin (words)",
)


def upgrade() -> None:
    """Add the tables of a team, and columns that say who and how."""
    _reviews_and_reviewers()
    _people()
    _reading()
    _doings()
    if op.get_bind().dialect.name == "sqlite":
        _ledger_anew()
    else:
        _ledger_in_place()
        for statement in (*APPEND_ONLY_POSTGRES, *TEXT_INDEX_POSTGRES):
            op.execute(statement)
    op.create_index(op.f("ix_ledger_review_id_kind_verdict"), "ledger", ["review_id", "kind", "verdict"])
    waiting, name = sa.text("shown_to IS NULL"), "ix_suggestions_waiting"
    op.drop_index(name, "suggestions")
    op.create_index(name, "suggestions", ["review_id", "place"], sqlite_where=waiting, postgresql_where=waiting)


def _reviews_and_reviewers() -> None:
    op.add_column("reviews", sa.Column("identity", sa.Text(), nullable=False, server_default=""))
    op.add_column("reviews", sa.Column("frozen_at", sa.Text(), nullable=True))
    reviews = sa.table("reviews", sa.column("id"), sa.column("identity"))
    for number in op.get_bind().execute(sa.select(reviews.c.id)).scalars().all():
        op.execute(reviews.update().where(reviews.c.id == number).values(identity=str(uuid4())))
    op.create_index(op.f("ix_reviews_identity"), "reviews", ["identity"], unique=True)
    op.add_column("reviewers", sa.Column("password", sa.Text(), nullable=True))
    op.add_column("reviewers", sa.Column("is_admin", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("reviewers", sa.Column("closed_at", sa.Text(), nullable=True))
    # in SQL: Alembic adds a constraint by a statement of its own, which SQLite does not have
    op.execute(
        "ALTER TABLE tokens ADD COLUMN reviewer_id INTEGER CONSTRAINT fk_tokens_reviewer_id REFERENCES reviewers (id)"
    )


def _people() -> None:
    op.create_table(
        "members",
        sa.Column("review_id", sa.Integer(), nullable=False),
        sa.Column("reviewer_id", sa.Integer(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("joined_at", sa.Text(), nullable=False),
        sa.Column("left_at", sa.Text(), nullable=True),
        sa.CheckConstraint(ROLES, name=op.f("ck_members_role")),
        *_of("members", review_id="reviews", reviewer_id="reviewers"),
        sa.PrimaryKeyConstraint("review_id", "reviewer_id", name=op.f("pk_members")),
    )
    op.create_index(op.f("ix_members_reviewer_id"), "members", ["reviewer_id"])
    op.create_table(
        "invitations",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=True),
        sa.Column("review_id", sa.Integer(), nullable=True),
        sa.Column("role", sa.Text(), nullable=True),
        sa.Column("is_admin", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("made_by", sa.Integer(), nullable=True),
        sa.Column("made_at", sa.Text(), nullable=False),
        sa.Column("ends_at", sa.Double(), nullable=False),
        sa.Column("used_at", sa.Text(), nullable=True),
        sa.Column("revoked_at", sa.Text(), nullable=True),
        sa.CheckConstraint(ROLES, name=op.f("ck_invitations_role")),
        *_of("invitations", review_id="reviews", made_by="reviewers"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_invitations")),
        sa.UniqueConstraint("hash", name=op.f("uq_invitations_hash")),
    )
    op.create_index(op.f("ix_invitations_review_id"), "invitations", ["review_id"])
    op.create_table(
        "visits",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("reviewer_id", sa.Integer(), nullable=False),
        sa.Column("csrf", sa.Text(), nullable=False),
        sa.Column("made_at", sa.Text(), nullable=False),
        sa.Column("seen_at", sa.Double(), nullable=False),
        sa.Column("ends_at", sa.Double(), nullable=False),
        *_of("visits", reviewer_id="reviewers"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_visits")),
        sa.UniqueConstraint("hash", name=op.f("uq_visits_hash")),
    )
    op.create_index(op.f("ix_visits_reviewer_id"), "visits", ["reviewer_id"])
    op.create_table(
        "tries",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("what", sa.Text(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tries")),
    )
    op.create_index(op.f("ix_tries_what_at"), "tries", ["what", "at"])


def _reading() -> None:
    op.create_table(
        "holds",
        sa.Column("document_id", sa.Integer(), nullable=False),
        sa.Column("slot", sa.Integer(), nullable=False),
        sa.Column("review_id", sa.Integer(), nullable=False),
        sa.Column("reviewer_id", sa.Integer(), nullable=False),
        sa.Column("suggestion_id", sa.Integer(), nullable=True),
        sa.Column("taken_at", sa.Double(), nullable=False),
        sa.Column("renewed_at", sa.Double(), nullable=False),
        sa.Column("is_shown", sa.Boolean(), nullable=False, server_default=sa.false()),
        *_of("holds", document_id="documents", review_id="reviews", reviewer_id="reviewers"),
        *_of("holds", suggestion_id="suggestions"),
        sa.PrimaryKeyConstraint("document_id", "slot", name=op.f("pk_holds")),
        sa.UniqueConstraint("document_id", "reviewer_id", name=op.f("uq_holds_document_id_reviewer_id")),
    )
    op.create_index(op.f("ix_holds_review_id_reviewer_id"), "holds", ["review_id", "reviewer_id"])
    op.create_index(op.f("ix_holds_suggestion_id"), "holds", ["suggestion_id"])
    op.create_table(
        "screenings",
        sa.Column("document_id", sa.Integer(), nullable=False),
        sa.Column("review_id", sa.Integer(), nullable=False),
        sa.Column("needed", sa.Integer(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("suggestion_id", sa.Integer(), nullable=True),
        sa.Column("opened_at", sa.Text(), nullable=False),
        sa.Column("n_opinions", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("first_reader_id", sa.Integer(), nullable=True),
        sa.CheckConstraint("state IN ('waiting', 'conflict', 'settled')", name=op.f("ck_screenings_state")),
        *_of("screenings", document_id="documents", review_id="reviews", suggestion_id="suggestions"),
        *_of("screenings", first_reader_id="reviewers"),
        sa.PrimaryKeyConstraint("document_id", name=op.f("pk_screenings")),
    )
    op.create_index(op.f("ix_screenings_review_id_state"), "screenings", ["review_id", "state"])


def _doings() -> None:
    op.create_table(
        "acts",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("at", sa.Text(), nullable=False),
        sa.Column("review_id", sa.Integer(), nullable=True),
        sa.Column("reviewer_id", sa.Integer(), nullable=True),
        sa.Column("act", sa.Text(), nullable=False),
        sa.Column("details", sa.JSON(), nullable=False),
        *_of("acts", review_id="reviews", reviewer_id="reviewers"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_acts")),
    )
    op.create_index(op.f("ix_acts_review_id"), "acts", ["review_id"])
    op.create_table(
        "uploads",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("review_id", sa.Integer(), nullable=False),
        sa.Column("reviewer_id", sa.Integer(), nullable=True),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("ends_at", sa.Double(), nullable=False),
        *_of("uploads", review_id="reviews", reviewer_id="reviewers"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_uploads")),
        sa.UniqueConstraint("hash", name=op.f("uq_uploads_hash")),
    )
    op.create_index(op.f("ix_uploads_review_id"), "uploads", ["review_id"])
    op.create_table(
        "upload_parts",
        sa.Column("upload_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        *_of("upload_parts", upload_id="uploads"),
        sa.PrimaryKeyConstraint("upload_id", "number", name=op.f("pk_upload_parts")),
    )


def _ledger_in_place() -> None:
    op.add_column("ledger", sa.Column("decided", sa.Text(), nullable=True))
    changed = {"kind": KINDS, "answers_have_verdicts": HAVE_VERDICTS, "answers_have_origins": HAVE_ORIGINS}
    for name, rule in changed.items():
        op.drop_constraint(op.f(f"ck_ledger_{name}"), "ledger", type_="check")
        op.create_check_constraint(op.f(f"ck_ledger_{name}"), "ledger", rule)
    op.create_check_constraint(op.f("ck_ledger_decided"), "ledger", DECISIONS)
    op.drop_index(op.f("ix_ledger_review_id_verdict"), "ledger")


def _ledger_anew() -> None:
    """SQLite changes no constraint of a table: a new one takes its place, with its indexes and triggers."""
    op.create_table(
        "ledger_new",
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
        sa.Column("decided", sa.Text(), nullable=True),
        sa.CheckConstraint(HAVE_ORIGINS, name=op.f("ck_ledger_answers_have_origins")),
        sa.CheckConstraint(HAVE_VERDICTS, name=op.f("ck_ledger_answers_have_verdicts")),
        sa.CheckConstraint("(kind = 'undo') = (undoes_id IS NOT NULL)", name=op.f("ck_ledger_undos_name_an_answer")),
        sa.CheckConstraint(KINDS, name=op.f("ck_ledger_kind")),
        sa.CheckConstraint(ORIGINS, name=op.f("ck_ledger_origin")),
        sa.CheckConstraint(VERDICTS, name=op.f("ck_ledger_verdict")),
        sa.CheckConstraint(DECISIONS, name=op.f("ck_ledger_decided")),
        *_of("ledger", document_id="documents", review_id="reviews", reviewer_id="reviewers"),
        *_of("ledger", suggestion_id="suggestions", undoes_id="ledger"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_ledger")),
        sa.UniqueConstraint("review_id", "request_key", name=op.f("uq_ledger_review_id_request_key")),
        sa.UniqueConstraint("undoes_id", name=op.f("uq_ledger_undoes_id")),
    )
    op.execute(f"INSERT INTO ledger_new ({COLUMNS}) SELECT {COLUMNS} FROM ledger ORDER BY id")
    op.drop_table("ledger")
    op.rename_table("ledger_new", "ledger")
    for columns in (["document_id", "kind"], ["reviewer_id"], ["review_id"], ["review_id", "origin"]):
        op.create_index(op.f(f"ix_ledger_{'_'.join(columns)}"), "ledger", columns)
    op.create_index("ix_ledger_undos", "ledger", ["review_id"], sqlite_where=sa.text(UNDONE))
    for table in ("ledger", "acts"):
        for what in ("UPDATE", "DELETE"):
            op.execute(APPEND_ONLY_SQLITE.format(table=table, what=what))


def _of(table: str, **others: str) -> list[sa.ForeignKeyConstraint]:
    """Return foreign keys: the column of a table, and the table that it is of."""
    return [
        sa.ForeignKeyConstraint([column], [f"{other}.id"], name=op.f(f"fk_{table}_{column}"))
        for column, other in others.items()
    ]
