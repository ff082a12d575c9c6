"""Hypothesis strategies for small rankings; scores take few values, so that ties are common."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st

REPEATABLE = settings(derandomize=True, deadline=None, max_examples=200)

Ranking = tuple[list[int], list[float]]


@st.composite
def tied(draw: st.DrawFn, max_label: int = 1, max_rows: int = 7) -> Ranking:
    """Labels and scores, ties likely, all orders still few enough to enumerate."""
    n_rows = draw(st.integers(1, max_rows))
    labels = draw(st.lists(st.integers(0, max_label), min_size=n_rows, max_size=n_rows))
    scores = draw(st.lists(st.sampled_from([-1.0, 0.0, 0.25, 3.0]), min_size=n_rows, max_size=n_rows))
    return labels, scores


@st.composite
def untied(draw: st.DrawFn, max_label: int = 1) -> Ranking:
    """Labels and scores, all scores different."""
    n_rows = draw(st.integers(2, 30))
    labels = draw(st.lists(st.integers(0, max_label), min_size=n_rows, max_size=n_rows))
    scores = draw(st.permutations([float(rank) for rank in range(n_rows)]))
    return labels, list(scores)


def one_class(labels: list[int]) -> bool:
    return len(set(labels)) < 2
