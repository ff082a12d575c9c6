"""Find the words in UTF-8 texts: runs of at least two letters, digits, marks or underscores."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, inline="always")
def _decoded(data, p):
    """Code point at place p of valid UTF-8, and the number of its bytes, which are more than one."""
    first = np.int64(data[p])
    if first < 0xE0:
        return (first & 0x1F) << 6 | (data[p + 1] & 0x3F), 2
    if first < 0xF0:
        return (first & 0x0F) << 12 | np.int64(data[p + 1] & 0x3F) << 6 | (data[p + 2] & 0x3F), 3
    high = (first & 0x07) << 18 | np.int64(data[p + 1] & 0x3F) << 12
    return high | np.int64(data[p + 2] & 0x3F) << 6 | (data[p + 3] & 0x3F), 4


@njit(cache=True, nogil=True)
def find_tokens(data, text_ends, in_words, starts, ends, n_tokens):
    """Write first and past-the-last byte of each word, and the number of words of each text; return how many there are.

    Text t is ``data[text_ends[t-1]:text_ends[t]]``; ``in_words[c]`` says whether code point c is part of words.
    """
    found = 0
    p = np.int64(0)
    for text in range(text_ends.shape[0]):
        stop = np.int64(text_ends[text])
        before = found
        start = p
        n_letters = 0
        while p < stop:
            point = np.int64(data[p])
            size = 1
            if point >= 0x80:
                point, size = _decoded(data, p)
            if in_words[np.uint64(point)]:
                n_letters += 1
            else:
                if n_letters > 1:
                    starts[found] = start
                    ends[found] = p
                    found += 1
                n_letters = 0
                start = p + size
            p += size
        if n_letters > 1:
            starts[found] = start
            ends[found] = stop
            found += 1
        n_tokens[text] = found - before
    return found
