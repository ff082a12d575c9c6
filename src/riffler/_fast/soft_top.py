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

from riffler._fast.rows import REORDER

BLOCK = 512


# Every loop over the rows is free of branches and library calls, so that it runs in vector registers; ``cut`` is what
# makes the cubic step 0 below -1 and 1 above 1.


@njit(cache=True, inline="always")
def _cut(u):
    u = u if u < 1.0 else 1.0
    return u if u > -1.0 else -1.0


@njit(cache=True, fastmath=REORDER)
def _spread(scores, weight, rows_in):
    """Total weight, mean and standard deviation; sums run from the first score so that they lose no digits."""
    shift = scores[0]
    total = 0.0
    first = 0.0
    second = 0.0
    for i in range(scores.shape[0]):
        here = weight[i] * rows_in[i]
        off = scores[i] - shift
        total += here
        first += here * off
        second += here * off * off
    mean = first / total
    return total, shift + mean, math.sqrt(max(second / total - mean * mean, 0.0))


@njit(cache=True, fastmath=REORDER, error_model="numpy")  # Python's test for division by 0 would be a branch
def _logistic(scores, labels, weight, rows_in, bias, part, slopes):
    """Add up ``part * weight * log(1 + exp(-margin))`` and write its slope in each score; no branch, no library call.

    exp(-a) is the 64th power of a polynomial of exp(-a / 64), log(1 + s) the series of the inverse hyperbolic tangent:
    both are right to about 1e-9, and the loop runs in vector registers.
    """
    value = 0.0
    total_slope = 0.0
    for i in range(scores.shape[0]):
        sign = 2.0 * labels[i] - 1.0
        margin = sign * (scores[i] + bias)
        distance = abs(margin)
        x = (distance if distance < 45.0 else 45.0) / -64.0
        small = 1.0 + x * (
            1.0 + x / 2 * (1.0 + x / 3 * (1.0 + x / 4 * (1.0 + x / 5 * (1.0 + x / 6 * (1.0 + x / 7 * (1.0 + x / 8))))))
        )
        small *= small
        small *= small
        small *= small
        small *= small
        small *= small
        small *= small
        r = small / (2.0 + small)
        q = r * r
        log1p = (
            2.0
            * r
            * (
                1.0
                + q
                * (
                    1 / 3
                    + q * (1 / 5 + q * (1 / 7 + q * (1 / 9 + q * (1 / 11 + q * (1 / 13 + q * (1 / 15 + q / 17))))))
                )
            )
        )
        chance = (small if margin > 0.0 else 1.0) / (1.0 + small)
        here = part * weight[i] * rows_in[i]
        value += here * (log1p + (0.0 if margin > 0.0 else distance))
        slope = -here * sign * chance
        total_slope += slope
        slopes[i] = slope
    return value, total_slope


@njit(cache=True, fastmath=REORDER)
def _let_in(scores, weight, rows_in, mean, unit, threshold, width):
    """Weight that the soft step lets in, and minus its slope in the threshold times the width."""
    count = 0.0
    density = 0.0
    stretch = unit / width
    offset = mean * stretch + threshold / width
    for i in range(scores.shape[0]):
        u = _cut(scores[i] * stretch - offset)
        here = weight[i] * rows_in[i]
        count += here * (0.5 + u * (0.75 - 0.25 * u * u))
        density += here * 0.75 * (1.0 - u * u)
    return count, density


@njit(cache=True)
def _threshold(scores, weight, rows_in, mean, unit, k, width, guess):
    """Solve for t by Newton steps kept inside a bracket; what is let in falls with t."""
    low, high = -np.inf, np.inf
    t = guess
    for _ in range(60):
        count, density = _let_in(scores, weight, rows_in, mean, unit, t, width)
        excess = count - k
        if abs(excess) <= 1e-8 * k:
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


@njit(cache=True, fastmath=REORDER)
def _top_sums(scores, labels, weight, rows_in, mean, unit, threshold, k, width):
    """Soft precision, mean label under the density at the threshold, and the slope's part along the scores."""
    hits = 0.0
    density = 0.0
    density_hits = 0.0
    along = 0.0
    along_hits = 0.0
    for i in range(scores.shape[0]):
        z = (scores[i] - mean) * unit
        u = _cut((z - threshold) / width)
        here = weight[i] * rows_in[i]
        hits += here * labels[i] * (0.5 + u * (0.75 - 0.25 * u * u))
        bump = here * 0.75 * (1.0 - u * u)
        density += bump
        density_hits += bump * labels[i]
        along += bump * z
        along_hits += bump * labels[i] * z
    middle = density_hits / density if density > 0.0 else 0.0
    return hits / k, middle, (along_hits - middle * along) / (k * width)


@njit(cache=True, fastmath=REORDER)
def _add_top(scores, labels, weight, rows_in, mean, unit, threshold, width, middle, drift, pull, height, slopes):
    """Add the slope of the soft precision: ``drift`` along the scores, ``pull`` by label near the threshold."""
    for i in range(scores.shape[0]):
        z = (scores[i] - mean) * unit
        u = _cut((z - threshold) / width)
        along = z * drift - 0.75 * (1.0 - u * u) * (labels[i] - middle) * pull
        slopes[i] += height * weight[i] * rows_in[i] * along


@njit(cache=True)
def mixed_slopes(scores, labels, weight, rows_in, k, width, order, prior_loss, bias, guess):
    """Overwrite one column of scores with the slope of J in each; return (J, slope in the bias, threshold).

    ``rows_in`` marks the rows that count, ``order`` in [0, 1] is the weight of the logistic part, ``guess`` a starting
    threshold.
    """
    n = scores.shape[0]
    total, mean, spread = _spread(scores, weight, rows_in)
    top = 1.0 - order
    value = top
    bias_slope = 0.0
    threshold = guess
    sharp = top > 0.0 and spread > 0.0
    middle, drift, unit = 0.0, 0.0, 0.0
    if sharp:
        unit = 1.0 / spread
        threshold = _threshold(scores, weight, rows_in, mean, unit, k, width, guess)
        precision, middle, drift = _top_sums(scores, labels, weight, rows_in, mean, unit, threshold, k, width)
        value = top * (1.0 - precision)
    slopes = np.empty(BLOCK)
    for start in range(0, n, BLOCK):
        stop = min(start + BLOCK, n)
        if order > 0.0:
            loss, slope_sum = _logistic(
                scores[start:stop], labels[start:stop], weight[start:stop], rows_in[start:stop],
                bias, order / (total * prior_loss), slopes,
            )  # fmt: skip
            value += loss
            bias_slope += slope_sum
        else:
            slopes[:] = 0.0
        if sharp:
            _add_top(
                scores[start:stop], labels[start:stop], weight[start:stop], rows_in[start:stop], mean, unit,
                threshold, width, middle, drift / total, 1.0 / (k * width), top * unit, slopes,
            )  # fmt: skip
        scores[start:stop] = slopes[: stop - start]
    return value, bias_slope, threshold
