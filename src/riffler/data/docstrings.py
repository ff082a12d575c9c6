"""A collection that every machine has: docstrings of the installed scientific packages and the standard library.

Each function or class with a docstring is an item: its name is the title, its docstring the text, and the subpackage it
lies in the topic. Nothing is imported, and nothing downloaded: the source files are parsed.
"""

from __future__ import annotations

import ast
import os
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
BODIES = ("body", "orelse", "finalbody", "handlers", "cases")
"""Fields of a statement that hold statements."""


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
    for folder, inner, files in os.walk(home):
        inner[:] = sorted(set(inner) - SKIPPED)  # what is skipped is not even looked into
        above = Path(folder).relative_to(home).parts
        for file in sorted(files):
            stem, ending = Path(file).stem, Path(file).suffix
            if ending == ".py" and stem not in SKIPPED and not stem.startswith("test_"):
                parts = [*[name] * bool(name), *above, *[stem] * (stem != "__init__")]
                yield from _module(Path(folder, file), ".".join(parts))


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
    for node in _statements(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            text = ast.get_docstring(node)
            if text is not None and len(text) >= LEAST_CHARACTERS:
                yield f"{module}.{node.name}:{node.lineno}", node.name, text, topic


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """Give every statement below a node; expressions, which are most of a tree, hold no definition."""
    for field in BODIES:
        for child in getattr(node, field, ()):
            yield child
            yield from _statements(child)
