"""Offices: servers that come at once find one database, and nobody else reads the file of one."""

from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from riffler.team.office import open_office


def test_servers_that_come_at_once_to_an_empty_database_make_its_tables_once(postgres_address: str) -> None:
    def names(number: int) -> list[str]:
        with open_office(postgres_address) as office:
            return [one.name for one in office.reviews()]

    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(names, range(6))) == [[]] * 6


def test_nobody_else_reads_the_file_of_an_office_and_what_is_beside_it(tmp_path: Path) -> None:
    file = tmp_path / "office.riffler"
    with open_office(file) as office:
        office.people.make_account("anna", "a long password of anna", is_admin=True)
        rights = [stat.S_IMODE(one.stat().st_mode) for one in sorted(tmp_path.iterdir())]
    assert rights == [0o600] * len(rights)
    assert len(rights) > 1  # SQLite's log is beside it
