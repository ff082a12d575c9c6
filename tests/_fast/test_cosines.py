"""Cosines by rows are those of a product, and do not depend on what stands beside a row."""

from __future__ import annotations

import numpy as np

from riffler._fast.cosines import cosines_to


def test_cosines_are_those_of_a_product_and_the_same_bits_in_any_company() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(57, 23)) * (rng.random((57, 23)) < 0.7)
    rows[3] = 0.0
    directions = rng.normal(size=(23, 9))
    directions /= np.linalg.norm(directions, axis=0)
    found = np.empty((57, 9))
    cosines_to(rows, directions, found)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    np.testing.assert_allclose(found, rows @ directions / np.where(lengths, lengths, 1.0), atol=1e-14)
    for start, stop in ((0, 1), (3, 10), (10, 57)):
        part = np.empty((stop - start, 9))
        cosines_to(rows[start:stop], directions, part)
        np.testing.assert_array_equal(part, found[start:stop])
