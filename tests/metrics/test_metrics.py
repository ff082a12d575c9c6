"""What the folder promises as a whole."""

from __future__ import annotations

import subprocess
import sys

from riffler import metrics


def test_the_public_names_are_sorted_and_there() -> None:
    assert metrics.__all__ == sorted(metrics.__all__)
    assert all(hasattr(metrics, name) for name in metrics.__all__)


def test_measuring_loads_neither_scikit_learn_nor_numba_nor_scipy() -> None:
    program = (
        "import sys; from riffler.metrics import bootstrap_interval, roc_auc;"
        "bootstrap_interval(roc_auc, [1, 0], [2, 1], n_resamples=3);"
        "print(sorted({'sklearn', 'numba', 'scipy', 'altair'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
