"""Versions of the tables: the migrations make what the models say, a newer file is refused, an older one upgraded."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from riffler import ReviewFileError
from riffler.review import upgrade
from riffler.review.schema import NEWEST, Base
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


@pytest.mark.parametrize("version", ["0002", "9999", "abc"])
def test_a_newer_file_is_refused_and_not_changed(tmp_path: Path, version: str) -> None:
    new_review(tmp_path).close()
    path = tmp_path / "whales.riffler"
    set_version(path, version)
    before = path.read_bytes()
    with pytest.raises(ReviewFileError, match=f"newer Riffler .*{version}.*Update"):
        open_review(path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["whales.riffler"]


def test_an_older_file_is_upgraded_after_a_backup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with new_review(tmp_path) as review:
        review.answer([say("d0", "relevant")])
    path = tmp_path / "whales.riffler"
    set_version(path, "0000")
    monkeypatch.setattr(upgrade, "_migrate", lambda engine: set_version(path, NEWEST))
    with open_review(path) as review:
        assert list(review.standings()) == ["d0"]
    with closing(sqlite3.connect(tmp_path / f"whales.riffler.before-{NEWEST}")) as backup:
        assert backup.execute("SELECT version_num FROM alembic_version").fetchone() == ("0000",)
        assert backup.execute("SELECT count(*) FROM ledger").fetchone() == (1,)
