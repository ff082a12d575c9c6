"""What holds for every command: help, version, one line an error, exit codes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

import riffler
from riffler.cli import one_line, run


def command_that(statement: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command line in a fresh process, with one more command whose body is the statement."""
    code = (
        "import os, warnings, riffler.cli as cli\n"
        "from riffler.errors import InputError\n"
        "@cli.app.command()\n"
        f"def act() -> None: {statement}\n"
        "cli.main()"
    )
    return subprocess.run(
        [sys.executable, "-c", code, *arguments, "act"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"riffler {riffler.__version__}\n"


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"]])
def test_help_names_the_commands(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments) == 0
    assert "--version" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [["--nonsense"], ["nonsense"], ["rank", "--nonsense"], ["rank"]])
def test_a_wrong_command_line_is_one_line_and_exit_code_2(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("riffler: error: ")
    assert printed.err.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "line"),
    [
        ("InputError('row 3 is empty.\\n   Fill it.')", "row 3 is empty. Fill it."),
        ("FileNotFoundError(2, 'No such file or directory', 'a.csv')", "a.csv: No such file or directory"),
        ("OSError('disk on fire')", "disk on fire"),
    ],
)
def test_an_error_is_one_line_on_stderr_and_exit_code_2(error: str, line: str) -> None:
    done = command_that(f"raise {error}")
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"riffler: error: {line}\n")


def test_the_traceback_is_shown_where_asked_for() -> None:
    by_option = command_that("raise InputError('no')", "--traceback")
    by_environment = command_that("raise InputError('no')", RIFFLER_TRACEBACK="1")
    for done in (by_option, by_environment):
        assert done.returncode == 1
        assert "Traceback" in done.stderr
        assert "InputError: no" in done.stderr


def test_a_bug_is_one_line_that_says_how_to_see_more() -> None:
    done = command_that("1 / 0")
    assert done.returncode == 1
    assert done.stderr.startswith("riffler: error: ZeroDivisionError: division by zero (a fault of Riffler")
    assert "Traceback" not in done.stderr


def test_an_interrupted_command_exits_with_130_and_no_traceback() -> None:
    # in the background of a shell Python would leave interrupts ignored
    heard = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    done = command_that(f"{heard}; os.kill(os.getpid(), {signal.SIGINT.value})")
    assert (done.returncode, done.stderr.strip()) == (130, "riffler: interrupted.")


def test_a_warning_is_one_line() -> None:
    done = command_that("warnings.warn('k was lowered')")
    assert (done.returncode, done.stderr) == (0, "riffler: warning: k was lowered\n")


def test_an_error_without_words_is_named() -> None:
    assert one_line(OSError()) == "OSError"
