"""Find the keys and values of JSON lines, one object a line, without making anything of them."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
from __future__ import annotations

import numpy as np
from numba import njit

LINE_FEED, RETURN, TAB, BLANK = 10, 13, 9, 32
QUOTE, COMMA, COLON, BACKSLASH = 34, 44, 58, 92
OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT = 91, 93, 123, 125
LETTER_F, LETTER_N, LETTER_T = 102, 110, 116
NULL, BOOLEAN, NUMBER, TEXT, LIST, OBJECT = 1, 2, 4, 8, 16, 32
"""Kinds of values, as bits."""

LINE, KEY, KEY_END, VALUE, VALUE_END, KIND = 0, 1, 2, 3, 4, 5
"""Columns of a table of members: number of the line, where key and value begin and end with their marks, kind."""

FNV_START, FNV_PRIME = np.uint64(14695981039346656037), np.uint64(1099511628211)


@njit(cache=True, nogil=True)
def find_members(data, members, hashes):
    """Fill in the members of the objects of all lines, as far as there is room, and hashes of their keys.

    Return how many members there are. A line that is no JSON has those before its fault.
    """
    n = 0
    line = 0
    p = 0
    size = data.shape[0]
    while p < size:
        p = _skip_blanks(data, p)
        more = p < size and data[p] == OPEN_OBJECT
        p += more
        while more:
            key = _skip_blanks(data, p)
            if key >= size or data[key] != QUOTE:
                break
            key_end = _end_of_value(data, key)
            colon = _skip_blanks(data, key_end)
            if colon >= size or data[colon] != COLON:
                break
            value = _skip_blanks(data, colon + 1)
            value_end = _end_of_value(data, value)
            if value_end == value:
                break
            if n < members.shape[0]:
                members[n, LINE], members[n, KIND] = line, _kind(data[value])
                members[n, KEY], members[n, KEY_END] = key, key_end
                members[n, VALUE], members[n, VALUE_END] = value, value_end
                hashes[n] = _hash(data, key, key_end)
            n += 1
            p = _skip_blanks(data, value_end)
            more = p < size and data[p] == COMMA
            p += more
        while p < size and data[p] != LINE_FEED:
            p += 1
        p += 1
        line += 1
    return n


@njit(cache=True, nogil=True)
def write_objects(data, members, n_lines, out):
    """Write an object a line of some members, which are in the order of their lines; return how many bytes."""
    end = 0
    at = 0
    for line in range(n_lines):
        out[end] = OPEN_OBJECT
        end += 1
        is_first = True
        while at < members.shape[0] and members[at, LINE] == line:
            if not is_first:
                out[end] = COMMA
                end += 1
            is_first = False
            end = _copy(data, members[at, KEY], members[at, KEY_END], out, end)
            out[end] = COLON
            end = _copy(data, members[at, VALUE], members[at, VALUE_END], out, end + 1)
            at += 1
        out[end] = CLOSE_OBJECT
        out[end + 1] = LINE_FEED
        end += 2
    return end


@njit(cache=True, nogil=True)
def _copy(data, start, stop, out, end):
    for p in range(start, stop):
        out[end] = data[p]
        end += 1
    return end


@njit(cache=True, nogil=True)
def _skip_blanks(data, p):
    while p < data.shape[0] and (data[p] == BLANK or data[p] == TAB or data[p] == RETURN):
        p += 1
    return p


@njit(cache=True, nogil=True)
def _end_of_value(data, start):
    """Where the value ends that begins at ``start``: with its line, if not before; ``start`` where there is none."""
    p = start
    depth = 0
    while p < data.shape[0]:
        c = data[p]
        if c == QUOTE:
            p = _end_of_text(data, p)
            if depth == 0:
                return p
            continue
        if c in (OPEN_LIST, OPEN_OBJECT):
            depth += 1
        elif c in (CLOSE_LIST, CLOSE_OBJECT):
            if depth == 0:  # that of the object around
                return p
            depth -= 1
            if depth == 0:
                return p + 1
        elif c == LINE_FEED or (depth == 0 and c in (COMMA, COLON, BLANK, TAB, RETURN)):
            return p
        p += 1
    return p


@njit(cache=True, nogil=True)
def _end_of_text(data, start):
    """Behind the mark that closes a text, or where its line ends."""
    p = start + 1
    size = data.shape[0]
    while p < size:
        c = data[p]
        if c > BACKSLASH:  # most letters
            p += 1
        elif c == QUOTE:
            return p + 1
        elif c == LINE_FEED:
            return p
        elif c == BACKSLASH and p + 1 < size and data[p + 1] != LINE_FEED:
            p += 2
        else:
            p += 1
    return p


@njit(cache=True, nogil=True)
def _kind(first):
    if first == QUOTE:
        return TEXT
    if first == OPEN_LIST:
        return LIST
    if first == OPEN_OBJECT:
        return OBJECT
    if first == LETTER_N:
        return NULL
    if first in (LETTER_T, LETTER_F):
        return BOOLEAN
    return NUMBER


@njit(cache=True, nogil=True)
def _hash(data, start, stop):
    found = FNV_START
    for p in range(start, stop):
        found = (found ^ np.uint64(data[p])) * FNV_PRIME
    return found
