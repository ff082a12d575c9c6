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

    Return the end of the last whole one; how many are not blank lines, and how many of these say anything; where the
    first starts that has another number of fields than ``n_fields`` (-1: none) with this number; and where an
    unfinished one starts that is within quotation marks at the end of the data (-1: none).
    """
    state = BEGIN
    start, end = 0, 0
    fields = 1
    n_records, n_filled = 0, 0
    filled = False
    for p in range(data.shape[0]):
        c = data[p]
        if state == QUOTED:
            if c == QUOTE:
                state = CLOSING
            else:
                filled = True
            continue
        if c == QUOTE and state != PLAIN:  # opens a field, or is doubled within one
            filled = filled or state == CLOSING
            state = QUOTED
        elif c == separator:
            fields += 1
            state = BEGIN
        elif c == LINE_FEED:
            blank = p == start or (p == start + 1 and data[start] == RETURN)
            if not blank:
                if fields != n_fields:
                    return end, n_records, n_filled, start, fields, -1
                n_records += 1
                n_filled += filled
            start = end = p + 1
            fields = 1
            filled = False
            state = BEGIN
            if n_records == most:
                return end, n_records, n_filled, -1, 0, -1
        elif c != RETURN:
            filled = True
            state = PLAIN
        elif state == CLOSING:
            state = PLAIN
    return end, n_records, n_filled, -1, 0, start if state == QUOTED else -1
