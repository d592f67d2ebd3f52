# SPDX-License-Identifier: Apache-2.0
"""Turn the rows of a data block into columns.

This is the innermost loop of every scan. Keys are put together where they will stay: the part that
a key shares with the one before is copied from the output itself. Copies run in steps of 16 bytes
and may overrun into the SLACK of their buffers; a block that was not compressed has none behind it,
so that its bytes are copied exactly.
"""

from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memcpy

from lochan.kernel.native.blocks cimport (
    BAD_KEY, BAD_KIND, BAD_ORDER, BAD_RESTARTS, BAD_ROW, FINE, LARGEST, LONGEST_KEY, NO_MEMORY,
    Content, Fault, restart_point,
)
from lochan.kernel.native.buffers cimport Builder, RowsBuilder, reserve_bytes, reserve_rows
from lochan.kernel.native.coding cimport compare, get_uvarint, load64

cdef enum:
    SMALLEST_ROW = 6  # three lengths and the smallest value record; the key may be shared whole


cdef inline void copy_wide(uint8_t* target, const uint8_t* source, Py_ssize_t size) noexcept nogil:
    cdef uint8_t* end = target + size
    while target < end:
        memcpy(target, source, 16)
        target += 16
        source += 16


cdef inline void copy(uint8_t* target, const uint8_t* source, Py_ssize_t size,
                      bint wide) noexcept nogil:
    if wide and size <= 256:
        copy_wide(target, source, size)
    else:
        memcpy(target, source, size)


cdef inline const uint8_t* read_lengths(const uint8_t* p, const uint8_t* end,
                                        uint64_t* out) noexcept nogil:
    """Read a row's three lengths (shared, unshared, value) and see that its bytes are there."""
    if end - p >= 3 and (p[0] | p[1] | p[2]) < 128:
        out[0] = p[0]
        out[1] = p[1]
        out[2] = p[2]
        p += 3
    else:
        p = get_uvarint(p, end, &out[0])
        p = get_uvarint(p, end, &out[1]) if p != NULL else NULL
        p = get_uvarint(p, end, &out[2]) if p != NULL else NULL
        if p == NULL:
            return NULL
    if out[1] > <uint64_t>(end - p) or out[2] > <uint64_t>(end - p) - out[1]:
        return NULL
    return p


cdef Fault decode_rows(const Content* content, RowsBuilder* rows) noexcept nogil:
    # What the loop needs is held in local variables: every byte written through a pointer might,
    # for all the compiler knows, change the builders.
    cdef const uint8_t* p = content.data
    cdef const uint8_t* end = p + content.rows_end
    cdef bint wide = content.data == content.owned
    cdef Py_ssize_t most = content.rows_end // SMALLEST_ROW + 1
    cdef Found found
    cdef Fault fault = FINE
    cdef uint64_t lengths[3]
    cdef uint64_t trailer = 0
    cdef Py_ssize_t size, shared, before_size = 0, row, restart = 0, start
    cdef Py_ssize_t next_restart = 0, written = 0
    cdef uint8_t* key
    cdef uint8_t* identity
    cdef uint8_t* value
    cdef uint8_t* key_limit
    cdef int64_t* key_ends
    cdef int64_t* identity_ends
    cdef int64_t* value_ends
    # Identities and values lie in the block as they are, so it bounds them; keys come singly.
    if (reserve_rows(&rows.keys, most) or reserve_rows(&rows.identities, most)
            or reserve_rows(&rows.values, most) or reserve_bytes(&rows.identities, content.rows_end)
            or reserve_bytes(&rows.values, content.rows_end)):
        return NO_MEMORY
    row = rows.keys.count
    key = rows.keys.data + rows.keys.size
    key_limit = rows.keys.data + rows.keys.capacity
    identity = rows.identities.data + rows.identities.size
    value = rows.values.data + rows.values.size
    key_ends = rows.keys.offsets
    identity_ends = rows.identities.offsets
    value_ends = rows.values.offsets
    if row:
        before_size = <Py_ssize_t>(key_ends[row] - key_ends[row - 1])
    while p < end:
        start = p - content.data
        p = read_lengths(p, end, lengths)
        if p == NULL:
            fault = BAD_ROW
            break
        # The first row of a block shares nothing; a later one may share into the trailer before it.
        if lengths[0] > (<uint64_t>before_size + TRAILER if row > rows.keys.count else 0):
            fault = BAD_ROW
            break
        shared = <Py_ssize_t>lengths[0]
        if start == next_restart:
            if shared:
                fault = BAD_RESTARTS
                break
            restart += 1
            next_restart = restart_point(content, restart) if restart < content.restarts else -1
        size = shared + <Py_ssize_t>lengths[1] - TRAILER
        if size < 0 or size > LONGEST_KEY:
            fault = BAD_KEY
            break
        # A few bytes of a row can repeat a long key, so a block's keys are held to its limit.
        written += size + TRAILER
        if written > LARGEST:
            fault = BAD_ROW
            break
        if key_limit - key < size + TRAILER:
            rows.keys.size = key - rows.keys.data
            if reserve_bytes(&rows.keys, size + TRAILER):
                return NO_MEMORY
            key = rows.keys.data + rows.keys.size
            key_limit = rows.keys.data + rows.keys.capacity
        if shared <= before_size:
            copy(key, key - before_size, shared, True)
        else:
            memcpy(key, key - before_size, before_size)
            memcpy(key + before_size, &trailer, shared - before_size)
        copy(key + shared, p, <Py_ssize_t>lengths[1], wide)
        p += lengths[1]
        trailer = load64(key + size)
        if trailer & 255 != KIND_SET:
            fault = BAD_KIND
            break
        if row and not follows(key - before_size, before_size, key, size, shared):
            fault = BAD_ORDER
            break
        fault = split_record(p, <Py_ssize_t>lengths[2], &found)
        if fault != FINE:
            break
        p += lengths[2]
        copy(identity, found.identity, found.identity_size, wide)
        copy(value, found.value, found.value_size, wide)
        key += size
        identity += found.identity_size
        value += found.value_size
        before_size = size
        row += 1
        key_ends[row] = key - rows.keys.data
        identity_ends[row] = identity - rows.identities.data
        value_ends[row] = value - rows.values.data
    rows.keys.size = key - rows.keys.data
    rows.identities.size = identity - rows.identities.data
    rows.values.size = value - rows.values.data
    rows.keys.count = rows.identities.count = rows.values.count = row
    if fault == FINE and content.rows_end and restart != content.restarts:
        return BAD_RESTARTS
    return fault


cdef inline bint follows(const uint8_t* before, Py_ssize_t before_size, const uint8_t* key,
                         Py_ssize_t size, Py_ssize_t shared) noexcept nogil:
    """Say whether a key is larger than the one before, of which it shares `shared` bytes."""
    if shared < before_size and shared < size and before[shared] != key[shared]:
        return before[shared] < key[shared]
    return compare(before, before_size, key, size) < 0


cdef int expect_rows(RowsBuilder* rows, double times, Py_ssize_t most) noexcept nogil:
    """Make room for `times` as much as there is, and a tenth more, so that nothing moves later."""
    cdef double more = times * 1.1 - 1.0
    return (reserve_exactly(&rows.keys, more, most) or reserve_exactly(&rows.identities, more, most)
            or reserve_exactly(&rows.values, more, most))


cdef inline int reserve_exactly(Builder* b, double times, Py_ssize_t most) noexcept nogil:
    cdef double wanted = b.size * times * 0.67
    cdef Py_ssize_t bytes_more = <Py_ssize_t>(wanted if wanted < most else most)
    cdef Py_ssize_t rows_more = <Py_ssize_t>(b.count * times * 0.67)
    # reserve_* add half of what they are asked for; two thirds of the need come to the need.
    return reserve_bytes(b, bytes_more) or reserve_rows(b, rows_more)


cdef void clear_rows(RowsBuilder* rows) noexcept nogil:
    rows.keys.size = rows.keys.count = 0
    rows.identities.size = rows.identities.count = 0
    rows.values.size = rows.values.count = 0


cdef int put_value(Builder* b, const uint8_t* data, Py_ssize_t size) noexcept nogil:
    """Append one value, asking for room."""
    if reserve_bytes(b, size) or reserve_rows(b, 1):
        return -1
    if size:  # absent values come without an address
        memcpy(b.data + b.size, data, size)
    b.size += size
    b.count += 1
    b.offsets[b.count] = b.size
    return 0
