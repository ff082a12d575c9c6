"""Files that workers of this machine share: whole or not there, and gone with whoever made them, however that ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

from riffler.data.held_folder import sweep
from riffler.engine.scratch import PREFIX, Scratch
from riffler.errors import EngineError

HOLD = "import sys; from riffler.engine.scratch import Scratch; one = Scratch(); print(one.folder, flush=True); input()"


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of temporary files of this test's own."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_a_folder_of_a_killed_process_is_swept_by_the_next_and_one_in_use_is_not(place: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(place), "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-c", HOLD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as holder:
        assert holder.stdout is not None
        theirs = Path(holder.stdout.readline().strip())
        mine = Scratch()
        sweep(PREFIX)
        assert theirs.exists()
        assert mine.folder.exists()
        holder.send_signal(signal.SIGKILL)
    assert theirs.exists()
    mine.close()
    assert not mine.folder.exists()
    Scratch().close()
    assert not list(place.glob(f"{PREFIX}*"))


def test_half_an_array_is_not_taken_for_all_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    array = np.arange(100)

    def half(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    one = Scratch()
    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", half)
        with pytest.raises(EngineError, match=r"No space left.*set TMPDIR"):
            one.file("ties", array)
    np.testing.assert_array_equal(np.fromfile(one.file("ties", array), dtype=array.dtype), array)
    one.close()


def test_what_is_written_over_is_what_is_read() -> None:
    one = Scratch()
    for array in (np.arange(9.0), np.arange(4.0) + 7, np.arange(20.0)):
        path = one.written_over("weights", array)
        np.testing.assert_array_equal(np.fromfile(path, count=array.size), array)
    one.close()
