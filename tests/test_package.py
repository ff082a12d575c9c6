"""The promises of the package itself: light imports, and one list of public names that says the same everywhere."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import riffler

HEAVY = ("alembic", "altair", "fastapi", "numba", "sklearn", "sqlalchemy", "uvicorn")


def heavy_modules_after(code: str) -> list[str]:
    """Run code in a fresh interpreter and return which of the heavy packages it loaded."""
    probe = f"{code}\nimport sys\nprint(','.join(m for m in {HEAVY!r} if m in sys.modules), file=sys.__stderr__)"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    return [name for name in done.stderr.strip().split(",") if name]


def typed_imports() -> list[str]:
    """Names imported under ``if TYPE_CHECKING`` in ``riffler/__init__.py``."""
    tree = ast.parse(Path(inspect.getfile(riffler)).read_text(encoding="utf-8"))
    blocks = [node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    imports = [node for block in blocks for node in block.body if isinstance(node, ast.ImportFrom)]
    return [f"{node.module}:{alias.asname or alias.name}" for node in imports for alias in node.names]


def test_heavy_modules_are_seen_by_the_probe() -> None:
    assert heavy_modules_after("import altair") == ["altair"]


def test_import_riffler_is_light() -> None:
    assert heavy_modules_after("import riffler") == []


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["rank", "--help"], ["review", "--help"]])
def test_asking_for_help_is_light(arguments: list[str]) -> None:
    assert heavy_modules_after(f"from riffler.cli import run\nassert run({arguments!r}) == 0") == []


def test_public_names_are_sorted_and_listed_once() -> None:
    assert list(riffler.__all__) == sorted(set(riffler.__all__))


def test_public_names_are_those_with_a_home() -> None:
    names = [name for names in riffler._HOMES.values() for name in names]
    assert sorted(names) == list(riffler.__all__)


def test_typed_imports_are_those_with_a_home() -> None:
    homes = [f"{home}:{name}" for home, names in riffler._HOMES.items() for name in names]
    assert sorted(typed_imports()) == sorted(homes)


@pytest.mark.parametrize("name", riffler.__all__)
def test_public_name_resolves_and_is_documented(name: str) -> None:
    assert getattr(riffler, name).__doc__
    assert name in dir(riffler)


def test_every_home_is_on_the_reference_page() -> None:
    page = (Path(__file__).parent.parent / "docs" / "reference.md").read_text(encoding="utf-8")
    shown = re.findall(r"^::: (\S+)$", page, flags=re.MULTILINE)
    assert [home for home in riffler._HOMES if home not in shown] == []


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = riffler.nonsense
