"""The wheel holds all that the README's example needs, and nothing of this checkout."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import venv
import zipfile
from email.parser import Parser
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src"
BROUGHT_ALONG = {"anyio", "pydantic"}  # of FastAPI, which is made of them
PEERS = {"lightgbm"}  # a reproduction is compared with it where it is installed
NEWER_PYTHON = {"compression"}  # from 3.14 on; older ones have a package for it
EXTRAS = ("embeddings", "dask")


def readme_example() -> str:
    """Give the first Python block of the README."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    block = re.search(r"^```(?:python|pycon|py)\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    assert block is not None, "README.md has no Python block"
    return block.group(1)


def way_to_run(example: str, file: Path) -> list[str]:
    """A session is checked against what it shows; a script has only to run."""
    file.write_text(example, encoding="utf-8")
    options = ["-o", "ELLIPSIS", "-o", "NORMALIZE_WHITESPACE"]
    return ["-m", "doctest", *options, str(file)] if example.startswith(">>> ") else [str(file)]


def run(*command: object, folder: Path) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "COV_"))}
    return subprocess.run(
        [str(part) for part in command], cwd=folder, env=clean, text=True, capture_output=True, check=False
    )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    built = run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT, folder=folder)
    assert built.returncode == 0, built.stdout + built.stderr
    (made,) = folder.glob("riffler-*.whl")
    return made


def test_the_wheel_has_every_file_of_the_package_and_its_modules_load(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
        there = {name for name in archive.namelist() if name.startswith("riffler/")}
    ours = {file.relative_to(SOURCE).as_posix() for file in SOURCE.rglob("*") if file.is_file()}
    assert there == {name for name in ours if "__pycache__" not in name}
    modules = [name.removesuffix(".py").replace("/", ".") for name in sorted(there) if name.endswith(".py")]
    loaded = [name for name in modules if ".migrations." not in name and not name.endswith("__init__")]
    load = f"import sys, importlib; sys.path.insert(0, {str(tmp_path)!r}); [*map(importlib.import_module, {loaded!r})]"
    done = run(sys.executable, "-c", load + "; import riffler; print(riffler.__file__)", folder=tmp_path)
    assert done.stdout.startswith(str(tmp_path)), done.stderr


def test_everything_that_is_imported_is_asked_for(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (metadata,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        needed = Parser().parsestr(archive.read(metadata).decode()).get_all("Requires-Dist") or []
        sources = [archive.read(name).decode() for name in archive.namelist() if name.endswith(".py")]
    needed = [one for one in needed if "extra ==" not in one or any(extra in one for extra in EXTRAS)]
    asked_for = {normal(re.split(r"[^A-Za-z0-9._-]", one, maxsplit=1)[0]) for one in needed}
    distributions = packages_distributions()
    imported = {name for source in sources for name in imports_of(source)} - sys.stdlib_module_names - {"riffler"}
    assert len(imported) > 10
    missing = {name for name in imported if not asked_for & {*map(normal, distributions.get(name, [name]))}}
    assert missing <= BROUGHT_ALONG | PEERS | NEWER_PYTHON


def normal(name: str) -> str:
    """Give the one spelling of a distribution's name that indexes know."""
    return re.sub(r"[-_.]+", "-", name).lower()


def imports_of(source: str) -> set[str]:
    """Return the top-level names of the packages that a module imports, wherever in it."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {one.name.partition(".")[0] for one in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            found.add(node.module.partition(".")[0])
    return found


@pytest.mark.soak
def test_the_wheel_alone_runs_the_example_of_the_readme(wheel: Path, tmp_path: Path) -> None:
    example = way_to_run(readme_example(), tmp_path / "example.txt")
    venv.create(tmp_path / "empty", with_pip=True)
    python = tmp_path / "empty" / ("Scripts" if os.name == "nt" else "bin") / "python"
    installed = run(python, "-m", "pip", "install", "--quiet", wheel, folder=tmp_path)
    if installed.returncode != 0 and os.environ.get("CI") != "true":
        pytest.skip(f"the dependencies could not be fetched: {installed.stderr.strip().splitlines()[-1]}")
    assert installed.returncode == 0, installed.stderr

    done = run(python, *example, folder=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    where = run(python, "-c", "import riffler; print(riffler.__file__)", folder=tmp_path)
    assert str(tmp_path) in where.stdout
    named = run(tmp_path / "empty" / "bin" / "riffler", "--version", folder=tmp_path)
    assert named.stdout.startswith("riffler ")
