# SPDX-License-Identifier: Apache-2.0
"""The index of a table file, decoded: where blocks lie and the largest user key each may hold.

Checked here, so that nobody has to later: blocks lie one behind the other and before the index, and
separators strictly increase, across the partitions of a two-level index too.
"""

from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memset

from lochan.kernel.native.blocks cimport (
    BAD_HANDLE, BAD_KEY, BAD_SEPARATOR, EMPTY_BLOCK, FINE, NO_MEMORY, Content, Fault, Walk,
    drop_content, drop_walk, finish_walk, load_block, start_walk, step,
)
from lochan.kernel.native.buffers cimport drop_builder, start_builder
from lochan.kernel.native.coding cimport compare, get_uvarint
from lochan.kernel.native.decoding cimport TRAILER, put_value

cdef enum:
    BLOCK_TRAILER = 5  # compression and checksum behind every block


cdef inline int compare_last(const Index* index, const uint8_t* key,
                             Py_ssize_t size) noexcept nogil:
    """Compare the last separator with a key."""
    cdef Py_ssize_t n = index.separators.count
    return compare(index.separators.data + index.separators.offsets[n - 1],
                   <Py_ssize_t>(index.separators.offsets[n] - index.separators.offsets[n - 1]),
                   key, size)


cdef Fault add_handle(Index* index, const Walk* walk, uint64_t limit) noexcept nogil:
    """Take up one index row: separator above the last, block behind the last, before `limit`."""
    cdef Py_ssize_t n = index.separators.count, size = walk.key_size - TRAILER
    cdef uint64_t offset = 0, stored = 0
    cdef const uint8_t* p
    cdef const uint8_t* end = walk.value + walk.value_size
    cdef uint64_t* moved
    if size < 0:
        return BAD_KEY
    p = get_uvarint(walk.value, end, &offset)
    p = get_uvarint(p, end, &stored) if p != NULL else NULL
    if (p != end or offset > limit or stored > limit - offset
            or limit - offset - stored < BLOCK_TRAILER):
        return BAD_HANDLE
    if n and (offset < index.offsets[n - 1] + index.sizes[n - 1] + BLOCK_TRAILER
              or compare_last(index, walk.key, size) >= 0):
        return BAD_HANDLE
    if n == index.capacity:
        moved = <uint64_t*>realloc(index.offsets, (2 * n + 64) * sizeof(uint64_t))
        if moved == NULL:
            return NO_MEMORY
        index.offsets = moved
        moved = <uint64_t*>realloc(index.sizes, (2 * n + 64) * sizeof(uint64_t))
        if moved == NULL:
            return NO_MEMORY
        index.sizes = moved
        index.capacity = 2 * n + 64
    if put_value(&index.separators, walk.key, size):
        return NO_MEMORY
    index.offsets[n] = offset
    index.sizes[n] = stored
    return FINE


cdef Fault add_block(const uint8_t* file, Py_ssize_t file_size, uint64_t offset, uint64_t size,
                     uint64_t limit, Index* index, uint64_t* where) noexcept nogil:
    """Take up the rows of one index block, whose blocks all end before `limit`."""
    cdef Content content
    cdef Walk walk
    cdef Fault fault
    memset(&content, 0, sizeof(Content))
    memset(&walk, 0, sizeof(Walk))
    where[0] = offset
    fault = load_block(file, file_size, offset, size, True, &content)
    if fault == FINE and content.rows_end == 0:
        fault = EMPTY_BLOCK
    if fault == FINE:
        start_walk(&walk, &content, 0)
        while fault == FINE and walk.next < walk.end:
            fault = step(&walk)
            if fault == FINE:
                fault = add_handle(index, &walk, limit)
        if fault == FINE:
            fault = finish_walk(&walk)
    drop_content(&content)
    drop_walk(&walk)
    return fault


cdef void drop_index(Index* index) noexcept nogil:
    drop_builder(&index.separators)
    free(index.offsets)
    free(index.sizes)
    index.offsets = NULL
    index.sizes = NULL


cdef Fault add_partition(const uint8_t* file, Py_ssize_t file_size, const Index* top, Py_ssize_t i,
                         uint64_t limit, Index* index, uint64_t* where) noexcept nogil:
    """Take up one index partition: separators above the partition before and not above its own."""
    cdef const int64_t* ends = top.separators.offsets
    cdef const uint8_t* highest = top.separators.data + ends[i]
    cdef Py_ssize_t first = index.separators.count
    cdef const int64_t* found = NULL
    cdef Fault fault = add_block(file, file_size, top.offsets[i], top.sizes[i], limit, index, where)
    if fault != FINE:
        return fault
    if compare_last(index, highest, <Py_ssize_t>(ends[i + 1] - ends[i])) > 0:
        return BAD_SEPARATOR
    found = index.separators.offsets + first
    if i and compare(top.separators.data + ends[i - 1], <Py_ssize_t>(ends[i] - ends[i - 1]),
                     index.separators.data + found[0], <Py_ssize_t>(found[1] - found[0])) >= 0:
        return BAD_SEPARATOR
    return FINE


cdef Fault read_index(const uint8_t* file, Py_ssize_t file_size, uint64_t offset, uint64_t size,
                      bint two_level, Index* index, uint64_t* where) noexcept nogil:
    cdef Index top
    cdef Fault fault
    cdef Py_ssize_t i
    if start_builder(&index.separators, 4096, 256):
        return NO_MEMORY
    if not two_level:
        return add_block(file, file_size, offset, size, offset, index, where)
    memset(&top, 0, sizeof(Index))
    if start_builder(&top.separators, 4096, 64):
        return NO_MEMORY
    fault = add_block(file, file_size, offset, size, offset, &top, where)
    for i in range(top.separators.count):
        if fault == FINE:
            fault = add_partition(file, file_size, &top, i, offset, index, where)
    drop_index(&top)
    return fault
