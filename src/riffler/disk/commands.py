"""Commands that change a collection, from one call to the next: which one goes on, and how it ends."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from riffler.disk.journal import ASKED, CLUSTERS, Journal
from riffler.disk.manifest import JOURNAL, Manifest, mark_finished, write_manifest
from riffler.disk.sources import resolved_of_json
from riffler.disk.strays import remove_strays
from riffler.errors import InputError


def put_in_place(folder: Path, manifest: Manifest, journal: Journal) -> Manifest:
    """Show a new generation of a collection, and remove what is left of the one before."""
    write_manifest(folder, manifest)
    return tidied(folder, manifest, journal)


def tidied(folder: Path, manifest: Manifest, journal: Journal) -> Manifest:
    """The manifest, when nothing but its files is left of all commands.

    The journal goes last: whoever is killed before that finds it, and tidies the rest.
    """
    mark_finished(folder)
    remove_strays(folder, manifest.all_files())
    journal.remove()
    return manifest


def end_stale(folder: Path, base: Manifest, journal: Journal) -> str | None:
    """End a command whose manifest is there already, and return which it was; None where there is none."""
    command = journal.command
    if command is None or command["generation"] >= base.generation:
        return None
    tidied(folder, base, journal)
    return str(command["command"])


def refuse_other(folder: Path, journal: Journal, now: Mapping[str, Any]) -> None:
    """Refuse a command where another one was begun and is not finished."""
    before = journal.command
    if before is None or (_is_same(before, now) and not _has_other_clusters(journal, now)):
        return
    raise InputError(
        f"{folder}: {_in_words(before)} was begun here and is not finished. Start it again as it was, and it goes "
        f"on; or remove {folder / JOURNAL} to give it up (a collection that was there before stays as it was)."
    )


def _is_same(before: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """Whether two commands do the same to the same generation; files may have changed, their places not.

    Clusters are left out: how many are wanted may be said anew until they are found.
    """

    def told(command: Mapping[str, Any]) -> tuple[object, ...]:
        paths = [resolved_of_json(one) for one in command["sources"]]
        options = {name: value for name, value in command["options"].items() if name not in ("n_clusters", "seed")}
        return command["command"], command["generation"], options, paths

    return told(before) == told(now)


def _has_other_clusters(journal: Journal, now: Mapping[str, Any]) -> bool:
    """Whether clusters were found already, and others than this command wants."""
    if journal.find(CLUSTERS) is None:
        return False
    return bool(journal.find(ASKED) != {name: now["options"][name] for name in ("n_clusters", "seed")})


def _in_words(command: Mapping[str, Any]) -> str:
    if command["command"] != "index":
        return "a `riffler reindex`"
    paths = [str(one["path"]) for one in command["sources"]]
    more = f" and {len(paths) - 3:,} more" if len(paths) > 3 else ""
    return f"another `riffler index` (of {', '.join(paths[:3])}{more}, or with other options)"
