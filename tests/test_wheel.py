"""The wheel holds all that the README's example needs, and nothing of this checkout."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


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


def test_the_wheel_alone_runs_the_example_of_the_readme(tmp_path: Path) -> None:
    example = way_to_run(readme_example(), tmp_path / "example.txt")
    built = run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path, ROOT, folder=tmp_path)
    assert built.returncode == 0, built.stdout + built.stderr
    (wheel,) = tmp_path.glob("riffler-*.whl")

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
