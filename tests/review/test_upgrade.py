"""Versions of the tables: the migrations make what the models say, a newer file is refused, an older one upgraded."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from io import BytesIO
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine

from riffler import ReviewFileError, StorageError
from riffler.review import upgrade
from riffler.review.database import APPLICATION
from riffler.review.schema import NEWEST
from riffler.review.schema_team import Base
from riffler.review.settings import ReviewSettings
from riffler.review.store import open_review
from tests.review.reviews import new_review, say


def set_version(path: Path, version: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = ?", (version,))
        connection.commit()


def test_the_migrations_make_the_tables_of_the_models(tmp_path: Path) -> None:
    def of_models(name: str | None, kind: str, parents: object) -> bool:
        return kind != "table" or not str(name).startswith("documents_text")

    with new_review(tmp_path) as review, review._engine.connect() as connection:
        options: dict[str, Any] = {"include_name": of_models, "compare_type": True}
        assert compare_metadata(MigrationContext.configure(connection, opts=options), Base.metadata) == []


def test_the_newest_version_is_that_of_the_last_migration() -> None:
    config = Config()
    config.set_main_option("script_location", str(upgrade.MIGRATIONS))
    config.set_main_option("path_separator", "os")
    assert ScriptDirectory.from_config(config).get_current_head() == NEWEST


@pytest.mark.parametrize("version", ["0004", "9999", "abc"])
def test_a_newer_file_is_refused_and_not_changed(tmp_path: Path, version: str) -> None:
    new_review(tmp_path).close()
    path = tmp_path / "whales.riffler"
    set_version(path, version)
    before = path.read_bytes()
    with pytest.raises(ReviewFileError, match=f"newer Riffler .*{version}.*Update"):
        open_review(path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["whales.riffler"]


def add_migration(folder: Path, monkeypatch: pytest.MonkeyPatch, change: str) -> None:
    """Let there be one more version, made by a change in SQL."""
    migrations = folder / "migrations"
    shutil.copytree(upgrade.MIGRATIONS, migrations)
    (migrations / "versions" / "0004_more.py").write_text(
        "from alembic import op\n"
        "revision, down_revision = '0004', '0003'\n"
        "def upgrade():\n"
        "    op.execute('ALTER TABLE reviews ADD COLUMN colour TEXT')\n"
        f"    op.execute({change!r})\n",
        encoding="utf-8",
    )
    monkeypatch.setattr(upgrade, "MIGRATIONS", migrations)
    monkeypatch.setattr(upgrade, "NEWEST", "0004")


def first_version(path: Path) -> None:
    """Make a file with the first tables: two documents, one the twin of the other, and an answer."""
    config = Config()
    config.set_main_option("script_location", str(upgrade.MIGRATIONS))
    config.set_main_option("path_separator", "os")
    engine = create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
        connection.exec_driver_sql(f"PRAGMA application_id={APPLICATION}")
    engine.dispose()
    shape = BytesIO()
    pl.DataFrame().write_ipc(shape)
    settings = json.dumps(ReviewSettings().as_json())
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("INSERT INTO reviews VALUES (1, 'old', ?, '', '0.1.0')", (settings,))
        connection.execute("INSERT INTO reviewers VALUES (1, 'ann', '')")
        connection.execute("INSERT INTO strata VALUES (1, 1, 'old.csv', '', ?, '{}')", (shape.getvalue(),))
        for number, twin_of in ((1, None), (2, 1)):
            values = (number, number - 1, f"d{number}", twin_of)
            connection.execute("INSERT INTO documents VALUES (?, 1, 1, ?, ?, 'whale', '', '{}', ?)", values)
        connection.execute(
            "INSERT INTO ledger (review_id, document_id, reviewer_id, request_key, kind, verdict, origin, why, "
            "answered_at, note) VALUES (1, 1, 1, 'k', 'answer', 'relevant', 'search', '', '', '')"
        )
        connection.commit()


def test_a_file_of_the_first_version_is_upgraded(tmp_path: Path) -> None:
    path = tmp_path / "old.riffler"
    first_version(path)
    with open_review(path) as review:
        assert [(one.source, one.n) for one in review.imports()] == [("old.csv", 1)]
        assert review.counts() == {"relevant": 1, "irrelevant": 0, "maybe": 0, "skip": 0, "unread": 0}
        assert review.tokens() == []
        assert review.take_lease("me")
    assert path.with_name("old.riffler.version-0001").is_file()


def columns(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        return [row[1] for row in connection.execute("PRAGMA table_info(reviews)")]


def test_an_older_file_is_upgraded_after_a_backup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, backup = tmp_path / "whales.riffler", tmp_path / "whales.riffler.version-0003"
    with new_review(tmp_path) as review:
        review.answer([say("d0", "relevant")])
    add_migration(tmp_path, monkeypatch, "UPDATE reviews SET colour = 'blue'")
    for _ in range(2):
        with open_review(path) as review:
            assert list(review.standings()) == ["d0"]
    assert "colour" in columns(path)
    assert "colour" not in columns(backup)
    with closing(sqlite3.connect(backup)) as connection:
        assert connection.execute("SELECT count(*) FROM ledger").fetchone() == (1,)


def test_an_upgrade_that_fails_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    new_review(tmp_path).close()
    path = tmp_path / "whales.riffler"
    with monkeypatch.context() as patch:
        add_migration(tmp_path, patch, "UPDATE nowhere SET colour = 'blue'")
        with pytest.raises(StorageError, match="no such table: nowhere"):
            open_review(path)
    assert "colour" not in columns(path)
    with open_review(path) as review:
        assert review.collection().n_items == 60
