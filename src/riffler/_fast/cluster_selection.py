"""Pick one item for each draw of the clusters' rates, looking only at items whose bound allows them to win.

``rows`` are memberships as ``CsrRows``, ``chances`` the probability of each item. An item is worth
chance · Σ_k membership_k · rate_k. Every sum runs over the same entries in the same order, and rounding keeps order, so
a value under rates that are nowhere larger is never larger: the bounds hold to the last bit.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
from __future__ import annotations

from numba import njit

from riffler._fast.rows import row_dot


@njit(cache=True)
def mark_live(rows, reviewed, live):
    """Mark the clusters that have a member which is not reviewed."""
    for i in range(reviewed.shape[0]):
        if not reviewed[i]:
            for p in range(rows.indptr[i], rows.indptr[i + 1]):
                live[rows.indices[p]] = True


@njit(cache=True)
def worth_of(rows, chances, items, rates, out):
    """Write what each of the items is worth under one set of rates into ``out``."""
    for a in range(items.shape[0]):
        out[a] = chances[items[a]] * row_dot(rows, items[a], rates)


@njit(cache=True)
def main_clusters(rows, n_rows, main, share, rest):
    """Write for each row its main cluster, its share in that, and its share in all others together."""
    for i in range(n_rows):
        main[i], share[i], rest[i] = 0, 0.0, 0.0
        for p in range(rows.indptr[i], rows.indptr[i + 1]):
            if rows.data[p] > share[i]:
                rest[i] += share[i]
                main[i], share[i] = rows.indices[p], rows.data[p]
            else:
                rest[i] += rows.data[p]


@njit(cache=True)
def pick_for_draws(rows, chances, ties, upper, main, share, rest, draws, taken, picked):
    """Write the place of the best row of each draw into ``picked``, each row once; of equal ones the lower tie.

    Rows stand in falling order of ``upper``, which bounds what they are worth under any of the draws. A second bound
    holds for one draw: the rate of the row's main cluster, and for the rest of it the highest rate of all.
    """
    for b in range(draws.shape[0]):
        rates = draws[b]
        highest = rates.max()
        best, best_at = -1.0, -1
        for i in range(upper.shape[0]):
            if upper[i] < best:
                break
            # the sum is rounded otherwise than the worth it bounds: a little more than any rounding is added
            bound = chances[i] * (share[i] * rates[main[i]] + rest[i] * highest) * (1.0 + 1e-9)
            if taken[i] or bound < best:
                continue
            worth = chances[i] * row_dot(rows, i, rates)
            if worth > best or (worth == best and ties[i] < ties[best_at]):
                best, best_at = worth, i
        taken[best_at] = True
        picked[b] = best_at
