"""What the learner leaves, who may be the learner, keys for programs; indexes that keep long reviews quick."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

COUNT_ASKED = (
    "UPDATE strata SET n_asked = "
    "(SELECT count(*) FROM documents WHERE documents.stratum_id = strata.id AND documents.twin_of IS NULL)"
)


def upgrade() -> None:
    """Add three tables, the number of documents of a stratum, and indexes of the ledger and the queue."""
    _pictures()
    _leases()
    _tokens()
    op.add_column("strata", sa.Column("n_asked", sa.Integer(), nullable=False, server_default="0"))
    op.execute(COUNT_ASKED)
    op.create_index(op.f("ix_ledger_review_id"), "ledger", ["review_id"], unique=False)
    op.create_index(op.f("ix_ledger_review_id_verdict"), "ledger", ["review_id", "verdict"], unique=False)
    op.create_index(op.f("ix_ledger_review_id_origin"), "ledger", ["review_id", "origin"], unique=False)
    undone = sa.text("undoes_id IS NOT NULL")
    op.create_index("ix_ledger_undos", "ledger", ["review_id"], sqlite_where=undone, postgresql_where=undone)
    _suggestions()


def _suggestions() -> None:
    waiting = sa.text("shown_at IS NULL")
    op.create_index(
        "ix_suggestions_waiting",
        "suggestions",
        ["review_id", "place"],
        sqlite_where=waiting,
        postgresql_where=waiting,
    )
    op.create_index(op.f("ix_suggestions_shown_to_shown_at"), "suggestions", ["shown_to", "shown_at"], unique=False)
    op.drop_index(op.f("ix_suggestions_review_id_place"), "suggestions")


def _pictures() -> None:
    op.create_table(
        "pictures",
        sa.Column("review_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("made_at", sa.Text(), nullable=False),
        sa.Column("ledger_id", sa.Integer(), nullable=False),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["review_id"], ["reviews.id"], name=op.f("fk_pictures_review_id")),
        sa.PrimaryKeyConstraint("review_id", "name", name=op.f("pk_pictures")),
    )


def _leases() -> None:
    op.create_table(
        "leases",
        sa.Column("review_id", sa.Integer(), nullable=False),
        sa.Column("holder", sa.Text(), nullable=False),
        sa.Column("turn", sa.Integer(), nullable=False),
        sa.Column("renewed_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["review_id"], ["reviews.id"], name=op.f("fk_leases_review_id")),
        sa.PrimaryKeyConstraint("review_id", name=op.f("pk_leases")),
    )


def _tokens() -> None:
    op.create_table(
        "tokens",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("review_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("made_at", sa.Text(), nullable=False),
        sa.Column("last_used_at", sa.Text(), nullable=True),
        sa.Column("revoked_at", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["review_id"], ["reviews.id"], name=op.f("fk_tokens_review_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tokens")),
        sa.UniqueConstraint("hash", name=op.f("uq_tokens_hash")),
    )
    op.create_index(op.f("ix_tokens_review_id"), "tokens", ["review_id"], unique=False)
