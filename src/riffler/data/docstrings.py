"""A collection that every machine has: docstrings of the installed scientific packages and the standard library.

Each function or class with a docstring is an item: its name is the title, its docstring the text, and the subpackage it
lies in the topic. Nothing is imported, and nothing downloaded: the source files are parsed.
"""

from __future__ import annotations

import ast
import sysconfig
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from riffler.data.collection import Collection
from riffler.errors import DataSetMissing, InputError

PACKAGES = ("numpy", "polars", "scipy", "sklearn")
LEAST_CHARACTERS = 60
SKIPPED = {"tests", "test", "site-packages", "dist-packages", "idlelib", "lib2to3", "distutils", "externals", "_lib"}
"""Folders whose docstrings say little, or belong to others."""
MOST_ITEMS = 8000


def docstrings(most: int = MOST_ITEMS) -> Collection:
    """Return docstrings with their subpackage as topic (column "topic"); of more than ``most`` every so many-th.

    >>> items = docstrings(most=300)
    >>> 250 < items.n_items <= 300, items.columns.columns
    (True, ['id', 'title', 'text', 'topic'])
    """
    if most < 1:
        raise InputError(f"most must be at least 1, got {most!r}.")
    import polars as pl

    from riffler.data.collection_reading import collection_from_frame

    rows = sorted({row[0]: row for home, name in _homes() for row in _package(home, name)}.values())
    if not rows:
        raise DataSetMissing(
            "There are no source files of installed packages to take docstrings from. Use a collection of your own."
        )
    step = -(-len(rows) // most)
    frame = pl.DataFrame(rows[::step], schema=["id", "title", "text", "topic"], orient="row")
    return collection_from_frame(frame, source="docstrings of the installed packages")


def _homes() -> Iterator[tuple[Path, str]]:
    """Folders of source files, and the name that their modules begin with."""
    for name in PACKAGES:
        spec = find_spec(name)
        if spec is not None and spec.origin is not None:
            yield Path(spec.origin).parent, name
    yield Path(sysconfig.get_path("stdlib")), ""


def _package(home: Path, name: str) -> Iterator[tuple[str, str, str, str]]:
    for path in sorted(home.rglob("*.py")):
        parts = path.relative_to(home).with_suffix("").parts
        if SKIPPED.isdisjoint(parts) and not parts[-1].startswith("test_"):
            module = ".".join([name] * bool(name) + [part for part in parts if part != "__init__"])
            yield from _module(path, module)


def _module(path: Path, module: str) -> Iterator[tuple[str, str, str, str]]:
    """Give id, name, docstring and topic of every documented function and class of a file."""
    try:
        source = path.read_text(encoding="utf-8")
        if '"""' not in source:
            return
        tree = ast.parse(source)
    except (SyntaxError, UnicodeDecodeError, OSError):
        return  # a file for another version of Python, or one that may not be read
    parts = module.split(".")
    topic = ".".join(parts[:2] if parts[0] in PACKAGES else parts[:1])
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            text = ast.get_docstring(node)
            if text is not None and len(text) >= LEAST_CHARACTERS:
                yield f"{module}.{node.name}:{node.lineno}", node.name, text, topic
