# SPDX-License-Identifier: Apache-2.0
# Varints, fixed-width integers and key comparison, all inline.
#
# Readers take a cursor and an end and return the new cursor, or NULL when the bytes end too early
# or say something that cannot be; no read touches a byte at or past `end`.

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy

# Wide copies may run this many bytes past what they mean to write or read; every buffer that is a
# target of one is allocated this much larger than its contents.
cdef enum:
    SLACK = 64

cdef inline uint32_t load32(const uint8_t* p) noexcept nogil:
    cdef uint32_t v
    memcpy(&v, p, 4)
    return v

cdef inline uint64_t load64(const uint8_t* p) noexcept nogil:
    cdef uint64_t v
    memcpy(&v, p, 8)
    return v

cdef inline void store32(uint8_t* p, uint32_t v) noexcept nogil:
    memcpy(p, &v, 4)

cdef inline const uint8_t* get_uvarint(const uint8_t* p, const uint8_t* end,
                                       uint64_t* out) noexcept nogil:
    cdef uint64_t value = 0
    cdef int shift = 0
    if p < end and p[0] < 128:
        out[0] = p[0]
        return p + 1
    while p < end and shift <= 63:
        if shift == 63 and p[0] > 1:  # more than 64 bits
            return NULL
        value |= (<uint64_t>(p[0] & 127)) << shift
        if p[0] < 128:
            out[0] = value
            return p + 1
        shift += 7
        p += 1
    return NULL

cdef inline uint8_t* put_uvarint(uint8_t* p, uint64_t value) noexcept nogil:
    while value >= 128:
        p[0] = <uint8_t>(value | 128)
        value >>= 7
        p += 1
    p[0] = <uint8_t>value
    return p + 1

cdef inline int uvarint_length(uint64_t value) noexcept nogil:
    cdef int n = 1
    while value >= 128:
        value >>= 7
        n += 1
    return n

cdef inline int compare(const uint8_t* a, Py_ssize_t na, const uint8_t* b,
                        Py_ssize_t nb) noexcept nogil:
    cdef int order = memcmp(a, b, na if na < nb else nb)
    if order != 0:
        return order
    return -1 if na < nb else (1 if na > nb else 0)

cdef inline Py_ssize_t common_prefix(const uint8_t* a, Py_ssize_t na,
                                     const uint8_t* b, Py_ssize_t nb) noexcept nogil:
    cdef Py_ssize_t n = na if na < nb else nb
    cdef Py_ssize_t i = 0
    while i + 8 <= n and load64(a + i) == load64(b + i):
        i += 8
    while i < n and a[i] == b[i]:
        i += 1
    return i
