"""Tables and pictures from the cells of the active benchmark, as Markdown."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import active_sets
import numpy as np
from active_quality import FULL, Cell, Results
from scipy import stats

import riffler
from riffler.data import atomic_write
from riffler.records import FloatArray

MARGIN = -0.01  # "reaches": the paired 95 % lower bound of the difference lies above this
OURS, RIVAL = "ActiveTopK", "sequential"
KINDS = ("50", "large")


def main(results: Results, folder: Path) -> None:
    """Print and write every table that the cells allow, and draw precision against labels."""
    parts = [
        _head(results),
        _goals(results, OURS),
        _goals(results, "ActiveTopK thrifty"),
        _settings(results),
        _areas(results),
        _baselines(results),
        _ablation(results),
    ]
    text = "\n\n".join(part for part in parts if part) + "\n"
    with atomic_write(folder / "report.md") as draft:
        draft.write_text(text, encoding="utf-8")
    print(text)
    _draw(results, folder / "precision-against-labels.svg")


def _head(results: Results) -> str:
    seeds = len({key[2] for key in results.cells})
    return (
        f"riffler {riffler.__version__}, Python {platform.python_version()}, {platform.machine()}; seeds 0 to "
        f"{seeds - 1}; `python benchmarks/active.py quality`, then `ablation`, `report`."
    )


def _places(results: Results) -> Iterable[tuple[active_sets.ActiveSet, str]]:
    for one in active_sets.SETS:
        for kind in KINDS:
            if results.of(one.title, kind, OURS):
                yield one, kind


def _goals(results: Results, ours: str) -> str:
    rows = []
    for one, kind in _places(results):
        mine, theirs = results.of(one.title, kind, ours), results.of(one.title, kind, RIVAL)
        full = results.of(one.title, kind, FULL)
        if not mine or not theirs:
            continue
        fewer = _mean(theirs, _labels) / _mean(mine, _labels)
        stream, held = _low(mine, theirs, _stream), _low(mine, theirs, _held)
        share = _mean_over(mine, full, _stream) / _mean_over(full, mine, _stream) if full else float("nan")
        good = stream > MARGIN and fewer >= one.fewer
        rows.append(
            [one.title, str(next(iter(mine.values())).k), _both(theirs), f"{_mean(theirs, _labels):,.0f}", _both(mine),
             f"{_mean(mine, _labels):,.0f} ± {_spread(mine, _labels):,.0f}", f"{fewer:.1f} (goal {one.fewer:g})",
             f"{stream:+.3f} / {held:+.3f}", f"{share:.1%}", "yes" if good and share >= 0.97 else "no"]
        )  # fmt: skip
    if not rows:
        return ""
    head = ["data", "k", f"{RIVAL}: stream / held-out", "labels", f"{ours}: stream / held-out", "labels", "times fewer",
            "least difference: stream / held-out", "share of every label", "all goals"]  # fmt: skip
    return f"## {ours} against Algorithm 1\n\n" + _table(head, rows)


def _settings(results: Results) -> str:
    names = ("ActiveTopK thrifty", OURS, "ActiveTopK generous", "ActiveTopK linear", FULL)
    return "## More or fewer labels\n\n" + _compare(results, names)


def _baselines(results: Results) -> str:
    names = (RIVAL, "exponential", "inverse", "uniform", "selective sampling", "modified perceptron", "IWAL", OURS)
    return "## Baselines\n\n" + _compare(results, names, kinds=("50",))


def _ablation(results: Results) -> str:
    names = (OURS, "random cover", "buys the top", "buys the uncertain", "buys the contested", "no random draws",
             "inverse weights", "never forgets")  # fmt: skip
    if not any(results.of(one.title, kind, names[1]) for one, kind in _places(results)):
        return ""
    return "## Each part taken out\n\n" + _compare(results, names)


def _compare(results: Results, names: Sequence[str], kinds: Sequence[str] = KINDS) -> str:
    """Mean precision on the stream / labels of each method, over the seeds that all of them have."""
    rows = []
    for one, kind in _places(results):
        if kind not in kinds:
            continue
        cells = {name: results.of(one.title, kind, name) for name in names}
        seeds = set.intersection(*(set(found) for found in cells.values() if found))
        common = {name: {seed: found[seed] for seed in seeds} for name, found in cells.items() if found}
        shown = [f"{_mean(common[name], _stream):.3f} / {_mean(common[name], _labels):,.0f}" if name in common else ""
                 for name in names]  # fmt: skip
        rows.append([one.title, str(next(iter(cells[names[0]].values())).k) if cells[names[0]] else kind, *shown])
    return _table(["data", "k", *names], rows)


def _areas(results: Results) -> str:
    """Area under precision against labels: exponential less uniform, paired over the seeds."""
    rows, wins = [], 0
    for one, kind in _places(results):
        first, second = results.of(one.title, kind, "exponential"), results.of(one.title, kind, "uniform")
        seeds = sorted(set(first) & set(second))
        if len(seeds) < 2:
            continue
        gaps = np.array([_area_gap(first[seed], second[seed]) for seed in seeds])
        low, high = _interval(gaps)
        wins += gaps.mean() > 0
        verdict = "better" if low > 0 else "worse" if high < 0 else "not told apart"
        rows.append([one.title, str(first[seeds[0]].k), f"{gaps.mean():+.4f}", f"{low:+.4f} to {high:+.4f}", verdict])
    if not rows:
        return ""
    head = ["data", "k", "exponential less uniform", "95 % interval", "exponential is"]
    note = f"The mean is above 0 in {wins} of {len(rows)} comparisons."
    return "## Area under precision against labels\n\n" + _table(head, rows) + f"\n\n{note}"


def _area_gap(first: Cell, second: Cell) -> float:
    """Mean height of one curve above the other over the labels that both have reached."""
    (x1, y1), (x2, y2) = _curve(first), _curve(second)
    grid = np.linspace(max(x1[0], x2[0]), min(x1[-1], x2[-1]), 200)
    return float(np.mean(np.interp(grid, x1, y1) - np.interp(grid, x2, y2)))


def _curve(cell: Cell) -> tuple[FloatArray, FloatArray]:
    """Labels paid before each batch from the second on, and its precision."""
    return np.array(cell.n_asked[:-1], dtype=float), np.array(cell.precision[1:])


def _stream(cell: Cell) -> float:
    return cell.mean


def _held(cell: Cell) -> float:
    return cell.held_out


def _labels(cell: Cell) -> float:
    return float(cell.labels)


def _mean(cells: dict[int, Cell], of: Callable[[Cell], float]) -> float:
    return float(np.mean([of(cell) for cell in cells.values()]))


def _mean_over(cells: dict[int, Cell], others: dict[int, Cell], of: Callable[[Cell], float]) -> float:
    """Mean over the seeds that both have."""
    return float(np.mean([of(cells[seed]) for seed in cells if seed in others]))


def _spread(cells: dict[int, Cell], of: Callable[[Cell], float]) -> float:
    return float(np.std([of(cell) for cell in cells.values()], ddof=1)) if len(cells) > 1 else 0.0


def _both(cells: dict[int, Cell]) -> str:
    return f"{_mean(cells, _stream):.3f} ± {_spread(cells, _stream):.3f} / {_mean(cells, _held):.3f}"


def _low(mine: dict[int, Cell], theirs: dict[int, Cell], of: Callable[[Cell], float]) -> float:
    """Lower end of the 95 % interval of the paired difference."""
    return _interval(np.array([of(mine[seed]) - of(theirs[seed]) for seed in sorted(set(mine) & set(theirs))]))[0]


def _interval(values: FloatArray) -> tuple[float, float]:
    if len(values) < 2:
        return float("nan"), float("nan")
    half = float(stats.t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values)))
    return float(values.mean()) - half, float(values.mean()) + half


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(cells) + " |" for cells in (head, *rows)]
    return "\n".join([lines[0], "|" + " --- |" * len(head), *lines[1:]])


def _draw(results: Results, path: Path) -> None:
    """Precision against labels of each method, one panel a set: up and left is better."""
    import altair as alt
    import polars as pl

    from riffler.evaluation.charts import save_chart, styled

    shown = ("ActiveTopK thrifty", OURS, RIVAL, "exponential", "uniform")
    rows = [
        {"data": one.title, "method": name, "labels": _mean(cells, _labels), "precision": _mean(cells, _stream)}
        for one, kind in _places(results)
        if kind == "50"
        for name in shown
        if (cells := results.of(one.title, kind, name))
    ]
    if not rows:
        return
    points = (
        alt.Chart(pl.DataFrame(rows))
        .mark_point(filled=True, size=70)
        .encode(
            x=alt.X("labels:Q", scale=alt.Scale(type="log"), title="labels bought"),
            y=alt.Y("precision:Q", title="precision at 50"),
            color=alt.Color("method:N", sort=list(shown), legend=alt.Legend(orient="top", title=None)),
            shape=alt.Shape("method:N", sort=list(shown), legend=None),
            tooltip=["data", "method", "labels", "precision"],
        )
        .properties(width=180, height=140)
        .facet(alt.Facet("data:N", title=None, sort=[one.title for one in active_sets.SETS]), columns=4)
        .resolve_scale(x="independent", y="independent")
    )
    save_chart(styled(points, "What labels buy: up and to the left is better"), path)
