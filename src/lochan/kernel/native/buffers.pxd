# SPDX-License-Identifier: Apache-2.0
# Columns as C sees them: views of what Python holds, and builders of new ones.

from libc.stdint cimport int64_t, uint8_t

# A column that somebody else keeps alive. Value i is data[offsets[i]:offsets[i + 1]].
cdef struct View:
    const uint8_t* data
    const int64_t* offsets
    Py_ssize_t count

cdef struct RowsView:
    View keys
    View identities
    View values

# A column being written. `capacity` never counts the SLACK bytes behind it.
cdef struct Builder:
    uint8_t* data
    Py_ssize_t size
    Py_ssize_t capacity
    int64_t* offsets
    Py_ssize_t count
    Py_ssize_t offset_capacity

cdef struct RowsBuilder:
    Builder keys
    Builder identities
    Builder values

# Owns memory from `allocate` and shows it through the buffer protocol.
cdef class Memory:
    cdef uint8_t* pointer
    cdef Py_ssize_t size
    cdef size_t allocated

# Keeps the buffers behind a RowsView alive for the length of a call.
cdef class Held:
    cdef list views

    cdef View column(self, object column) except *
    cdef RowsView rows(self, object records) except *

# Memory for large, short-lived buffers. What `allocate` gave for a size is given back by `release`
# or `enlarge` with that size; `used` bytes are kept.
cdef void* allocate(size_t size) noexcept nogil
cdef void release(void* pointer, size_t size) noexcept nogil
cdef void* enlarge(void* old, size_t used, size_t had, size_t size) noexcept nogil

cdef int start_builder(Builder* b, Py_ssize_t bytes_expected,
                       Py_ssize_t rows_expected) noexcept nogil
cdef void drop_builder(Builder* b) noexcept nogil
cdef int reserve_bytes(Builder* b, Py_ssize_t more) noexcept nogil
cdef int reserve_rows(Builder* b, Py_ssize_t more) noexcept nogil
cdef int append_run(Builder* b, const View* source, Py_ssize_t start,
                    Py_ssize_t stop) noexcept nogil
cdef object finish_builder(Builder* b)

cdef int start_rows(RowsBuilder* b, Py_ssize_t keys, Py_ssize_t identities, Py_ssize_t values,
                    Py_ssize_t rows) noexcept nogil
cdef void drop_rows(RowsBuilder* b) noexcept nogil
cdef int append_rows(RowsBuilder* b, const RowsView* source, Py_ssize_t start,
                     Py_ssize_t stop) noexcept nogil
cdef object finish_rows(RowsBuilder* b)

cdef object wrap(void* pointer, Py_ssize_t size, size_t allocated)
cdef object wrap_int64(int64_t* pointer, Py_ssize_t count, size_t allocated)

cdef inline Py_ssize_t length(const View* v, Py_ssize_t i) noexcept nogil:
    return <Py_ssize_t>(v.offsets[i + 1] - v.offsets[i])
cdef inline Py_ssize_t data_size(const View* v) noexcept nogil:
    return <Py_ssize_t>(v.offsets[v.count] - v.offsets[0])
cdef inline const uint8_t* at(const View* v, Py_ssize_t i) noexcept nogil:
    return v.data + v.offsets[i]
