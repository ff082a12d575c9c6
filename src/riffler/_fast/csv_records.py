"""Find where the records of a delimited text end, as Python's csv reader would: a quotation mark counts where a field
begins with it."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
from __future__ import annotations

from numba import njit

LINE_FEED, RETURN, QUOTE = 10, 13, 34
BEGIN, PLAIN, QUOTED, CLOSING = 0, 1, 2, 3
"""At the beginning of a field, in one without quotation marks, in one with them, behind a mark that may close it."""


@njit(cache=True, nogil=True)
def scan_records(data, separator, n_fields, most):
    """Go over up to ``most`` whole records from the first byte on.

    Return the end of the last whole one; how many are not blank lines, how many of these have a field of anything or
    of quotation marks, and how many have marks that readers take in different ways: a quotation mark within a field,
    text behind a closing one, a carriage return alone; last where the first starts that has another number of fields
    than ``n_fields`` (-1: none), with this number.
    """
    state = BEGIN
    start, end = 0, 0
    fields = 1
    n_records, n_filled, n_loose = 0, 0, 0
    filled, loose = False, False
    for p in range(data.shape[0]):
        c = data[p]
        if state == QUOTED:
            if c == QUOTE:
                state = CLOSING
            continue
        if c == QUOTE and state != PLAIN:  # opens a field, or is doubled within one
            filled = True
            state = QUOTED
        elif c == separator:
            fields += 1
            state = BEGIN
        elif c == LINE_FEED:
            blank = p == start or (p == start + 1 and data[start] == RETURN)
            if not blank:
                if fields != n_fields:
                    return end, n_records, n_filled, n_loose, start, fields
                n_records += 1
                n_filled += filled
                n_loose += loose
            start = end = p + 1
            fields = 1
            filled, loose = False, False
            state = BEGIN
            if n_records == most:
                return end, n_records, n_filled, n_loose, -1, 0
        elif c != RETURN or (p + 1 < data.shape[0] and data[p + 1] != LINE_FEED):
            loose = loose or c in (QUOTE, RETURN) or state == CLOSING
            filled = True
            state = PLAIN
    return end, n_records, n_filled, n_loose, -1, 0


@njit(cache=True, nogil=True)
def find_quoted(data, separator, is_quoted):
    """Fill in which fields of all records that are not blank lines begin with a quotation mark; return how many."""
    state = BEGIN
    start = 0
    n = 0
    opened = False
    for p in range(data.shape[0]):
        c = data[p]
        if state == QUOTED:
            if c == QUOTE:
                state = CLOSING
            continue
        if c == QUOTE and state != PLAIN:
            opened = True
            state = QUOTED
        elif c in (separator, LINE_FEED, RETURN):
            if c == separator or p > start:
                is_quoted[n] = opened
                n += 1
            if c != separator:
                start = p + 1
            opened = False
            state = BEGIN
        else:
            state = PLAIN
    if data.shape[0] > start:
        is_quoted[n] = opened
        n += 1
    return n
