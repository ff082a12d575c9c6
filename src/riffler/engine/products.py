"""Work for ``Engine.sum`` that training needs, by the one compiled row loop: a block gives the same bits everywhere.

(Sums by BLAS do not: their last digits depend on its threads and on where the arrays lie. A dense block does so on
processors of one kind.)
"""

from __future__ import annotations

import numpy as np

from riffler.records import FloatArray, Matrix


def pulled_back(block: Matrix, slopes: FloatArray) -> FloatArray:
    """Return X' s: the gradient in the weights, from slopes in the scores.

    >>> pulled_back(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1.0, -1.0]))
    array([-2., -2.])
    """
    from riffler._fast.rows import as_rows, sum_of_rows

    total = np.zeros(block.shape[1])
    sum_of_rows(as_rows(block), block.shape[0], slopes, total)
    return total
