"""Exact inference over labels that are on or off and joined to a tree: max-product, and the same for each loss.

The score of a labelling y is ``sum over labels of scores[l] * y[l]`` plus, for every edge e of the forest,
``scores[L + 4 e + 2 y[parent] + y[child]]``. These L + 4 E numbers are the *short form* of an example: x enters the
first L of them as an inner product, so that a step costs a row of x for each label that changes and no more.

Trees list their edges (parent, child), the edge into a label before those out of it. The first ``n_joints`` edges
only hold the parts of a forest together: they have no scores.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
from __future__ import annotations

from collections import namedtuple

import numpy as np
from numba import njit

from riffler._fast.rows import add_multiple, row_dot

LabelTree = namedtuple("LabelTree", ["edges", "n_joints"])

MARGIN, SLACK = 0, 1  # how the loss enters


@njit(cache=True)
def edge_score(scores, tree, n_labels, edge, above, below):
    """Score of one edge for the values of its parent and its child."""
    if edge < tree.n_joints:
        return 0.0
    return scores[n_labels + 4 * (edge - tree.n_joints) + 2 * above + below]


@njit(cache=True)
def add_short(labels, tree, factor, out):
    """Add ``factor`` times the short form of a labelling to ``out``."""
    n_labels = labels.shape[0]
    for label in range(n_labels):
        out[label] += factor * labels[label]
    for edge in range(tree.n_joints, tree.edges.shape[0]):
        parent, child = tree.edges[edge, 0], tree.edges[edge, 1]
        out[n_labels + 4 * (edge - tree.n_joints) + 2 * labels[parent] + labels[child]] += factor


@njit(cache=True)
def best_labels(scores, tree, out):
    """Write the labelling of the highest score; ties are left off."""
    n_labels, n_edges = out.shape[0], tree.edges.shape[0]
    best = np.zeros((n_labels, 2))  # of the part below a label, for its two values
    choice = np.zeros((n_edges, 2), np.int8)
    best[:, 1] = scores[:n_labels]
    for edge in range(n_edges - 1, -1, -1):
        parent, child = tree.edges[edge, 0], tree.edges[edge, 1]
        for above in range(2):
            off = best[child, 0] + edge_score(scores, tree, n_labels, edge, above, 0)
            on = best[child, 1] + edge_score(scores, tree, n_labels, edge, above, 1)
            choice[edge, above] = on > off
            best[parent, above] += max(on, off)
    for label in range(n_labels):
        out[label] = best[label, 1] > best[label, 0]
    for edge in range(n_edges):
        parent, child = tree.edges[edge, 0], tree.edges[edge, 1]
        out[child] = choice[edge, out[parent]]


@njit(cache=True)
def best_labels_of_each_count(scores, tree, truth, best, split, choice):
    """Fill ``best[l, v, k]``: the highest score below label l at value v with k labels there that are not the truth.

    ``split[e, v, k]`` of the k are below the child of edge e, whose value is ``choice[e, v, k]``.
    """
    n_labels = truth.shape[0]
    best[:] = -np.inf
    sizes = np.ones(n_labels, np.int64)
    for label in range(n_labels):
        best[label, truth[label], 0] = scores[label] * truth[label]
        best[label, 1 - truth[label], 1] = scores[label] * (1 - truth[label])
    joined = np.empty(n_labels + 1)
    for edge in range(tree.edges.shape[0] - 1, -1, -1):
        parent, child = tree.edges[edge, 0], tree.edges[edge, 1]
        for above in range(2):
            joined[:] = -np.inf
            for below in range(2):
                score = edge_score(scores, tree, n_labels, edge, above, below)
                for k in range(sizes[parent] + 1):
                    for m in range(sizes[child] + 1):
                        found = best[parent, above, k] + best[child, below, m] + score
                        if found > joined[k + m]:
                            joined[k + m], split[edge, above, k + m], choice[edge, above, k + m] = found, m, below
            best[parent, above] = joined
        sizes[parent] += sizes[child]


@njit(cache=True)
def slack_labels(scores, tree, truth, cost, out):
    """Write the labelling that maximises loss * (1 - score of the truth + its score); each wrong label costs ``cost``.

    For k wrong labels the best is the one of the highest score; the largest of these is the largest of all.
    """
    n_labels, n_edges = truth.shape[0], tree.edges.shape[0]
    best = np.empty((n_labels, 2, n_labels + 1))
    split, choice = np.zeros((n_edges, 2, n_labels + 1), np.int64), np.zeros((n_edges, 2, n_labels + 1), np.int8)
    best_labels_of_each_count(scores, tree, truth, best, split, choice)
    root = tree.edges[0, 0] if n_edges else 0
    true_score, most = best[root, truth[root], 0], 0.0
    wrong = np.zeros(n_labels, np.int64)  # how many labels below each are to be wrong
    out[root] = truth[root]
    for k in range(1, n_labels + 1):
        for value in range(2):
            violation = k * cost * (1.0 - true_score + best[root, value, k])
            if violation > most:
                most, out[root], wrong[root] = violation, value, k
    for edge in range(n_edges):  # parts are taken off in the opposite order of their joining
        parent, child = tree.edges[edge, 0], tree.edges[edge, 1]
        value, k = out[parent], wrong[parent]
        out[child], wrong[child] = choice[edge, value, k], split[edge, value, k]
        wrong[parent] -= wrong[child]


@njit(cache=True)
def violating_labels(scores, tree, truth, costs, rescaling, out):
    """Write the labelling that violates the margin of the truth most."""
    if rescaling == SLACK:
        slack_labels(scores, tree, truth, costs[0], out)
        return
    augmented = scores.copy()
    for label in range(truth.shape[0]):
        augmented[label] += costs[label] * (1 - 2 * truth[label])
    best_labels(augmented, tree, out)


@njit(cache=True)
def cost_of(truth, other, costs):
    """Sum of the costs of the labels that differ."""
    total = 0.0
    for label in range(truth.shape[0]):
        if truth[label] != other[label]:
            total += costs[label]
    return total


@njit(cache=True)
def best_labels_of_all(gains, table_scores, tree, out):
    """Write the best labelling of every row of ``gains`` (n, L)."""
    n_labels = gains.shape[1]
    scores = np.empty(n_labels + table_scores.shape[0])
    scores[n_labels:] = table_scores
    for i in range(gains.shape[0]):
        scores[:n_labels] = gains[i]
        best_labels(scores, tree, out[i])


@njit(cache=True)
def violations_of_all(gains, table_scores, tree, truths, costs, rescaling, differences, losses):
    """Write, for every row, the short form of the truth less that of the most violating labelling, and its loss.

    With slack rescaling differences are multiplied by the loss.
    """
    n_labels = gains.shape[1]
    scores = np.empty(n_labels + table_scores.shape[0])
    scores[n_labels:] = table_scores
    other = np.empty(n_labels, np.int8)
    for i in range(gains.shape[0]):
        scores[:n_labels] = gains[i]
        violating_labels(scores, tree, truths[i], costs, rescaling, other)
        losses[i] = cost_of(truths[i], other, costs)
        factor = losses[i] if rescaling == SLACK else 1.0
        differences[i] = 0.0
        add_short(truths[i], tree, factor, differences[i])
        add_short(other, tree, -factor, differences[i])


@njit(cache=True)
def write_scores(rows, i, label_weights, table_scores, scores):
    """Write the scores of row i in short form; the last column of the label weights is their constant."""
    n_labels, n_columns = label_weights.shape
    for label in range(n_labels):
        scores[label] = row_dot(rows, i, label_weights[label]) + label_weights[label, n_columns - 1]
    scores[n_labels:] = table_scores


@njit(cache=True)
def label_steps(
    rows, squares, order, truths, costs, rescaling, tree, scale, label_weights, table_scores, shares, offsets, late,
    n_steps,
):  # fmt: skip
    """Make a step of block-coordinate Frank-Wolfe for each example in this order.

    ``shares`` (n, L + 4 E) hold the examples' parts of the weights in short form, ``late`` what their averages lack;
    ``squares`` are 1 + |x|^2. Returns the sum of the gaps before each step, the rise of the offset, and what
    its average lacks of it.
    """
    n_labels = truths.shape[1]
    scores, towards = np.empty(shares.shape[1]), np.empty(shares.shape[1])
    other = np.empty(n_labels, np.int8)
    sum_of_gaps, risen, late_risen = 0.0, 0.0, 0.0
    for i in order:
        n_steps += 1
        write_scores(rows, i, label_weights, table_scores, scores)
        violating_labels(scores, tree, truths[i], costs, rescaling, other)
        loss = cost_of(truths[i], other, costs)
        factor = scale * loss if rescaling == SLACK else scale
        towards[:] = -shares[i]
        add_short(truths[i], tree, factor, towards)
        add_short(other, tree, -factor, towards)
        rise = scale * loss - offsets[i]
        gap = rise - towards @ scores
        if gap <= 0.0:
            continue
        sum_of_gaps += gap
        square = squares[i] * (towards[:n_labels] @ towards[:n_labels]) + towards[n_labels:] @ towards[n_labels:]
        step = min(1.0, gap / square) if square > 0.0 else 1.0
        take_step(rows, i, step, towards, label_weights, table_scores)
        shares[i] += step * towards
        n_before = n_steps * (n_steps - 1) / 2.0  # sum of the counts of the steps before this one
        late[i] += n_before * step * towards
        offsets[i] += step * rise
        risen += step * rise
        late_risen += n_before * step * rise
    return sum_of_gaps, risen, late_risen


@njit(cache=True)
def take_step(rows, i, step, towards, label_weights, table_scores):
    """Add ``step`` times a vector in short form to the weights."""
    n_labels, n_columns = label_weights.shape
    for label in range(n_labels):
        if towards[label] != 0.0:
            add_multiple(rows, i, step * towards[label], label_weights[label])
            label_weights[label, n_columns - 1] += step * towards[label]
    for place in range(table_scores.shape[0]):
        table_scores[place] += step * towards[n_labels + place]
