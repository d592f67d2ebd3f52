# SPDX-License-Identifier: Apache-2.0
"""Raw snappy, both ways. docs/formats/sstable.md says which matches are taken; the twin is plainer.

Copies are made in steps of 8 or 32 bytes that may run past their end, never past the SLACK behind a
buffer; the next piece overwrites what ran over.
"""

from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from lochan.kernel.native.buffers cimport wrap
from lochan.kernel.native.coding cimport SLACK, get_uvarint, load32, load64, put_uvarint

from lochan.errors import Corruption
from lochan.kernel.interface import MAX_BLOCK

cdef enum:
    FRAGMENT = 65536
    TABLE_MAX = 16384
    SHORTEST = 17   # a shorter fragment is one literal
    MARGIN = 15     # no match starts this close to the end, so that loads stay inside


cdef inline uint32_t slot(uint32_t value, int shift) noexcept nogil:
    return (value * <uint32_t>0x1E35A7BD) >> shift


cdef inline uint8_t* put_literal(uint8_t* out, const uint8_t* data, Py_ssize_t size) noexcept nogil:
    cdef Py_ssize_t n = size - 1
    if n < 60:
        out[0] = <uint8_t>(n << 2)
        out += 1
    elif n < 256:
        out[0] = 60 << 2
        out[1] = <uint8_t>n
        out += 2
    else:
        out[0] = 61 << 2
        out[1] = <uint8_t>n
        out[2] = <uint8_t>(n >> 8)
        out += 3
    memcpy(out, data, size)
    return out + size


cdef inline uint8_t* put_long_copy(uint8_t* out, Py_ssize_t offset, Py_ssize_t size) noexcept nogil:
    out[0] = <uint8_t>(((size - 1) << 2) | 2)
    out[1] = <uint8_t>offset
    out[2] = <uint8_t>(offset >> 8)
    return out + 3


cdef inline uint8_t* put_copy(uint8_t* out, Py_ssize_t offset, Py_ssize_t size) noexcept nogil:
    while size >= 68:
        out = put_long_copy(out, offset, 64)
        size -= 64
    if size > 64:
        out = put_long_copy(out, offset, 60)
        size -= 60
    if size >= 12 or offset >= 2048:
        return put_long_copy(out, offset, size)
    out[0] = <uint8_t>(((offset >> 8) << 5) | ((size - 4) << 2) | 1)
    out[1] = <uint8_t>offset
    return out + 2


cdef inline Py_ssize_t match_end(const uint8_t* p, Py_ssize_t n, Py_ssize_t i,
                                 Py_ssize_t s) noexcept nogil:
    cdef uint64_t differing
    while s + 8 <= n:
        differing = load64(p + s) ^ load64(p + i)
        if differing:
            while not differing & 255:
                differing >>= 8
                s += 1
            return s
        s += 8
        i += 8
    while s < n and p[s] == p[i]:
        s += 1
        i += 1
    return s


cdef uint8_t* squeeze_fragment(const uint8_t* p, Py_ssize_t n, uint8_t* out,
                               uint16_t* table) noexcept nogil:
    cdef int shift = 24
    cdef int entries = 256
    cdef Py_ssize_t limit = n - MARGIN
    cdef Py_ssize_t emitted = 0, s = 1, ahead, candidate, first
    cdef uint32_t skip, step, next_slot, here
    cdef uint64_t x
    while entries < TABLE_MAX and entries < n:
        entries *= 2
        shift -= 1
    memset(table, 0, entries * sizeof(uint16_t))
    next_slot = slot(load32(p + s), shift)
    while True:
        skip = 32
        ahead = s
        while True:
            s = ahead
            step = skip >> 5
            ahead = s + step
            skip += step
            if ahead > limit:
                return put_literal(out, p + emitted, n - emitted) if emitted < n else out
            candidate = table[next_slot]
            table[next_slot] = <uint16_t>s
            next_slot = slot(load32(p + ahead), shift)
            if load32(p + s) == load32(p + candidate):
                break
        out = put_literal(out, p + emitted, s - emitted)
        while True:
            first = s
            s = match_end(p, n, candidate + 4, s + 4)
            out = put_copy(out, first - candidate, s - first)
            emitted = s
            if s >= limit:
                return put_literal(out, p + emitted, n - emitted) if emitted < n else out
            x = load64(p + s - 1)
            table[slot(<uint32_t>x, shift)] = <uint16_t>(s - 1)
            here = slot(<uint32_t>(x >> 8), shift)
            candidate = table[here]
            table[here] = <uint16_t>s
            if <uint32_t>(x >> 8) != load32(p + candidate):
                next_slot = slot(<uint32_t>(x >> 16), shift)
                s += 1
                break


cdef Py_ssize_t squeeze(const uint8_t* data, Py_ssize_t size, uint8_t* out) noexcept nogil:
    cdef uint16_t table[TABLE_MAX]
    cdef uint8_t* target = put_uvarint(out, size)
    cdef Py_ssize_t n
    while size > 0:
        n = size if size < FRAGMENT else FRAGMENT
        if n < SHORTEST:
            target = put_literal(target, data, n)
        else:
            target = squeeze_fragment(data, n, target, table)
        data += n
        size -= n
    return target - out


cdef Py_ssize_t declared_size(const uint8_t* data, Py_ssize_t size, Py_ssize_t limit,
                              Py_ssize_t* body) noexcept nogil:
    cdef uint64_t value
    cdef const uint8_t* p = get_uvarint(data, data + size, &value)
    if p == NULL or value > <uint64_t>limit:
        return -1
    body[0] = p - data
    return <Py_ssize_t>value


cdef inline void copy_back(uint8_t* target, Py_ssize_t offset, Py_ssize_t n) noexcept nogil:
    """Repeat n <= 64 bytes from `offset` back; where they overlap, the pattern goes on."""
    cdef uint8_t* source = target - offset
    cdef uint8_t* end = target + n
    if offset >= 32:
        # Two fixed copies instead of a loop: its length would be mispredicted most of the time.
        memcpy(target, source, 32)
        if n > 32:
            memcpy(target + 32, source + 32, 32)
    elif offset >= 8:
        while target < end:
            memcpy(target, source, 8)
            target += 8
            source += 8
    else:
        while target < end:
            target[0] = source[0]
            target += 1
            source += 1


cdef inline const uint8_t* read_literal(const uint8_t* p, const uint8_t* end, uint32_t tag,
                                        Py_ssize_t* n) noexcept nogil:
    """Read the length of a literal; gives where its bytes start, or NULL."""
    cdef Py_ssize_t extra = <Py_ssize_t>(tag >> 2) - 59
    cdef Py_ssize_t k
    n[0] = (tag >> 2) + 1
    if extra <= 0:
        return p
    if end - p < extra:
        return NULL
    n[0] = 1
    for k in range(extra):
        n[0] += <Py_ssize_t>p[k] << (8 * k)
    return p + extra


cdef inline const uint8_t* read_copy(const uint8_t* p, const uint8_t* end, uint32_t tag,
                                     Py_ssize_t* n, Py_ssize_t* offset) noexcept nogil:
    """Read the length and offset of a copy; gives where the next tag stands, or NULL."""
    n[0] = (tag >> 2) + 1
    if tag & 3 == 2:
        if end - p < 2:
            return NULL
        offset[0] = p[0] | (<Py_ssize_t>p[1] << 8)
        return p + 2
    if tag & 3 == 1:
        if p >= end:
            return NULL
        n[0] = ((tag >> 2) & 7) + 4
        offset[0] = ((tag >> 5) << 8) | p[0]
        return p + 1
    if end - p < 4:
        return NULL
    offset[0] = load32(p)
    return p + 4


cdef int expand(const uint8_t* data, Py_ssize_t size, Py_ssize_t body, uint8_t* out,
                Py_ssize_t out_size) noexcept nogil:
    cdef const uint8_t* p = data + body
    cdef const uint8_t* end = data + size
    cdef uint8_t* target = out
    cdef uint8_t* stop = out + out_size
    cdef Py_ssize_t n = 0, offset = 0
    cdef uint32_t tag
    while p < end:
        tag = p[0]
        p += 1
        if tag & 3:
            p = read_copy(p, end, tag, &n, &offset)
            if p == NULL or offset == 0 or offset > target - out or stop - target < n:
                return -1
            copy_back(target, offset, n)
        else:
            p = read_literal(p, end, tag, &n)
            if p == NULL or end - p < n or stop - target < n:
                return -1
            if n <= 64 and end - p >= 64:
                memcpy(target, p, 32)
                if n > 32:
                    memcpy(target + 32, p + 32, 32)
            else:
                memcpy(target, p, n)
            p += n
        target += n
    return 0 if target == stop else -1


def compress(const uint8_t[::1] data not None):
    """Compress with raw snappy."""
    cdef Py_ssize_t size = data.shape[0], written
    cdef uint8_t* out = <uint8_t*>malloc(worst_case(size) + SLACK)
    cdef const uint8_t* source = &data[0]
    if out == NULL:
        raise MemoryError
    with nogil:
        written = squeeze(source, size, out)
    try:
        return out[:written]
    finally:
        free(out)


def decompress(const uint8_t[::1] data not None):
    """Expand raw snappy; Corruption when it is damaged or declares more than MAX_BLOCK."""
    cdef Py_ssize_t body = 0, size = data.shape[0], out_size
    cdef const uint8_t* source = &data[0]
    cdef uint8_t* out
    cdef int failed
    out_size = declared_size(source, size, MAX_BLOCK, &body)
    if out_size < 0:
        raise Corruption("snappy data declares no size, or one that no block has")
    out = <uint8_t*>malloc(out_size + SLACK)
    if out == NULL:
        raise MemoryError
    with nogil:
        failed = expand(source, size, body, out, out_size)
    try:
        if failed:
            raise Corruption("snappy data does not expand to the size it declares")
        return out[:out_size]
    finally:
        free(out)
