# SPDX-License-Identifier: Apache-2.0
"""Read one block: check it, expand it, walk its rows. Every byte read is checked to be inside.

A file may come from anywhere: lengths are compared with what is left, never added to a pointer
first, and a size that the block declares is refused before memory is taken for it.
"""

from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy

from lochan.kernel.native.coding cimport SLACK, get_uvarint, load32
from lochan.kernel.native.checksum cimport crc, masked
from lochan.kernel.native.snappy cimport declared_size, expand

from lochan.errors import Corruption
from lochan.kernel.interface import MAX_BLOCK, MAX_COMPONENT, MAX_KEY

LARGEST = MAX_BLOCK
LONGEST_COMPONENT = MAX_COMPONENT
LONGEST_KEY = MAX_KEY

REASONS = {
    OUT_OF_BOUNDS: "a block handle points outside the file",
    BAD_CHECKSUM: "the block's checksum does not match",
    BAD_COMPRESSION: "the block does not expand, or is compressed in an unknown way",
    BAD_RESTARTS: "the block's restart points are wrong",
    BAD_ROW: "a row of the block is cut short or too long",
    BAD_KEY: "a key is shorter than its trailer, or longer than any key",
    BAD_KIND: "a row is not a plain value (deletions and merges have no place here)",
    BAD_ORDER: "keys are not strictly increasing",
    BAD_SEPARATOR: "a key lies outside the bounds that the index gives its block",
    BAD_RECORD: "a value record's lengths do not fit its bytes",
    BAD_HANDLE: "an index row does not hold a block handle, or blocks overlap or are out of order",
    EMPTY_BLOCK: "a block is empty that is not the only one",
    TOO_LARGE: "the blocks expand to more than any file of ours holds",
}


cdef object corruption(Fault fault, object name, uint64_t offset):
    if fault == NO_MEMORY:
        return MemoryError()
    return Corruption(REASONS[<int>fault], file=name, offset=offset)


cdef Fault load_block(const uint8_t* file, Py_ssize_t file_size, uint64_t offset, uint64_t size,
                      bint check, Content* content) noexcept nogil:
    cdef const uint8_t* p
    cdef Py_ssize_t n, body = 0, restarts
    cdef uint8_t* moved
    if (offset > <uint64_t>file_size or size > <uint64_t>file_size - offset
            or file_size - offset - size < 5):
        return OUT_OF_BOUNDS
    p = file + offset
    n = <Py_ssize_t>size
    if check and masked(crc(p, n + 1)) != load32(p + n + 1):
        return BAD_CHECKSUM
    content.data = p
    if p[n] == 1:
        n = declared_size(p, <Py_ssize_t>size, LARGEST, &body)
        if n < 0:
            return BAD_COMPRESSION
        if n + SLACK > content.capacity:
            moved = <uint8_t*>realloc(content.owned, 2 * n + SLACK)
            if moved == NULL:
                return NO_MEMORY
            content.owned = moved
            content.capacity = 2 * n + SLACK
        if expand(p, <Py_ssize_t>size, body, content.owned, n):
            return BAD_COMPRESSION
        content.data = content.owned
    elif p[n] != 0 or n > LARGEST:
        return BAD_COMPRESSION
    if n < 8:
        return BAD_RESTARTS
    restarts = load32(content.data + n - 4)
    if restarts < 1 or restarts > (n - 4) // 4:
        return BAD_RESTARTS
    content.restarts = restarts
    content.rows_end = n - 4 - 4 * restarts
    if restart_point(content, 0) != 0 or (content.rows_end == 0 and restarts > 1):
        return BAD_RESTARTS
    return FINE


cdef void drop_content(Content* content) noexcept nogil:
    free(content.owned)
    content.owned = NULL
    content.capacity = 0


cdef void start_walk(Walk* walk, const Content* content, Py_ssize_t offset) noexcept nogil:
    """Stand before the row at `offset`, which must be a restart point or the block's start."""
    walk.content = content
    walk.restart = 0 if offset == 0 else -1
    walk.written = 0
    walk.next = content.data + offset
    walk.end = content.data + content.rows_end
    walk.key_size = 0


cdef Fault step(Walk* walk) noexcept nogil:
    """Read the next row. Requires: walk.next < walk.end."""
    cdef uint64_t shared, unshared, value_size
    cdef const uint8_t* p = walk.next
    cdef const uint8_t* end = walk.end
    cdef Py_ssize_t size
    cdef uint8_t* moved
    if end - p >= 3 and (p[0] | p[1]) < 128 and p[2] < 128:
        shared = p[0]
        unshared = p[1]
        value_size = p[2]
        p += 3
    else:
        p = get_uvarint(p, end, &shared)
        if p == NULL:
            return BAD_ROW
        p = get_uvarint(p, end, &unshared)
        if p == NULL:
            return BAD_ROW
        p = get_uvarint(p, end, &value_size)
        if p == NULL:
            return BAD_ROW
    if (shared > <uint64_t>walk.key_size or unshared > <uint64_t>(end - p)
            or value_size > <uint64_t>(end - p) - unshared):
        return BAD_ROW
    if walk.restart >= 0 and walk.restart < walk.content.restarts:
        if walk.next - walk.content.data == restart_point(walk.content, walk.restart):
            if shared:
                return BAD_RESTARTS
            walk.restart += 1
    size = <Py_ssize_t>(shared + unshared)
    # A few bytes of a row can repeat a long key, so a block's keys together are held to its limit.
    walk.written += size
    if walk.written > LARGEST:
        return BAD_ROW
    if size > walk.capacity:
        moved = <uint8_t*>realloc(walk.key, 2 * size + SLACK)
        if moved == NULL:
            return NO_MEMORY
        walk.key = moved
        walk.capacity = 2 * size
    if unshared:
        memcpy(walk.key + shared, p, <size_t>unshared)
    walk.key_size = size
    walk.value = p + unshared
    walk.value_size = <Py_ssize_t>value_size
    walk.next = walk.value + value_size
    return FINE


cdef Fault finish_walk(const Walk* walk) noexcept nogil:
    """Say whether a walk from the start met every restart point."""
    if walk.content.rows_end and walk.restart != walk.content.restarts:
        return BAD_RESTARTS
    return FINE


cdef void drop_walk(Walk* walk) noexcept nogil:
    free(walk.key)
    walk.key = NULL
    walk.capacity = 0


def decode_block(const uint8_t[::1] file not None, uint64_t offset, uint64_t length, str name):
    """List the (key, value) rows of one block, checked; keys as they are stored."""
    cdef Content content = Content(NULL, 0, 0, NULL, 0)
    cdef Walk walk = Walk(NULL, 0, 0, NULL, NULL, NULL, 0, NULL, 0, 0)
    cdef Fault fault
    rows = []
    try:
        fault = load_block(&file[0], file.shape[0], offset, length, True, &content)
        if fault == FINE:
            start_walk(&walk, &content, 0)
        while fault == FINE and walk.next < walk.end:
            fault = step(&walk)
            if fault == FINE:
                rows.append((walk.key[:walk.key_size], walk.value[:walk.value_size]))
        if fault == FINE:
            fault = finish_walk(&walk)
        if fault != FINE:
            raise corruption(fault, name, offset)
        return rows
    finally:
        drop_content(&content)
        drop_walk(&walk)
