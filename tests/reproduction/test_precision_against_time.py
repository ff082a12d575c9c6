"""Missing sets are named, columns are scaled on the fit part alone, test rows choose nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from riffler.reproduction.at_k_methods import Method, methods
from riffler.reproduction.precision_against_time import _split, _tuned, compare
from riffler.reproduction.problems import digits, problems


def test_sets_that_are_not_here_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RIFFLER_DATA", str(tmp_path))
    assert problems({"letter": {"positive": 14}, "a9a": {}}) == ([], ["letter", "a9a"])


def test_a_set_of_several_classes_becomes_one_against_the_rest(data_folder: Path) -> None:
    (letter,), missing = problems({"letter": {"positive": 14}})
    assert (missing, letter.X.shape, int(letter.y.sum())) == ([], (20_000, 16), 783)
    assert letter.X.dtype == np.float32


def test_parts_are_disjoint_and_scaled_on_the_fit_part() -> None:
    split = _split(digits(), seed=0, max_rows=1_000)
    sizes = [len(part[1]) for part in (split.fit, split.validation, split.train, split.test)]
    assert sizes == [525, 175, 700, 300]
    np.testing.assert_allclose(split.fit[0].mean(axis=0), 0, atol=1e-4)
    assert np.abs(split.test[0].mean(axis=0)).max() > 1e-3


class Recorder:
    """Notes what it is fitted on; ranks well only with quality 2 and length 3."""

    seen: list[int]

    def __init__(self, quality: int, n_epochs: int) -> None:
        self.worth = quality == 2 and n_epochs == 3

    def fit(self, X: np.ndarray, y: np.ndarray) -> Recorder:
        Recorder.seen.append(len(y))
        self.n_columns = X.shape[1]
        return self

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        sign = 1.0 if self.worth else -1.0
        return sign * np.asarray(X[:, 0])


def test_settings_and_length_are_chosen_on_the_validation_rows() -> None:
    Recorder.seen = []
    problem = digits()
    problem.X[:, 0] = problem.y  # the first column gives the label away
    split = _split(problem, seed=0, max_rows=1_000)
    method = Method("recorder", Recorder, ({"quality": 1}, {"quality": 2}), (1, 3, 10), seeded=False)
    assert _tuned(method, split, 0) == ({"quality": 2}, 3)
    assert set(Recorder.seen) == {len(split.fit[1])}


def test_every_method_is_fitted_at_every_length_and_one_is_chosen() -> None:
    points = compare([digits()], seeds=(0,), max_rows=600)
    for method in methods():
        mine = [point for point in points if point.method == method.name]
        assert tuple(point.length for point in mine) == (method.lengths or (None,))
        assert sum(point.chosen for point in mine) == 1
        assert all(0 <= point.precision <= 1 and point.seconds > 0 for point in mine)
