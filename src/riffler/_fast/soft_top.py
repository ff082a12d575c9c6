"""Slopes of the objective that TopKRanker minimises, for one column of scores, in place.

    J = (1 - order) * (1 - soft precision at k)  +  order * (logistic loss / loss of knowing only the prevalence)

Soft precision at k replaces "is among the first k" by a smooth step around the threshold t that lets exactly k units
of weight in: with z the scores in units of their own spread,

    P = sum_i weight_i y_i step((z_i - t) / width) / k,      sum_i weight_i step((z_i - t) / width) = k.

The step is a cubic of bounded support, so rows far from the threshold cost a comparison and no exponential. Because z
is standardised, P does not change with the length of w.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
from __future__ import annotations

import math

import numpy as np
from numba import njit


@njit(cache=True, inline="always")
def _step(u):
    """0 below -1, 1 above 1, and the cubic with zero slope at both ends between."""
    if u <= -1.0:
        return 0.0
    if u >= 1.0:
        return 1.0
    return 0.5 + 0.75 * u - 0.25 * u * u * u


@njit(cache=True)
def _spread(scores, weight, rows_in):
    total = 0.0
    mean = 0.0
    for i in range(scores.shape[0]):
        if rows_in[i]:
            total += weight[i]
            mean += weight[i] * scores[i]
    mean /= total
    variance = 0.0
    for i in range(scores.shape[0]):
        if rows_in[i]:
            variance += weight[i] * (scores[i] - mean) ** 2
    return total, mean, math.sqrt(variance / total)


@njit(cache=True)
def _threshold(scores, weight, rows_in, mean, unit, k, width, guess):
    """Solve for t by Newton steps kept inside a bracket; the count falls with t."""
    low, high = -np.inf, np.inf
    t = guess
    for _ in range(60):
        count = 0.0
        density = 0.0
        for i in range(scores.shape[0]):
            if rows_in[i]:
                u = ((scores[i] - mean) * unit - t) / width
                if u >= 1.0:
                    count += weight[i]
                elif u > -1.0:
                    count += weight[i] * (0.5 + 0.75 * u - 0.25 * u * u * u)
                    density += weight[i] * 0.75 * (1.0 - u * u)
        excess = count - k
        if abs(excess) <= 1e-9 * k:
            break
        if excess > 0.0:
            low = t
        else:
            high = t
        move = excess * width / density if density > 0.0 else math.copysign(2.0 * width, excess)
        t += min(max(move, -4.0 * width), 4.0 * width)
        if not low < t < high:
            if math.isinf(low) or math.isinf(high):
                t = (low if math.isinf(high) else high) + math.copysign(4.0 * width, excess)
            else:
                t = 0.5 * (low + high)
    return t


@njit(cache=True)
def mixed_slopes(scores, labels, weight, rows_in, k, width, order, prior_loss, bias, guess):
    """Overwrite one column of scores with the slope of J in each; return (J, slope in the bias, threshold).

    ``rows_in`` marks the rows that count, ``order`` in [0, 1] is the weight of the logistic part, ``guess`` a starting
    threshold.
    """
    n = scores.shape[0]
    total, mean, spread = _spread(scores, weight, rows_in)
    value = 0.0
    bias_slope = 0.0
    threshold = guess
    middle = 0.0
    drift = 0.0
    top = 1.0 - order
    unit = 1.0 / spread if spread > 0.0 else 0.0
    if top > 0.0 and spread > 0.0:
        threshold = _threshold(scores, weight, rows_in, mean, unit, k, width, guess)
        precision, middle, drift = _top_sums(scores, labels, weight, rows_in, mean, unit, threshold, k, width)
        value += top * (1.0 - precision)
    elif top > 0.0:
        value += top
    for i in range(n):
        if not rows_in[i]:
            scores[i] = 0.0
            continue
        slope = 0.0
        if top > 0.0 and spread > 0.0:
            z = (scores[i] - mean) * unit
            u = (z - threshold) / width
            if -1.0 < u < 1.0:
                slope -= top * unit * 0.75 * (1.0 - u * u) * (labels[i] - middle) / (k * width)
            slope += top * unit * z * drift / total
        if order > 0.0:
            sign = 1.0 if labels[i] > 0 else -1.0
            margin = sign * (scores[i] + bias)
            small = math.exp(-abs(margin))
            loss = math.log1p(small) - min(margin, 0.0)
            chance = small / (1.0 + small) if margin > 0.0 else 1.0 / (1.0 + small)
            part = order / (total * prior_loss)
            value += part * weight[i] * loss
            slope -= part * sign * chance
            bias_slope -= part * sign * chance * weight[i]
        scores[i] = weight[i] * slope
    return value, bias_slope, threshold


@njit(cache=True)
def _top_sums(scores, labels, weight, rows_in, mean, unit, threshold, k, width):
    """Soft precision, mean label under the density at the threshold, and the slope's part along the scores."""
    hits = 0.0
    density = 0.0
    density_hits = 0.0
    for i in range(scores.shape[0]):
        if rows_in[i]:
            u = ((scores[i] - mean) * unit - threshold) / width
            if u > -1.0:
                hits += weight[i] * labels[i] * _step(u)
                if u < 1.0:
                    bump = weight[i] * 0.75 * (1.0 - u * u)
                    density += bump
                    density_hits += bump * labels[i]
    middle = density_hits / density if density > 0.0 else 0.0
    drift = 0.0
    for i in range(scores.shape[0]):
        if rows_in[i]:
            z = (scores[i] - mean) * unit
            u = (z - threshold) / width
            if -1.0 < u < 1.0:
                drift += weight[i] * 0.75 * (1.0 - u * u) * (labels[i] - middle) * z
    return hits / k, middle, drift / (k * width)
