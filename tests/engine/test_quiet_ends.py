"""Ctrl-C, what Dask logs, and two clusters of one process: nothing of it reaches who did not ask."""

from __future__ import annotations

import io
import logging
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from riffler.engine import DaskEngine
from riffler.engine.interrupts import kept_from_workers
from tests.waiting import wait_until

pytest.importorskip("distributed")

INTERRUPTED = """
import time
import numpy as np
from riffler.engine import DaskEngine

if __name__ == "__main__":
    with DaskEngine([np.eye(2)], n_workers=2) as engine:
        try:
            print("ready", flush=True)
            time.sleep(60)
        except KeyboardInterrupt:
            pids = sorted(one.pid for one in engine._cluster._own.workers.values())
            time.sleep(1)  # whoever dies of it is dead by now
            print(engine.scores(np.array([1.0, 2.0])).tolist(), flush=True)
            print(pids == sorted(one.pid for one in engine._cluster._own.workers.values()), flush=True)
"""


def test_ctrl_c_at_a_terminal_reaches_nobody_but_who_started_the_workers(tmp_path: Path) -> None:
    script = tmp_path / "search.py"
    script.write_text(INTERRUPTED)
    with subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        told, errors = process.communicate(timeout=90)
    assert told.splitlines() == ["[1.0, 2.0]", "True"]
    assert errors == ""


def test_ctrl_c_while_workers_are_started_is_heard_when_all_are() -> None:
    done = []

    def begin() -> None:
        with kept_from_workers():
            os.kill(os.getpid(), signal.SIGINT)
            done.append("all")

    with pytest.raises(KeyboardInterrupt):
        begin()
    assert done == ["all"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert not signal.pthread_sigmask(signal.SIG_BLOCK, []) & {signal.SIGINT}


def test_ctrl_c_while_a_cluster_is_made_leaves_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    import distributed

    made: list[int] = []
    begin: Any = distributed.LocalCluster

    def begin_and_be_interrupted(**settings: Any) -> Any:  # noqa: ANN401 - Dask's own
        cluster = begin(**settings)
        made.extend(one.pid for one in cluster.workers.values())
        os.kill(os.getpid(), signal.SIGINT)
        return cluster

    monkeypatch.setattr(distributed, "LocalCluster", begin_and_be_interrupted)
    with pytest.raises(KeyboardInterrupt):
        DaskEngine([np.eye(2)], n_workers=1)
    assert len(made) == 1
    wait_until(lambda: not Path(f"/proc/{made[0]}").exists())


def test_dask_logs_again_when_the_last_cluster_has_ended() -> None:
    handler = logging.StreamHandler(io.StringIO())  # Dask itself looks after those of streams
    handler.setLevel(logging.WARNING)
    logger = logging.getLogger("distributed")
    logger.addHandler(handler)
    try:
        first, second = (DaskEngine([np.eye(2)], n_workers=1) for _ in range(2))
        first.close()
        assert handler.level > logging.CRITICAL
        first.close()  # twice does no harm
        assert handler.level > logging.CRITICAL
        second.close()
        assert handler.level == logging.WARNING
    finally:
        logger.removeHandler(handler)
