# SPDX-License-Identifier: Apache-2.0
# The objects that entries name, as hashes.

from libc.stdint cimport int64_t, uint8_t, uint64_t

from lochan.kernel.native.buffers cimport View

cdef enum:
    ABREAST = 4

cdef enum:
    ALL_READ = -1
    NO_ROOM = -2

cdef struct Numbers:
    int64_t* items
    Py_ssize_t room

# What was found so far. The addresses of the last objects wait to be hashed with others.
cdef struct Objects:
    Numbers hashes
    Numbers sizes
    Py_ssize_t count
    bint is_memory_out
    const uint8_t* waiting[ABREAST]
    Py_ssize_t lengths[ABREAST]
    Py_ssize_t waiting_count
    const uint8_t* inside
    Py_ssize_t inside_size

cdef int start_objects(Objects* found, Py_ssize_t expected, const uint8_t* inside,
                       Py_ssize_t inside_size) noexcept nogil
cdef void drop_objects(Objects* found) noexcept nogil
cdef object finish_objects(Objects* found)
cdef object damaged_entry(Py_ssize_t number, Py_ssize_t count, object file, uint64_t offset)

# Reads every entry, and gives ALL_READ, NO_ROOM, or the number of one that is damaged. Nothing of
# `values` is needed afterwards.
cdef Py_ssize_t read_objects(const View* values, Objects* found) noexcept nogil
