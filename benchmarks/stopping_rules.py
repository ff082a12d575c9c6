"""All stopping rules on simulated reviews: recall reached, reliability, cost.

``python -m benchmarks.stopping_rules [n_runs]``, from the root of the repository.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
from scipy.stats import binomtest

from riffler.stopping import (
    ControlSample,
    Elusion,
    HypergeometricRandom,
    InARow,
    OpenControl,
    Qbcb,
    StoppingRule,
    Target,
    rule_from_name,
)
from tests.stopping.reviews import Outcome, ranked_labels, run

COLLECTIONS = [  # items, relevant, gap of the scores
    (5_000, 200, 2.6),
    (5_000, 500, 3.5),
    (10_000, 200, 3.5),
    (10_000, 500, 2.6),
    (20_000, 300, 3.5),
    (20_000, 1_000, 3.0),
    (50_000, 1_000, 4.0),
    (50_000, 2_000, 3.5),
]
FEW = [(5_000, 50, 3.0), (10_000, 100, 3.5)]

RULES: dict[str, Callable[[], StoppingRule]] = {
    "control": ControlSample,
    "open-control": OpenControl,
    "qbcb": Qbcb,
    "qbcb, 100": lambda: Qbcb(100),
    "hypergeometric-random": HypergeometricRandom,
    "target": Target,
    "elusion": lambda: Elusion(InARow(400)),
    "hypergeometric": lambda: rule_from_name("hypergeometric"),
    "knee": lambda: rule_from_name("knee"),
    "budget": lambda: rule_from_name("budget"),
    "in-a-row": lambda: rule_from_name("in-a-row"),
    "half": lambda: rule_from_name("half"),
}
CERTIFICATES = ("control", "open-control", "qbcb", "qbcb, 100", "hypergeometric-random")


def main(n_runs: int, target: float = 0.95) -> None:
    results: dict[tuple[str, tuple[int, int, float]], list[Outcome]] = {}
    for collection in COLLECTIONS + FEW:
        n_items, n_relevant, gap = collection
        for name, make in RULES.items():
            print(collection, name, file=sys.stderr, flush=True)
            for seed in range(n_runs):
                rng = np.random.default_rng((seed, n_items, n_relevant))
                labels = ranked_labels(rng, n_items, n_relevant, gap)
                outcome = run(labels, make(), rng, target, batch=max(100, n_items // 100))
                results.setdefault((name, collection), []).append(outcome)
    print(f"numpy {np.__version__}; seeds 0 to {n_runs - 1}; target {target}; batches of 1 %, at least 100.")
    print(f"`python -m benchmarks.stopping_rules {n_runs}`\n")
    print("| rule | reviews | below target | p of <= 5 % | mean recall | read, share |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name in RULES:
        flat = [(one, of) for (rule, of), many in results.items() if rule == name for one in many]
        failed = sum(one.recall < target for one, _ in flat)
        p = binomtest(failed, len(flat), 0.05, alternative="greater").pvalue
        recall = np.mean([one.recall for one, _ in flat])
        share = np.mean([one.cost / of[0] for one, of in flat])
        print(f"| {name} | {len(flat)} | {failed} | {p:.3f} | {recall:.3f} | {share:.3f} |")
    print("\n| items | relevant | " + " | ".join(CERTIFICATES) + " |")
    print("| --- | --- |" + " --- |" * len(CERTIFICATES))
    for of in COLLECTIONS + FEW:
        costs = [f"{np.mean([one.cost for one in results[name, of]]):,.0f}" for name in CERTIFICATES]
        print(f"| {of[0]:,} | {of[1]:,} | " + " | ".join(costs) + " |")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
