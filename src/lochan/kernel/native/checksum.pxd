# SPDX-License-Identifier: Apache-2.0
from libc.stdint cimport uint8_t, uint32_t

cdef uint32_t crc(const uint8_t* data, Py_ssize_t size) noexcept nogil
cdef inline uint32_t masked(uint32_t value) noexcept nogil:
    return ((value >> 15) | (value << 17)) + <uint32_t>0xA282EAD8
