# SPDX-License-Identifier: Apache-2.0
"""Sorting, picking and joining rows."""

from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from lochan.kernel.native.buffers cimport (
    Builder, Held, RowsBuilder, RowsView, View, allocate, append_rows, at, data_size,
    drop_rows, finish_builder, finish_rows, length, release, start_builder, start_rows, wrap_int64,
)
from lochan.kernel.native.coding cimport common_prefix, compare

from lochan.kernel.interface import STRETCH_ROWS
from lochan.kernel.records import EMPTY


def inverse(const int64_t[::1] rows not None):
    """Invert a permutation of row numbers: result[rows[i]] = i."""
    cdef Py_ssize_t n = rows.shape[0], i
    cdef size_t size = (n + 1) * sizeof(int64_t)
    cdef int64_t* places = <int64_t*>allocate(size)
    if places == NULL:
        raise MemoryError
    memset(places, 0, size)
    for i in range(n):
        if not 0 <= rows[i] < n:
            release(places, size)
            raise IndexError(rows[i])
        places[rows[i]] = i
    return wrap_int64(places, n, size)


def lower_bound(object keys, const uint8_t[::1] key not None):
    """Number the first row whose key is not below `key`."""
    cdef Held held = Held()
    cdef View view = held.column(keys)
    cdef Py_ssize_t low = 0, high = view.count, middle
    while low < high:
        middle = (low + high) >> 1
        if compare(at(&view, middle), length(&view, middle), &key[0], key.shape[0]) < 0:
            low = middle + 1
        else:
            high = middle
    return low


def concat(object parts, object breathe=None):
    """Join record lists end to end."""
    cdef Held held = Held()
    cdef RowsBuilder out
    cdef RowsView* views
    cdef Py_ssize_t sizes[4]
    cdef Py_ssize_t i, count, stretch
    cdef int failed
    kept = [part for part in parts if len(part)]
    count = len(kept)
    if count < 2:
        return kept[0] if kept else EMPTY
    memset(sizes, 0, sizeof(sizes))
    views = <RowsView*>malloc(count * sizeof(RowsView))
    if views == NULL:
        raise MemoryError
    try:
        for i in range(count):
            views[i] = held.rows(kept[i])
            sizes[0] += data_size(&views[i].keys)
            sizes[1] += data_size(&views[i].identities)
            sizes[2] += data_size(&views[i].values)
            sizes[3] += views[i].keys.count
        stretch = sizes[3] if breathe is None else STRETCH_ROWS
        try:
            with nogil:
                failed = start_rows(&out, sizes[0], sizes[1], sizes[2], sizes[3])
            i = 0
            while i < count and not failed:
                if i:
                    breathe()
                # Many at once: who takes the interpreter's lock back after every few rows keeps
                # others waiting for it, and a range has hundreds of parts.
                with nogil:
                    failed = append_parts(&out, views, &i, count, stretch)
            if failed:
                raise MemoryError
            return finish_rows(&out)
        finally:
            drop_rows(&out)
    finally:
        free(views)


cdef int append_parts(RowsBuilder* out, const RowsView* views, Py_ssize_t* next_part,
                      Py_ssize_t count, Py_ssize_t stretch) noexcept nogil:
    """Append parts until they have so many rows; `next_part` is then the one that follows."""
    cdef Py_ssize_t rows = 0
    while next_part[0] < count and rows < stretch:
        if append_rows(out, &views[next_part[0]], 0, views[next_part[0]].keys.count):
            return -1
        rows += views[next_part[0]].keys.count
        next_part[0] += 1
    return 0


def take(object column, const int64_t[::1] rows not None):
    """Copy the values with these row numbers into a new column."""
    cdef Held held = Held()
    cdef View source = held.column(column)
    cdef Builder out
    cdef Py_ssize_t i, n = rows.shape[0], size = 0
    cdef int64_t row
    cdef int failed = 0
    for i in range(n):
        if not 0 <= rows[i] < source.count:
            raise IndexError(rows[i])
        size += length(&source, rows[i])
    if start_builder(&out, size, n):
        raise MemoryError
    with nogil:
        for i in range(n):
            row = rows[i]
            memcpy(out.data + out.size, at(&source, row), length(&source, row))
            out.size += length(&source, row)
            out.offsets[i + 1] = out.size
        out.count = n
    return finish_builder(&out)


# Eight bytes of a key, as a number that sorts like them, and the row it came from.
cdef struct Handle:
    uint64_t prefix
    int64_t row


cdef inline bint after(const View* keys, Py_ssize_t skip, const Handle* a,
                       const Handle* b) noexcept nogil:
    if a.prefix != b.prefix:
        return a.prefix > b.prefix
    return compare(at(keys, a.row) + skip, length(keys, a.row) - skip,
                   at(keys, b.row) + skip, length(keys, b.row) - skip) > 0


cdef void merge_sort(const View* keys, Py_ssize_t skip, Handle* a, Handle* spare,
                     Py_ssize_t n) noexcept nogil:
    """Sort handles, bottom up and stable; the result is in `a`."""
    cdef Py_ssize_t width = 1, start, i, j, k, middle, stop
    cdef Handle* source = a
    cdef Handle* target = spare
    cdef Handle* swap
    while width < n:
        start = 0
        while start < n:
            middle = start + width if start + width < n else n
            stop = start + 2 * width if start + 2 * width < n else n
            i = start
            j = middle
            for k in range(start, stop):
                if i < middle and (j >= stop or not after(keys, skip, &source[i], &source[j])):
                    target[k] = source[i]
                    i += 1
                else:
                    target[k] = source[j]
                    j += 1
            start = stop
        swap = source
        source = target
        target = swap
        width *= 2
    if source != a:
        memcpy(a, source, n * sizeof(Handle))


cdef void order_keys(const View* keys, Handle* handles, Handle* spare, int64_t* out) noexcept nogil:
    cdef Py_ssize_t n = keys.count, i, k, skip = length(keys, 0) if n else 0
    cdef const uint8_t* p
    cdef Py_ssize_t left
    cdef uint64_t prefix
    for i in range(1, n):
        skip = common_prefix(at(keys, 0), skip, at(keys, i), length(keys, i))
    for i in range(n):
        p = at(keys, i) + skip
        left = length(keys, i) - skip
        prefix = 0
        for k in range(8):
            prefix = (prefix << 8) | (p[k] if k < left else 0)
        handles[i].prefix = prefix
        handles[i].row = i
    merge_sort(keys, skip, handles, spare, n)
    for i in range(n):
        out[i] = handles[i].row


def sort_order(object keys):
    """Give the row numbers that put keys into byte order; equal keys keep their order."""
    cdef Held held = Held()
    cdef View view = held.column(keys)
    cdef Handle* handles = <Handle*>malloc((view.count + 1) * sizeof(Handle))
    cdef Handle* spare = <Handle*>malloc((view.count + 1) * sizeof(Handle))
    cdef size_t size = (view.count + 1) * sizeof(int64_t)
    cdef int64_t* out = <int64_t*>allocate(size)
    try:
        if handles == NULL or spare == NULL or out == NULL:
            release(out, size)
            raise MemoryError
        with nogil:
            order_keys(&view, handles, spare, out)
        return wrap_int64(out, view.count, size)
    finally:
        free(handles)
        free(spare)
