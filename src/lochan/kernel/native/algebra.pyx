# SPDX-License-Identifier: Apache-2.0
"""The algebra of sorted records: overlay, diff and three-way merge.

Rows that pass through unchanged are copied in runs, found by galloping, so that a few changes among
many rows cost few comparisons.
"""

from libc.stdint cimport int64_t, uint8_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcmp, memset

from lochan.kernel.native.buffers cimport (
    Held, RowsBuilder, RowsView, View, allocate, append_rows, at, data_size, drop_rows, finish_rows,
    length, release, start_rows, wrap_int64,
)
from lochan.kernel.native.coding cimport compare

from lochan.errors import InvalidInput
from lochan.kernel.interface import DiffRows, MergedRows


cdef inline int compare_keys(const View* a, Py_ssize_t i, const View* b,
                             Py_ssize_t j) noexcept nogil:
    return compare(at(a, i), length(a, i), at(b, j), length(b, j))


cdef inline bint same_identity(const RowsView* a, Py_ssize_t i, const RowsView* b,
                               Py_ssize_t j) noexcept nogil:
    cdef Py_ssize_t n = length(&a.identities, i)
    return n == length(&b.identities, j) and memcmp(at(&a.identities, i), at(&b.identities, j),
                                                    n) == 0


cdef Py_ssize_t gallop(const View* keys, Py_ssize_t low, const uint8_t* key,
                       Py_ssize_t size) noexcept nogil:
    """Number the first row, from `low` on, whose key is not below the given one."""
    cdef Py_ssize_t high = low, stride = 1, middle
    while high < keys.count and compare(at(keys, high), length(keys, high), key, size) < 0:
        low = high + 1
        high += stride
        stride *= 2
    if high > keys.count:
        high = keys.count
    while low < high:
        middle = (low + high) >> 1
        if compare(at(keys, middle), length(keys, middle), key, size) < 0:
            low = middle + 1
        else:
            high = middle
    return low


cdef inline int start_like(RowsBuilder* out, const RowsView* a, const RowsView* b) noexcept nogil:
    return start_rows(out, data_size(&a.keys) + data_size(&b.keys),
                      data_size(&a.identities) + data_size(&b.identities),
                      data_size(&a.values) + data_size(&b.values), a.keys.count + b.keys.count)


cdef int overlay_rows(const RowsView* base, const RowsView* changes, RowsBuilder* out,
                      Py_ssize_t* changed) noexcept nogil:
    cdef Py_ssize_t i = 0, j, run
    cdef bint present
    for j in range(changes.keys.count):
        run = gallop(&base.keys, i, at(&changes.keys, j), length(&changes.keys, j))
        present = run < base.keys.count and compare_keys(&base.keys, run, &changes.keys, j) == 0
        if present and same_identity(base, run, changes, j):
            run += 1
            if append_rows(out, base, i, run):
                return -1
            i = run
            continue
        if append_rows(out, base, i, run):
            return -1
        i = run + 1 if present else run
        if length(&changes.identities, j) == 0:
            changed[0] += present
            continue
        if append_rows(out, changes, j, j + 1):
            return -1
        changed[0] += 1
    return append_rows(out, base, i, base.keys.count)


cdef Py_ssize_t misplaced(const View* keys) noexcept nogil:
    """Number the first key that is not above the one before it, or -1."""
    cdef Py_ssize_t i
    for i in range(1, keys.count):
        if compare_keys(keys, i - 1, keys, i) >= 0:
            return i
    return -1


def overlay(object base, object changes):
    """Apply sorted changes to base rows; count the rows added, removed or changed."""
    cdef Held held = Held()
    cdef RowsView below = held.rows(base), above = held.rows(changes)
    cdef RowsBuilder out
    cdef Py_ssize_t changed = 0, wrong
    cdef int failed = -1
    with nogil:
        wrong = misplaced(&above.keys)
    if wrong >= 0:
        raise InvalidInput(
            f"change {changes.keys[wrong]!r} comes after {changes.keys[wrong - 1]!r};"
            " sort the changes first"
        )
    with nogil:
        if not start_like(&out, &below, &above):
            failed = overlay_rows(&below, &above, &out, &changed)
    try:
        if failed:
            raise MemoryError
        return finish_rows(&out), changed
    finally:
        drop_rows(&out)


cdef Py_ssize_t compare_rows(const RowsView* left, const RowsView* right, char* kinds,
                             int64_t* lefts, int64_t* rights) noexcept nogil:
    cdef Py_ssize_t i = 0, j = 0, n = 0
    cdef int order
    while i < left.keys.count or j < right.keys.count:
        if i == left.keys.count:
            order = 1
        elif j == right.keys.count:
            order = -1
        else:
            order = compare_keys(&left.keys, i, &right.keys, j)
        if order == 0 and same_identity(left, i, right, j):
            i += 1
            j += 1
            continue
        kinds[n] = b"c" if order == 0 else (b"r" if order < 0 else b"a")
        lefts[n] = i if order <= 0 else -1
        rights[n] = j if order >= 0 else -1
        i += order <= 0
        j += order >= 0
        n += 1
    return n


def diff(object left, object right):
    """Compare two sorted record lists by key and identity."""
    cdef Held held = Held()
    cdef RowsView a = held.rows(left), b = held.rows(right)
    cdef Py_ssize_t most = a.keys.count + b.keys.count + 1, n
    cdef char* kinds = <char*>malloc(most)
    cdef size_t size = most * sizeof(int64_t)
    cdef int64_t* lefts = <int64_t*>allocate(size)
    cdef int64_t* rights = <int64_t*>allocate(size)
    try:
        if kinds == NULL or lefts == NULL or rights == NULL:
            release(lefts, size)
            release(rights, size)
            raise MemoryError
        with nogil:
            n = compare_rows(&a, &b, kinds, lefts, rights)
        return DiffRows(kinds[:n], wrap_int64(lefts, n, size), wrap_int64(rights, n, size))
    finally:
        free(kinds)


# Rows of one side that follow each other and are still to be copied.
cdef struct Run:
    const RowsView* side
    Py_ssize_t start
    Py_ssize_t stop


cdef inline int choose(RowsBuilder* out, Run* run, const RowsView* side,
                       Py_ssize_t row) noexcept nogil:
    cdef int failed = 0
    if row < 0:
        return 0
    if run.side == side and run.stop == row:
        run.stop += 1
        return 0
    if run.side != NULL:
        failed = append_rows(out, run.side, run.start, run.stop)
    run.side = side
    run.start = row
    run.stop = row + 1
    return failed


cdef inline bint alike(const RowsView* a, Py_ssize_t i, const RowsView* b,
                       Py_ssize_t j) noexcept nogil:
    """Say whether two sides hold the same: both absent, or present with one identity."""
    if i < 0 or j < 0:
        return i < 0 and j < 0
    return same_identity(a, i, b, j)


cdef Py_ssize_t merge_rows(const RowsView* base, const RowsView* dest, const RowsView* source,
                           bint source_wins, RowsBuilder* out, int64_t** conflicts) noexcept nogil:
    """Merge all rows; count the conflicts, or -1 when memory ran out."""
    cdef const RowsView* sides[3]
    cdef Py_ssize_t at_row[3]
    cdef Py_ssize_t here[3]
    cdef Py_ssize_t n = 0
    cdef int k, first, order, failed
    cdef Run run
    memset(&run, 0, sizeof(Run))
    sides[0] = base
    sides[1] = dest
    sides[2] = source
    for k in range(3):
        at_row[k] = 0
    while True:
        first = -1
        for k in range(3):
            here[k] = -1
            if at_row[k] == sides[k].keys.count:
                continue
            order = -1
            if first >= 0:
                order = compare_keys(&sides[k].keys, at_row[k], &sides[first].keys, at_row[first])
            if order < 0:
                while first >= 0 and first < k:
                    here[first] = -1
                    first += 1
                first = k
            if order <= 0:
                here[k] = at_row[k]
        if first < 0:
            break
        for k in range(3):
            at_row[k] += here[k] >= 0
        if alike(dest, here[1], source, here[2]) or alike(base, here[0], source, here[2]):
            failed = choose(out, &run, dest, here[1])
        elif alike(base, here[0], dest, here[1]):
            failed = choose(out, &run, source, here[2])
        else:
            for k in range(3):
                conflicts[k][n] = here[k]
            n += 1
            failed = choose(out, &run, source if source_wins else dest,
                            here[2] if source_wins else here[1])
        if failed:
            return -1
    if run.side != NULL and append_rows(out, run.side, run.start, run.stop):
        return -1
    return n


def merge(object base, object dest, object source, str strategy):
    """Merge row by row: a side that equals base yields to the other; equal changes agree."""
    cdef Held held = Held()
    cdef RowsView views[3]
    cdef int64_t* conflicts[3]
    cdef RowsBuilder out
    cdef Py_ssize_t most, n = -1
    cdef int k
    cdef bint source_wins = strategy == "source-wins"
    if strategy not in ("", "dest-wins", "source-wins"):
        raise InvalidInput(f"no merge strategy {strategy!r}; there are dest-wins and source-wins")
    for k, side in enumerate((base, dest, source)):
        views[k] = held.rows(side)
    most = views[0].keys.count + views[1].keys.count + views[2].keys.count + 1
    for k in range(3):
        conflicts[k] = <int64_t*>allocate(most * sizeof(int64_t))
    with nogil:
        if (not start_like(&out, &views[1], &views[2]) and conflicts[0] != NULL
                and conflicts[1] != NULL and conflicts[2] != NULL):
            n = merge_rows(&views[0], &views[1], &views[2], source_wins, &out, conflicts)
    try:
        if n < 0:
            for k in range(3):
                release(conflicts[k], most * sizeof(int64_t))
            raise MemoryError
        return MergedRows(
            finish_rows(&out), *[wrap_int64(conflicts[k], n,
                                            most * sizeof(int64_t)) for k in range(3)]
        )
    finally:
        drop_rows(&out)
