"""The nouns shared by every layer: array aliases and small frozen records."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.floating[Any]]
IntArray: TypeAlias = NDArray[np.integer[Any]]
BoolArray: TypeAlias = NDArray[np.bool_]
Matrix: TypeAlias = Any
"""A dense 2-D array or a SciPy CSR matrix: rows are items, columns are features."""
