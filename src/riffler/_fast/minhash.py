"""Sets of word runs and their least hashes, for finding texts that are nearly the same.

A text is UTF-8 in which blanks divide the words; a document ``d`` is ``data[starts[d]:starts[d + 1]]``. Its set is a
sorted stretch of 64-bit hashes without repeats, ``hashes[places[d]:places[d + 1]]``.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
from __future__ import annotations

import numpy as np
from numba import njit

BLANK = 32


@njit(cache=True)
def _mix(x):
    """The finaliser of MurmurHash3 for 64 bits."""
    x ^= x >> np.uint64(33)
    x *= np.uint64(0xFF51AFD7ED558CCD)
    x ^= x >> np.uint64(33)
    x *= np.uint64(0xC4CEB9FE1A85EC53)
    x ^= x >> np.uint64(33)
    return x


@njit(cache=True)
def _mix32(x):
    """The finaliser of MurmurHash3 for 32 bits."""
    x = np.uint32(x ^ (x >> np.uint32(16)))
    x = np.uint32(x * np.uint32(0x85EBCA6B))
    x = np.uint32(x ^ (x >> np.uint32(13)))
    x = np.uint32(x * np.uint32(0xC2B2AE35))
    return np.uint32(x ^ (x >> np.uint32(16)))


@njit(cache=True)
def _character(data, at):
    """The code point that begins at a byte, and how many bytes it takes."""
    lead = np.int64(data[at])
    if lead < 0x80:
        return lead, 1
    if lead < 0xE0:
        return (lead & 0x1F) << 6 | (data[at + 1] & 0x3F), 2
    if lead < 0xF0:
        return (lead & 0x0F) << 12 | (data[at + 1] & 0x3F) << 6 | (data[at + 2] & 0x3F), 3
    low = (data[at + 1] & 0x3F) << 12 | (data[at + 2] & 0x3F) << 6 | (data[at + 3] & 0x3F)
    return (lead & 0x07) << 18 | low, 4


@njit(cache=True)
def is_unspaced(point):
    """Whether a character is of a script without blanks between words: Chinese, Japanese, Thai, Lao, Burmese, Khmer."""
    return (
        0x2E80 <= point <= 0x9FFF
        or 0x0E00 <= point <= 0x0EFF
        or 0x1000 <= point <= 0x109F
        or 0x1780 <= point <= 0x17FF
        or 0xF900 <= point <= 0xFAFF
        or 0x20000 <= point <= 0x3FFFF
    )


@njit(cache=True)
def _words(data, start, stop, words):
    """Write the hash of each word, or of each character of an unspaced script; return how many there are."""
    n_words = 0
    word = np.uint64(0)
    at = start
    while at < stop:
        point, size = _character(data, at)
        at += size
        alone = is_unspaced(point)
        if (point == BLANK or alone) and word != 0:
            words[n_words] = _mix(word)
            n_words += 1
            word = np.uint64(0)
        if alone:
            words[n_words] = _mix(np.uint64(point))
            n_words += 1
        elif point != BLANK:
            word = _mix(word * np.uint64(0x9E3779B97F4A7C15) + np.uint64(point) + np.uint64(1))
    if word != 0:
        words[n_words] = _mix(word)
        n_words += 1
    return n_words


@njit(cache=True)
def shingle_sets(data, starts, width, hashes, places):
    """Fill ``hashes`` and ``places`` with the set of runs of ``width`` words of each document.

    A shorter document has one run, of all its words; an empty one has none. ``hashes`` needs one slot a byte.
    """
    words = np.empty(1 + np.max(starts[1:] - starts[:-1]), dtype=np.uint64)
    end = 0
    places[0] = 0
    for document in range(starts.shape[0] - 1):
        n_words = _words(data, starts[document], starts[document + 1], words)
        begin = end
        for first in range(max(1, n_words - width + 1) if n_words > 0 else 0):
            run = np.uint64(0)
            for word in words[first : min(first + width, n_words)]:
                run = _mix(run * np.uint64(0x9E3779B97F4A7C15) + word)
            hashes[end] = run
            end += 1
        own = np.sort(hashes[begin:end])
        end = begin
        for at in range(own.shape[0]):
            if at == 0 or own[at] != own[at - 1]:
                hashes[end] = own[at]
                end += 1
        places[document + 1] = end


@njit(cache=True)
def least_hashes(hashes, places, seeds, least):
    """Write into ``least[d, j]`` the minimum over the set of document d of the hash with seed j.

    Two documents agree in a column with a probability that is the Jaccard similarity of their sets.
    """
    least[:] = np.uint32(0xFFFFFFFF)
    for document in range(places.shape[0] - 1):
        row = least[document]
        for hash in hashes[places[document] : places[document + 1]]:
            short = np.uint32(hash >> np.uint64(32))
            for column in range(seeds.shape[0]):
                row[column] = min(row[column], _mix32(np.uint32(short ^ seeds[column])))


@njit(cache=True)
def band_keys(least, first, width, keys):
    """One key for the ``width`` columns from ``first`` on: equal where all of them are."""
    for document in range(least.shape[0]):
        key = np.uint64(first)
        for column in range(first, first + width):
            key = _mix(key * np.uint64(0x9E3779B97F4A7C15) + np.uint64(least[document, column]))
        keys[document] = key


@njit(cache=True)
def jaccard_if_at_least(hashes, places, one, other, threshold):
    """Jaccard similarity of two sets, or -1 as soon as it must be below the threshold."""
    a, a_end = places[one], places[one + 1]
    b, b_end = places[other], places[other + 1]
    total = (a_end - a) + (b_end - b)
    common = 0
    while a < a_end and b < b_end:
        most = common + min(a_end - a, b_end - b)
        if most < threshold * (total - most):
            return -1.0
        if hashes[a] == hashes[b]:
            common += 1
            a += 1
            b += 1
        elif hashes[a] < hashes[b]:
            a += 1
        else:
            b += 1
    similarity = common / (total - common) if total > common else -1.0
    return similarity if similarity >= threshold else -1.0


@njit(cache=True)
def _root(parents, item):
    while parents[item] != item:
        parents[item] = parents[parents[item]]
        item = parents[item]
    return item


@njit(cache=True)
def join_equal_keys(order, keys, hashes, places, threshold, parents, links, similarities, n_links):
    """Compare documents of equal key, join those that are similar enough, and write down each join.

    ``order`` sorts ``keys``; ``parents`` is the forest of groups so far. Documents already in one group are not
    compared, so there are fewer links than documents, and a crowd of copies takes one comparison each.
    """
    start = 0
    while start < order.shape[0]:
        stop = start + 1
        while stop < order.shape[0] and keys[order[stop]] == keys[order[start]]:
            stop += 1
        if stop - start > 1:
            n_links = _join_bucket(order[start:stop], hashes, places, threshold, parents, links, similarities, n_links)
        start = stop
    return n_links


@njit(cache=True)
def _join_bucket(members, hashes, places, threshold, parents, links, similarities, n_links):
    roots = np.empty(members.shape[0], dtype=np.int64)
    for at in range(members.shape[0]):
        roots[at] = _root(parents, members[at])
    by_group = np.argsort(roots)
    n_groups = 0  # among the members seen so far; those of one group stand together
    for late in range(members.shape[0]):
        if late == 0 or roots[by_group[late]] != roots[by_group[late - 1]]:
            n_groups += 1
        two = members[by_group[late]]
        for early in range(late):
            if n_groups == 1:
                break
            one = members[by_group[early]]
            root_one, root_two = _root(parents, one), _root(parents, two)
            if root_one == root_two:
                continue
            similarity = jaccard_if_at_least(hashes, places, one, two, threshold)
            if similarity >= 0.0:
                parents[max(root_one, root_two)] = min(root_one, root_two)
                links[n_links, 0], links[n_links, 1] = min(one, two), max(one, two)
                similarities[n_links] = similarity
                n_links += 1
                n_groups -= 1
    return n_links
