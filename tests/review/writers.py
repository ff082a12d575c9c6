"""Programs that write to a review until they are done or killed, and say what was acknowledged; run by the tests."""

from __future__ import annotations

import sys
from pathlib import Path

from riffler.review.creating import create_review
from riffler.review.store import open_review
from tests.review.reviews import SETTINGS, library, say, verdict_on


def append(path: Path, reviewer: str, first: int, last: int) -> None:
    """Answer about documents first to last, each with the key of its number."""
    with open_review(path) as review:
        tell("ready")
        for row in range(first, last):
            review.answer([say(f"d{row}", verdict_on(f"d{row}"), key=str(row))], reviewer=reviewer)
            tell(str(row))


def create(path: Path, n: int) -> None:
    """Make a review of n documents."""
    collection = library(n)
    tell("ready")
    create_review(path, collection, SETTINGS).close()
    tell("done")


def add(path: Path, n: int) -> None:
    """Add n documents."""
    collection = library(n, prefix="e")
    with open_review(path) as review:
        tell("ready")
        review.add_documents(collection)
        tell("done")


def tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    what, path, *rest = sys.argv[1:]
    if what == "append":
        append(Path(path), rest[0], int(rest[1]), int(rest[2]))
    else:
        {"create": create, "add": add}[what](Path(path), int(rest[0]))
