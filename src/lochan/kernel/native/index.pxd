# SPDX-License-Identifier: Apache-2.0
# The index of a table file, decoded: where blocks lie and the largest user key each may hold.

from libc.stdint cimport uint8_t, uint64_t

from lochan.kernel.native.blocks cimport Fault
from lochan.kernel.native.buffers cimport Builder

cdef struct Index:
    Builder separators
    uint64_t* offsets
    uint64_t* sizes
    Py_ssize_t capacity

# Read the index at a handle, of one or two levels. `where` tells the block at which it failed.
cdef Fault read_index(const uint8_t* file, Py_ssize_t file_size, uint64_t offset, uint64_t size,
                      bint two_level, Index* index, uint64_t* where) noexcept nogil
cdef void drop_index(Index* index) noexcept nogil
