"""Run migrations on the connection that `review/upgrade.py` hands over: all in its one transaction."""

from __future__ import annotations

from alembic import context

from riffler.review.schema_team import Base  # with the tables of both

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    render_as_batch=True,  # SQLite changes a table by making it anew
    transactional_ddl=True,
)
context.run_migrations()
