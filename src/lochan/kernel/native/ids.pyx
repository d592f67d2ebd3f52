# SPDX-License-Identifier: Apache-2.0
"""Names and cuts: the id of a file from its records, and where ranges end. docs/formats/ids.md."""

from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy

from lochan.kernel.native.buffers cimport Held, RowsView, View, allocate, at, length, wrap_int64
from lochan.kernel.native.coding cimport put_uvarint, uvarint_length
from lochan.kernel.native.sha256 cimport (
    Message, Stream, hash_messages, stream_blocks, stream_finish, stream_start,
)

from lochan.errors import InvalidInput
from lochan.kernel.interface import STRETCH_ROWS

cdef enum:
    BATCH = 128  # records hashed together; even, so that their ids fill whole blocks

cdef uint64_t FNV_START = 0xCBF29CE484222325
cdef uint64_t FNV_PRIME = 0x100000001B3


cdef inline Py_ssize_t record_length(const RowsView* rows, Py_ssize_t i) noexcept nogil:
    cdef Py_ssize_t a = length(&rows.identities, i), b = length(&rows.values, i)
    return uvarint_length(2 * <uint64_t>a) + a + uvarint_length(2 * <uint64_t>b) + b


cdef inline uint8_t* put_record(uint8_t* out, const RowsView* rows, Py_ssize_t i) noexcept nogil:
    cdef Py_ssize_t n = length(&rows.identities, i)
    out = put_uvarint(out, 2 * <uint64_t>n)
    memcpy(out, at(&rows.identities, i), n)
    out += n
    n = length(&rows.values, i)
    out = put_uvarint(out, 2 * <uint64_t>n)
    memcpy(out, at(&rows.values, i), n)
    return out + n


# A name in the making. Of an odd last batch, the last id is not hashed yet.
cdef struct Naming:
    Stream stream
    uint8_t ids[32 * BATCH]
    Py_ssize_t count      # of the last batch
    uint8_t* scratch
    Py_ssize_t capacity


cdef int hash_batch(Naming* naming, const RowsView* rows, Py_ssize_t start,
                    Py_ssize_t n) noexcept nogil:
    cdef Message messages[2 * BATCH]
    cdef uint8_t pairs[64 * BATCH]
    cdef uint8_t* moved
    cdef uint8_t* out
    cdef Py_ssize_t needed = 1, i, k
    for i in range(start, start + n):
        needed += record_length(rows, i)
    if needed > naming.capacity:
        moved = <uint8_t*>realloc(naming.scratch, 2 * needed)
        if moved == NULL:
            return -1
        naming.scratch = moved
        naming.capacity = 2 * needed
    out = naming.scratch
    for k in range(n):
        # The long ones first: what is left over at the end is then short.
        messages[k].data = out
        out = put_record(out, rows, start + k)
        messages[k].size = out - messages[k].data
        messages[k].digest = pairs + 64 * k + 32
        messages[n + k].data = at(&rows.keys, start + k)
        messages[n + k].size = length(&rows.keys, start + k)
        messages[n + k].digest = pairs + 64 * k
    hash_messages(messages, 2 * n)
    for k in range(n):
        messages[k].data = pairs + 64 * k
        messages[k].size = 64
        messages[k].digest = naming.ids + 32 * k
    hash_messages(messages, n)
    stream_blocks(&naming.stream, naming.ids, n // 2)
    naming.count = n
    return 0


cdef int hash_rows(Naming* naming, const RowsView* rows, Py_ssize_t start,
                   Py_ssize_t stop) noexcept nogil:
    """Go on with rows; only the last ones may be an odd number."""
    cdef Py_ssize_t n
    while start < stop:
        n = stop - start
        n = n if n < BATCH else BATCH
        if hash_batch(naming, rows, start, n):
            return -1
        start += n
    return 0


def file_id(object records, object breathe=None):
    """Name records by the seed's formula: H of the concatenation of H(H(key) || H(value))."""
    cdef Held held = Held()
    cdef RowsView rows = held.rows(records)
    cdef Naming naming
    cdef uint8_t digest[32]
    cdef Py_ssize_t start = 0, stop, count = rows.keys.count
    cdef Py_ssize_t stretch = count if breathe is None else STRETCH_ROWS
    cdef int failed = 0
    naming.count = naming.capacity = 0
    naming.scratch = NULL
    stream_start(&naming.stream)
    try:
        while start < count and not failed:
            if start:
                breathe()
            stop = min(start + stretch, count)
            with nogil:
                failed = hash_rows(&naming, &rows, start, stop)
            start = stop
    finally:
        free(naming.scratch)
    if failed:
        raise MemoryError
    stream_finish(&naming.stream, naming.ids + 64 * (naming.count // 2), 32 * (naming.count & 1),
                  digest)
    return digest[:32]


cdef inline uint64_t fnv(const uint8_t* p, Py_ssize_t n, uint64_t value) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        value = (value ^ p[i]) * FNV_PRIME
    return value


cdef void fnv_four(const View* keys, Py_ssize_t first, uint64_t* out) noexcept nogil:
    # One key's chain of multiplications leaves the processor idle; four fill it.
    cdef const uint8_t* a = at(keys, first)
    cdef const uint8_t* b = at(keys, first + 1)
    cdef const uint8_t* c = at(keys, first + 2)
    cdef const uint8_t* d = at(keys, first + 3)
    cdef uint64_t w = FNV_START, x = FNV_START, y = FNV_START, z = FNV_START
    cdef Py_ssize_t n = length(keys, first), k, i
    for k in range(1, 4):
        if length(keys, first + k) < n:
            n = length(keys, first + k)
    for i in range(n):
        w = (w ^ a[i]) * FNV_PRIME
        x = (x ^ b[i]) * FNV_PRIME
        y = (y ^ c[i]) * FNV_PRIME
        z = (z ^ d[i]) * FNV_PRIME
    out[0] = fnv(a + n, length(keys, first) - n, w)
    out[1] = fnv(b + n, length(keys, first + 1) - n, x)
    out[2] = fnv(c + n, length(keys, first + 2) - n, y)
    out[3] = fnv(d + n, length(keys, first + 3) - n, z)


def fnv1a64(const uint8_t[::1] data not None):
    """FNV-1a, 64 bits."""
    return fnv(&data[0], data.shape[0], FNV_START)


cdef Py_ssize_t find_cuts(const RowsView* rows, uint64_t raggedness, int64_t cap, int64_t size,
                          int64_t* ends) noexcept nogil:
    cdef uint64_t hashes[4]
    cdef Py_ssize_t i = 0, k, n, found = 0, count = rows.keys.count
    while i < count:
        n = count - i
        if n >= 4:
            n = 4
            fnv_four(&rows.keys, i, hashes)
        else:
            for k in range(n):
                hashes[k] = fnv(at(&rows.keys, i + k), length(&rows.keys, i + k), FNV_START)
        for k in range(n):
            size += (length(&rows.keys, i + k) + length(&rows.identities, i + k)
                     + length(&rows.values, i + k))
            if hashes[k] % raggedness == 0 or size >= cap:
                ends[found] = i + k + 1
                found += 1
                size = 0
        i += n
    return found


def cut_points(object records, int64_t raggedness, int64_t cap_bytes, int64_t carried=0):
    """Say after which rows a range ends."""
    cdef Held held = Held()
    cdef RowsView rows = held.rows(records)
    cdef int64_t* ends
    cdef Py_ssize_t found
    if raggedness < 1 or cap_bytes < 1:
        raise InvalidInput(f"raggedness {raggedness} and cap {cap_bytes} must be at least 1")
    ends = <int64_t*>allocate((rows.keys.count + 1) * sizeof(int64_t))
    if ends == NULL:
        raise MemoryError
    with nogil:
        found = find_cuts(&rows, raggedness, cap_bytes, carried, ends)
    return wrap_int64(ends, found, (rows.keys.count + 1) * sizeof(int64_t))
