# SPDX-License-Identifier: Apache-2.0
# Bytes that grow as they are written. `failed` is set once memory runs out; who writes looks at the
# end.

from libc.stdint cimport uint8_t
from libc.string cimport memcpy

from lochan.kernel.native.buffers cimport enlarge, release
from lochan.kernel.native.coding cimport SLACK

cdef struct Bytes:
    uint8_t* data
    Py_ssize_t size
    Py_ssize_t capacity
    bint failed


cdef inline size_t footprint(const Bytes* b) noexcept nogil:
    return b.capacity + SLACK if b.data != NULL else 0


cdef inline void let_go(Bytes* b) noexcept nogil:
    release(b.data, footprint(b))


cdef inline bint room(Bytes* b, Py_ssize_t more) noexcept nogil:
    cdef uint8_t* moved
    cdef Py_ssize_t wanted = b.size + more
    if wanted <= b.capacity:
        return True
    wanted += wanted >> 1
    moved = <uint8_t*>enlarge(b.data, b.size, footprint(b), wanted + SLACK)
    if moved == NULL:
        b.failed = True
        return False
    b.data = moved
    b.capacity = wanted
    return True


cdef inline void put(Bytes* b, const void* data, Py_ssize_t n) noexcept nogil:
    if room(b, n):
        memcpy(b.data + b.size, data, n)
        b.size += n
