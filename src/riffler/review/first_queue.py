"""What can be shown before the search has read the texts: its first control documents, and what fits the aim."""

from __future__ import annotations

from itertools import chain

import numpy as np

from riffler.data.collection import Collection
from riffler.data.texts import Texts
from riffler.review.queue import Proposal
from riffler.review.store import Review
from riffler.search.loop import ActiveSearch
from riffler.stopping import control_order

WHY_DRAWN = "drawn at random, to measure what is still missing"
WHY_FITTING = "has words of the description"
WHY_ANY = "any document, to begin with"


def first_proposals(review: Review, n: int, *, ahead: int) -> list[Proposal]:
    """Return at most ``ahead`` documents for a review whose search has taken in nothing yet; n as in ``refresh``.

    Control documents are those that the search itself draws first: their order depends on the ids and the seed alone.
    What follows them was chosen without their answers, as it has to be for what a policy proposes.
    """
    search = _wordless(review)
    names = search.suggest(n)
    drawn = names if search.batch_origin == "control" else []
    queue = [Proposal(name, "control", 0, search.probability(name), None, WHY_DRAWN) for name in drawn]
    answered = {entry.item for entry in search.ledger}
    description = review.settings.description
    fitting = review.find_any(description, n=ahead) if description else []
    why = WHY_FITTING if fitting else WHY_ANY
    for name in fitting or _shuffled(search):
        if len(queue) < ahead and name not in drawn and name not in answered:
            queue.append(Proposal(name, "policy", 0, 1.0, None, why))
    return queue


def _wordless(review: Review) -> ActiveSearch:
    """Return a search over the ids alone: good for drawing, and for nothing else."""
    import polars as pl

    strata = review.strata()
    ids = tuple(chain.from_iterable(strata.values()))
    blank = Texts(pl.Series([""]).new_from_index(0, len(ids)))
    collection = Collection(ids, blank, blank, None, pl.DataFrame(), "")
    settings = {**review.settings.for_search(), "description": None, "clusters": None}
    rows = np.zeros((len(ids), 1), dtype=np.float32)
    search = ActiveSearch(collection, features=rows, strata=list(strata.values()), **settings)
    search.take_in(review.pending())
    return search


def _shuffled(search: ActiveSearch) -> list[str]:
    ids = search.collection.ids
    return [ids[row] for row in control_order(ids, "first").tolist()]
