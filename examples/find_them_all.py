"""Find all docstrings about statistics among those of the installed packages, and stop when that is proved.

    python examples/find_them_all.py

A person would answer in place of ``truth``; here the subpackage that a docstring comes from is the answer.
"""

from __future__ import annotations

from riffler import ActiveSearch
from riffler.data.docstrings import docstrings

ITEMS = docstrings(most=3000)
TOPICS = ITEMS.columns["topic"].to_list()
TRUTH = {name: int(topic == "scipy.stats") for name, topic in zip(ITEMS.ids, TOPICS, strict=True)}


def main() -> None:
    search = ActiveSearch(
        ITEMS, description="probability distributions and statistical tests", stopping="control", target=0.9, seed=0
    )
    while not (decision := search.estimate()).stop:
        ids = search.suggest(20)
        search.answer(ids, [TRUTH[one] for one in ids])
        progress = search.progress()
        if progress.round % 10 == 0:
            print(f"{progress.n_reviewed:,} read, {progress.n_relevant} found. {search.estimate().reason}")
    progress = search.progress()
    print(decision.reason)
    print(f"Read {progress.n_reviewed:,} of {progress.n_items:,}, found {progress.n_relevant}.")
    print(f"There are {sum(TRUTH.values())}, which nobody knew.")


if __name__ == "__main__":
    main()
