"""Quality of the rankers at the top, on many sets, with both sides in one run."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any

import methods as m
import numpy as np
import sets
from threadpoolctl import threadpool_limits

import riffler
from riffler import paired_bootstrap, precision_at_k, roc_auc
from riffler.data import atomic_write
from riffler.records import FloatArray, IntArray

FLAGSHIP, FLAGSHIP_RBF = "TopKRanker", "TopKRanker rbf"
PEERS = ("LogisticRegression", "LinearSVC", "SGDClassifier")
N_RESAMPLES = 1000


@dataclass(frozen=True, slots=True)
class Cell:
    """One method on one set at one k and seed."""

    data: str
    k: str
    seed: int
    method: str
    family: str
    precision: float
    auc: float
    validation: float
    seconds: float
    chosen: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Duel:
    """The flagship against one other linear method on one test part."""

    data: str
    k: str
    seed: int
    rival: str
    difference: float
    p_worse: float  # chance, under the bootstrap, of a difference of 0 or more


def run_set(source: sets.Source, seed: int, family: str) -> dict[str, Any]:
    """All methods of one family on one split."""
    split = sets.load(source, seed)
    if split is None:
        return {"cells": [], "duels": []}
    labels = split.y[split.test]
    ks: list[int | float] = [0.25, *(k for k in (50, 300) if labels.sum() >= 2 * k)]
    cells: list[Cell] = []
    outcomes: dict[tuple[str, str], m.Outcome] = {}
    for method in (method for method in m.methods() if method.family == family):
        # the non-linear ones take longest: they run at the share only
        for outcome in m.run(method, split, ks if family == "linear" else ks[:1], seed):
            precision = precision_at_k(labels, outcome.scores, outcome.k)
            auc = roc_auc(labels, outcome.scores)
            place = (split.title, str(outcome.k), seed, method.name, family)
            cells.append(Cell(*place, precision, auc, outcome.validation, outcome.seconds, outcome.chosen))
            outcomes[method.name, str(outcome.k)] = outcome
    duels = _duels(split.title, seed, labels, ks, outcomes)
    return {"cells": [asdict(cell) for cell in cells], "duels": [asdict(duel) for duel in duels]}


def _duels(
    title: str,
    seed: int,
    labels: IntArray,
    ks: list[int | float],
    outcomes: dict[tuple[str, str], m.Outcome],
) -> Iterable[Duel]:
    for k in ks:
        ours = outcomes.get((FLAGSHIP, str(k)))
        for rival in PEERS:
            theirs = outcomes.get((rival, str(k)))
            if ours is None or theirs is None:
                continue
            found = paired_bootstrap(
                precision_at_k, labels, ours.scores, theirs.scores, n_resamples=N_RESAMPLES, seed=seed, k=k
            )
            # the two-sided p-value doubles the smaller tail; tell which tail that was by the interval's middle
            lower_tail = found.low + found.high <= 0
            one_sided = found.p_value / 2 if lower_tail else 1 - found.p_value / 2
            yield Duel(title, str(k), seed, rival, found.difference, one_sided)


def run(
    seeds: Sequence[int], only_sets: Sequence[str], families: Sequence[str], workers: int, folder: Path, *, resume: bool
) -> dict[str, Any]:
    """Every set, seed and family in ``workers`` processes; each result is kept in the folder, so a run can go on."""
    sources = [source for source in sets.SOURCES if not only_sets or source.title in only_sets]
    folder.mkdir(parents=True, exist_ok=True)
    found: dict[str, Any] = {"cells": [], "duels": []}
    waiting = []
    code = code_in_use()
    for seed, family, source in product(seeds, families, sources):
        kept = folder / f"{source.title.replace(':', '-')}.{family}.{seed}.json"
        earlier = json.loads(kept.read_text(encoding="utf-8")) if resume and kept.exists() else {}
        if earlier.get("code") == code:
            _add(found, earlier)
        else:
            waiting.append((source, seed, family, kept))
    with ProcessPoolExecutor(workers, initializer=threadpool_limits, initargs=(1,)) as pool:
        jobs = {pool.submit(run_set, *job[:3]): job for job in waiting}
        for number, job in enumerate(as_completed(jobs), 1):
            source, seed, family, kept = jobs[job]
            result = job.result()
            _add(found, result)
            if result["cells"]:
                with atomic_write(kept) as draft:
                    draft.write_text(json.dumps({"code": code, **result}, default=float), encoding="utf-8")
            state = "done" if result["cells"] else "not on this machine"
            print(f"[{number}/{len(jobs)}] {source.title} {family} seed {seed}: {state}", file=sys.stderr, flush=True)
    return found


def code_in_use() -> str:
    """A fingerprint of the rankers and of the benchmark: results of other code are not taken."""
    folders = [Path(riffler.__file__).parent, Path(__file__).parent]
    files = sorted(file for folder in folders for file in folder.rglob("*.py"))
    return sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:16]


def _add(found: dict[str, Any], result: dict[str, Any]) -> None:
    for name in found:
        found[name] += result[name]


def joined(p_values: Sequence[float]) -> float:
    """Combine p-values that may depend on each other: Cauchy combination."""
    inside = np.clip(p_values, 1e-6, 1 - 1e-6)
    return float(0.5 - np.arctan(np.mean(np.tan((0.5 - inside) * np.pi))) / np.pi)


def holm(p_values: FloatArray) -> FloatArray:
    """Adjust p-values for looking at many: Holm's step-down."""
    order = np.argsort(p_values)
    adjusted = np.maximum.accumulate((len(p_values) - np.arange(len(p_values))) * p_values[order])
    result = np.empty_like(p_values)
    result[order] = np.minimum(adjusted, 1.0)
    return result


def summary(found: dict[str, Any]) -> dict[str, Any]:
    """What the issue of quality asks: means with intervals over sets, losses, and the ratio to LightGBM."""
    cells = found["cells"]
    result: dict[str, Any] = {}
    for k in sorted({cell["k"] for cell in cells}):
        result[f"k={k}"] = _means(cells, k)
    result["against best peer on validation"] = _losses(found)
    result["rbf against LightGBM"] = _rbf(cells)
    return result


def averages(cells: list[dict[str, Any]], k: str, measure: str) -> tuple[list[str], list[str], FloatArray]:
    """Mean over seeds as (sets, methods, values); sets that lack a method are left out."""
    mine = [cell for cell in cells if cell["k"] == k]
    names = list(dict.fromkeys(cell["method"] for cell in mine))
    titles = list(dict.fromkeys(cell["data"] for cell in mine))
    values = np.full((len(titles), len(names)), np.nan)
    for row, title in enumerate(titles):
        for column, name in enumerate(names):
            got = [cell[measure] for cell in mine if cell["data"] == title and cell["method"] == name]
            if got:
                values[row, column] = np.mean(got)
    return titles, names, values


def _means(cells: list[dict[str, Any]], k: str) -> dict[str, Any]:
    """Mean over the sets, and a bootstrap over sets of the flagship's lead on each other linear method."""
    titles, names, values = averages(cells, k, "precision")
    linear = [name for name in names if any(c["method"] == name and c["family"] == "linear" for c in cells)]
    rng = np.random.default_rng(0)
    draws = rng.integers(len(titles), size=(10_000, len(titles)))
    result: dict[str, Any] = {"sets": len(titles), "means": {}, "lead": {}}
    for column, name in enumerate(names):
        result["means"][name] = float(np.nanmean(values[:, column]))
        if name in linear and name != FLAGSHIP and FLAGSHIP in names:
            lead = values[:, names.index(FLAGSHIP)] - values[:, column]
            resampled = lead[draws].mean(axis=1)
            low, high = np.quantile(resampled, [0.025, 0.975])
            result["lead"][name] = {"mean": float(lead.mean()), "low": float(low), "high": float(high)}
    return result


def _losses(found: dict[str, Any]) -> dict[str, Any]:
    """Sets where the flagship is worse than the peer that is best on validation.

    The seeds draw other splits of the same rows, so their p-values depend on each other; they are joined by the Cauchy
    combination, which allows that.
    """
    cells, duels = found["cells"], found["duels"]
    tests: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for data, k, seed in sorted({(duel["data"], duel["k"], duel["seed"]) for duel in duels}):
        peers = [c for c in cells if (c["data"], c["k"], c["seed"]) == (data, k, seed) and c["method"] in PEERS]
        best = max(peers, key=lambda cell: float(cell["validation"]))
        duel = next(d for d in duels if (d["data"], d["k"], d["seed"], d["rival"]) == (data, k, seed, best["method"]))
        tests.setdefault((data, k), []).append((duel["difference"], duel["p_worse"]))
    keys = list(tests)
    p_values = np.array([joined([p for _, p in tests[key]]) for key in keys])
    adjusted = holm(p_values)
    rows: list[dict[str, Any]] = [
        {
            "data": data,
            "k": k,
            "difference": float(np.mean([d for d, _ in tests[data, k]])),
            "p": float(p),
            "holm": float(q),
        }
        for (data, k), p, q in zip(keys, p_values, adjusted, strict=True)
    ]
    return {"tests": len(rows), "significant losses": [r for r in rows if r["holm"] < 0.05], "rows": rows}


def _rbf(cells: list[dict[str, Any]]) -> dict[str, Any]:
    titles, names, values = averages(cells, "0.25", "precision")
    if FLAGSHIP_RBF not in names or "LightGBM" not in names:
        return {}
    ours, theirs = values[:, names.index(FLAGSHIP_RBF)], values[:, names.index("LightGBM")]
    losses = {
        title: {FLAGSHIP_RBF: float(our), "LightGBM": float(their)}
        for title, our, their in zip(titles, ours, theirs, strict=True)
        if float(our) < float(their)
    }
    means = float(ours.mean()), float(theirs.mean())
    return {FLAGSHIP_RBF: means[0], "LightGBM": means[1], "ratio": means[0] / means[1], "losses": losses}
