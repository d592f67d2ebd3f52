# SPDX-License-Identifier: Apache-2.0
from libc.stdint cimport uint8_t

# The most that compressing `size` bytes can give.
cdef inline Py_ssize_t worst_case(Py_ssize_t size) noexcept nogil:
    return 32 + size + size // 6

# Requires: `out` has room for worst_case(size) + SLACK. Gives the compressed length.
cdef Py_ssize_t squeeze(const uint8_t* data, Py_ssize_t size, uint8_t* out) noexcept nogil

# Gives the length that compressed data declares, or -1 when it cannot be read or is above `limit`.
# `body` is set to the first byte after it.
cdef Py_ssize_t declared_size(const uint8_t* data, Py_ssize_t size, Py_ssize_t limit,
                              Py_ssize_t* body) noexcept nogil

# Requires: `out` has room for the declared size + SLACK. Gives 0, or -1 for damaged data.
cdef int expand(const uint8_t* data, Py_ssize_t size, Py_ssize_t body, uint8_t* out,
                Py_ssize_t out_size) noexcept nogil
