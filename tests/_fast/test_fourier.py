"""The compiled cosine is the cosine to float32's rounding."""

from __future__ import annotations

import numpy as np

from riffler._fast.fourier import cosines


def test_cosines_are_cosines() -> None:
    rng = np.random.default_rng(0)
    turns = rng.normal(scale=3, size=(40, 30)).astype(np.float32)
    phase = rng.random(30).astype(np.float32)
    exact = 0.5 * np.cos(2 * np.pi * (turns.astype(np.float64) + phase))
    cosines(turns, phase, np.float32(0.5))
    np.testing.assert_allclose(turns, exact, atol=5e-6)
