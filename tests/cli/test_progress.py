"""The progress bar: in a terminal only, and never backwards; elsewhere a line at times."""

from __future__ import annotations

import io
import time

import pytest

from riffler.cli import output


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_bar_goes_forward_in_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    with output.progress_bar() as tell:
        tell(0.5, "half way")
        tell(0.25, "another step")
    assert "another step" in terminal.getvalue()
    assert " 50%" in terminal.getvalue()
    assert " 25%" not in terminal.getvalue()


def test_without_a_terminal_a_short_job_says_nothing_and_a_long_one_a_line_at_times(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = 100.0
    monkeypatch.setattr("riffler.cli.output.time.monotonic", lambda: now)
    with output.progress_bar() as tell:
        for step in range(1, 91):
            now = 100.0 + step
            tell(step / 180, f"step {step}")
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.splitlines() == [
        "17% step 30; 0:00:30, left: 0:02:30",
        "33% step 60; 0:01:00, left: 0:02:00",
        "50% step 90; 0:01:30, left: 0:01:30",
    ]


def test_a_long_job_says_soon_what_it_does(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(output, "BEGUN_AFTER", 0.05)
    with output.progress_bar() as tell:
        tell(0.0, "top-k: fitting")
        time.sleep(0.5)
        tell(0.5, "another step")
    assert capsys.readouterr().err == "top-k: fitting; a line follows every 30 s\n"
