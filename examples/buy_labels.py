"""Find the handwritten eights batch by batch, paying for labels: what the schemes reach, and what they cost."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_digits

from riffler import ActivePerceptronAtK, ArrayOracle
from riffler.evaluation.active_runs import run_many
from riffler.evaluation.active_stream import random_stream
from riffler.stopping import claim_top

K, N_RUNS = 10, 5


def main() -> None:
    X, digit = load_digits(return_X_y=True)
    relevant = (digit == 8).astype(int)

    print(f"precision at {K} over the batches from the second on, and labels bought; {N_RUNS} runs each")
    for sampler in ("sequential", "exponential", "inverse", "uniform"):

        def learner(seed: int, sampler: str = sampler) -> ActivePerceptronAtK:
            return ActivePerceptronAtK(k=K, sampler=sampler, n_queries="k", random_state=seed)

        runs = run_many(learner, lambda seed: random_stream(X, relevant, seed, n_batches=7), n_runs=N_RUNS)
        precision = np.mean([run.mean_precision for run in runs])
        n_labels = np.mean([run.n_labels for run in runs])
        print(f"{sampler:12}  {precision:.3f}   {n_labels:4.0f} labels of {len(relevant)}")

    # One stream, batch by batch; a floor gives every row a chance, so that something can be said about what was missed.
    oracle = ArrayOracle(relevant, budget=600)
    ranker = ActivePerceptronAtK(k=K, floor=0.1, random_state=0)
    for rows in random_stream(X, relevant, seed=0, n_batches=7, held_out=0.0).batches:
        step = ranker.step(X[rows], oracle, items=rows.tolist())
        print(f"batch {step.round + 1}: {step.precision:.2f} of the top are eights; {oracle.n_asked} labels so far")
    print(claim_top(oracle.ledger).in_words())


if __name__ == "__main__":
    main()
