"""The progress bar: in a terminal only, and never backwards."""

from __future__ import annotations

import io

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


def test_without_a_terminal_nothing_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    with output.progress_bar() as tell:
        tell(0.5, "half way")
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "")
