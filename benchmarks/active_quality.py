"""Precision and price of the active rankers on many streams; each cell is kept, so a killed run goes on."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import active_sets
import numpy as np
from threadpoolctl import threadpool_limits

from riffler import (
    ActiveModifiedPerceptron,
    ActivePerceptronAtK,
    ActiveTopK,
    ArrayOracle,
    ImportanceWeightedActive,
    SelectiveSamplingPerceptron,
    precision_at_k,
)
from riffler.data import atomic_write
from riffler.evaluation.active_runs import run_stream
from riffler.evaluation.active_stream import Stream
from riffler.learners.active import ActiveRanker

FULL_ROWS = 15_000  # labels that the model with every label is trained on, at random where there are more

Make = Callable[[int, int], ActiveRanker]  # k, seed

METHODS: dict[str, Make] = {
    "ActiveTopK": lambda k, seed: ActiveTopK(k, random_state=seed),
    "ActiveTopK thrifty": lambda k, seed: ActiveTopK(k, worth=0.02, random_state=seed),
    "ActiveTopK generous": lambda k, seed: ActiveTopK(k, worth=0.0025, random_state=seed),
    "ActiveTopK linear": lambda k, seed: ActiveTopK(k, kernel="linear", random_state=seed),
    "sequential": lambda k, seed: ActivePerceptronAtK(k, sampler="sequential", random_state=seed),
    "exponential": lambda k, seed: ActivePerceptronAtK(k, sampler="exponential", random_state=seed),
    "inverse": lambda k, seed: ActivePerceptronAtK(k, sampler="inverse", random_state=seed),
    "uniform": lambda k, seed: ActivePerceptronAtK(k, sampler="uniform", random_state=seed),
    "selective sampling": lambda k, seed: SelectiveSamplingPerceptron(k, random_state=seed),
    "modified perceptron": lambda k, seed: ActiveModifiedPerceptron(k, random_state=seed),
    "IWAL": lambda k, seed: ImportanceWeightedActive(k, random_state=seed),
    # each part of ActiveTopK taken out
    "random cover": lambda k, seed: ActiveTopK(k, cover="random", random_state=seed),
    "buys the top": lambda k, seed: ActiveTopK(k, purchase="highest", random_state=seed),
    "buys the uncertain": lambda k, seed: ActiveTopK(k, purchase="uncertain", random_state=seed),
    "buys the contested": lambda k, seed: ActiveTopK(k, purchase="contested", random_state=seed),
    "no random draws": lambda k, seed: ActiveTopK(k, explore=0.0, audit=0.0, random_state=seed),
    "inverse weights": lambda k, seed: ActiveTopK(k, weighting="inverse", random_state=seed),
    "never forgets": lambda k, seed: ActiveTopK(k, alarm=np.inf, random_state=seed),
}  # fmt: skip
FULL = "every label"


@dataclass(frozen=True, slots=True)
class Cell:
    """One method on one stream: precision of each batch, labels up to each batch, precision on the held-out tenth."""

    data: str
    k: int
    kind: str  # "50" or "large"
    seed: int
    method: str
    precision: list[float]
    n_asked: list[int]
    held_out: float
    seconds: float

    @property
    def mean(self) -> float:
        """Mean precision over the batches from the second on."""
        return float(np.mean(self.precision[1:]))

    @property
    def labels(self) -> int:
        """Labels bought in all."""
        return self.n_asked[-1]


@dataclass(eq=False)
class Results:
    """Cells on disk, one JSON line each."""

    path: Path
    cells: dict[tuple[str, str, int, str], Cell] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> Results:
        """Take up what an earlier run left."""
        results = cls(path)
        if path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                results.add(Cell(**json.loads(line)))
        return results

    def add(self, cell: Cell) -> None:
        """Keep a cell."""
        self.cells[cell.data, cell.kind, cell.seed, cell.method] = cell

    def save(self) -> None:
        """Write all cells, whole or not at all."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(self.path) as draft:
            lines = (json.dumps(asdict(cell)) for cell in self.cells.values())
            draft.write_text("\n".join(lines) + "\n", encoding="utf-8")

    def of(self, data: str, kind: str, method: str) -> dict[int, Cell]:
        """Cells of one method on one set, by seed."""
        return {key[2]: cell for key, cell in self.cells.items() if key[:2] == (data, kind) and key[3] == method}


def run_cells(one: active_sets.ActiveSet, seed: int, wanted: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
    """Run (method, kind of k) pairs on one stream."""
    with threadpool_limits(limits=1):
        stream = active_sets.stream_of(one, seed)
        if stream is None:
            return []
        ks = dict(zip(("50", "large"), active_sets.ks_of(stream), strict=True))
        cells = [_cell(one.title, stream, kind, ks[kind], seed, method) for method, kind in wanted if method != FULL]
        kinds = [kind for method, kind in wanted if method == FULL]
        if kinds:
            cells += _full(one.title, stream, {kind: ks[kind] for kind in kinds}, seed)
        return [asdict(cell) for cell in cells]


def _cell(data: str, stream: Stream, kind: str, k: int, seed: int, method: str) -> Cell:
    run = run_stream(METHODS[method](k, seed), stream, ArrayOracle(stream.labels))
    numbers = [float(one) for one in run.precision], [int(one) for one in run.n_asked]
    return Cell(data, k, kind, seed, method, *numbers, float(run.held_out_precision), float(run.seconds.sum()))


def _full(data: str, stream: Stream, ks: dict[str, int], seed: int) -> list[Cell]:
    """ActiveTopK's model trained on the labels of all batches before; the same model serves every k."""
    rng = np.random.default_rng(seed)
    precision: dict[str, list[float]] = {kind: [float("nan")] for kind in ks}
    model = ActiveTopK(50, random_state=seed)
    for number in range(1, len(stream.batches) + 1):
        seen = np.concatenate(stream.batches[:number])
        rows = seen if len(seen) <= FULL_ROWS else np.sort(rng.choice(seen, FULL_ROWS, replace=False))
        model.fit(stream.X[rows], stream.labels[rows])
        if number < len(stream.batches):
            batch = stream.batches[number]
            scores = model.decision_function(stream.X[batch])
            for kind, k in ks.items():
                precision[kind].append(precision_at_k(stream.labels[batch], scores, k))
    scores = model.decision_function(stream.X[stream.held_out])
    labels = stream.labels[stream.held_out]
    n_positive = int(labels.sum())
    n_asked = np.cumsum([len(batch) for batch in stream.batches]).tolist()
    return [
        Cell(data, k, kind, seed, FULL, precision[kind], n_asked, held, 0.0)
        for kind, k in ks.items()
        for held in [precision_at_k(labels, scores, min(k, n_positive))]
    ]


def run_missing(
    results: Results,
    methods: Sequence[str],
    seeds: Sequence[int],
    sets: Sequence[active_sets.ActiveSet],
    n_jobs: int,
    kinds: Sequence[str] = ("50", "large"),
) -> None:
    """Run what is not there yet, keep each stream's cells as they come."""
    tasks = []
    for one in sets:
        for seed in seeds:
            pairs = [(method, kind) for method in methods for kind in kinds]
            wanted = [pair for pair in pairs if (one.title, pair[1], seed, pair[0]) not in results.cells]
            if wanted:
                tasks.append((one, seed, wanted))
    with ProcessPoolExecutor(n_jobs) as pool:
        futures = {pool.submit(run_cells, *task): task for task in tasks}
        for done, future in enumerate(as_completed(futures), start=1):
            for cell in future.result():
                results.add(Cell(**cell))
            results.save()
            one, seed, _ = futures[future]
            print(f"{done}/{len(tasks)} {one.title} seed {seed}", flush=True)
