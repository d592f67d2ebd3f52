# SPDX-License-Identifier: Apache-2.0
# Turn the rows of a data block into columns.

from libc.stdint cimport uint8_t, uint64_t

from lochan.kernel.native.blocks cimport BAD_RECORD, FINE, LONGEST_COMPONENT, Content, Fault
from lochan.kernel.native.buffers cimport Builder, RowsBuilder
from lochan.kernel.native.coding cimport get_uvarint

cdef enum:
    TRAILER = 8   # sequence number and kind behind every user key
    KIND_SET = 1

# Where a row's identity and value lie.
cdef struct Found:
    const uint8_t* identity
    Py_ssize_t identity_size
    const uint8_t* value
    Py_ssize_t value_size
    bint present

cdef Fault decode_rows(const Content* content, RowsBuilder* rows) noexcept nogil
cdef int expect_rows(RowsBuilder* rows, double times, Py_ssize_t most) noexcept nogil
cdef void clear_rows(RowsBuilder* rows) noexcept nogil
cdef int put_value(Builder* b, const uint8_t* data, Py_ssize_t size) noexcept nogil

cdef inline Fault split_record(const uint8_t* p, Py_ssize_t record_size,
                               Found* found) noexcept nogil:
    """Find identity and value in a value record; bytes after them are ignored."""
    cdef uint64_t size
    cdef const uint8_t* end = p + record_size
    p = get_uvarint(p, end, &size)
    if (p == NULL or size & 1 or size == 0 or size >> 1 > <uint64_t>LONGEST_COMPONENT
            or (size >> 1) > <uint64_t>(end - p)):
        return BAD_RECORD
    found.identity = p
    found.identity_size = <Py_ssize_t>(size >> 1)
    p = get_uvarint(p + found.identity_size, end, &size)
    if (p == NULL or size & 1 or size >> 1 > <uint64_t>LONGEST_COMPONENT
            or (size >> 1) > <uint64_t>(end - p)):
        return BAD_RECORD
    found.value = p
    found.value_size = <Py_ssize_t>(size >> 1)
    return FINE
