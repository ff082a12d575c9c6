"""The arrays that rows of a partition lie in, mapped and seen to fit together: compiled loops go where they say."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riffler.disk.files import AGAIN, open_array
from riffler.disk.manifest import Partition
from riffler.errors import DataFileError

WEIGHTS, COUNTS = ("data", "indices", "indptr"), ("counts", "indices", "indptr")
MEMBERSHIPS = ("memberships_data", "memberships_indices", "memberships_indptr")


def open_rows(folder: Path, partition: Partition, files: Sequence[str], n_columns: int) -> list[NDArray[Any]]:
    """Values, columns and bounds of rows, from the files of a partition that have them in this order."""
    values, columns, bounds = (open_array(folder, partition.files[what], partition.name) for what in files)
    expected = len(columns) if tuple(files) == MEMBERSHIPS else partition.n_entries
    faults = [
        (len(bounds) != partition.n_items + 1, f"{len(bounds):,} bounds of {partition.n_items:,} rows"),
        (not len(bounds) or bounds[0] != 0 or (np.diff(bounds) < 0).any(), "bounds that do not rise from 0"),
        (not len(bounds) or bounds[-1] != expected, f"other bounds than those of {expected:,} entries"),
        (not len(values) == len(columns) == expected, f"{len(values):,} values in {len(columns):,} columns"),
        (len(columns) and not 0 <= columns.min() <= columns.max() < n_columns, f"columns beyond {n_columns:,}"),
    ]
    for is_fault, what in faults:
        if is_fault:
            names = ", ".join(partition.files[one].name for one in files)
            raise DataFileError(
                f"{folder}, {partition.name}: {names} do not fit together, or not to the manifest ({what}). {AGAIN}"
            )
    return [values, columns, bounds]
