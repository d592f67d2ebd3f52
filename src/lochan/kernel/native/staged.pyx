# SPDX-License-Identifier: Apache-2.0
"""Staged entries as columns: many small protobuf messages at once (docs/formats/records.md)."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from libc.stdint cimport uint8_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from lochan.kernel.native.buffers cimport (
    Builder, RowsBuilder, drop_rows, finish_rows, start_rows,
)
from lochan.kernel.native.coding cimport get_uvarint

from lochan.errors import Corruption
from lochan.kernel.records import EMPTY

cdef struct Piece:
    const uint8_t* data
    Py_ssize_t size


# Where key, identity and data of one message lie: fields 1, 2 and 3.
cdef struct Row:
    Piece fields[3]


cdef const uint8_t* skip(const uint8_t* p, const uint8_t* end, uint64_t wire) noexcept nogil:
    """Pass over a field that is not ours; NULL for what protobuf does not write."""
    cdef uint64_t number
    if wire == 0:
        return get_uvarint(p, end, &number)
    if wire == 1:
        return p + 8 if end - p >= 8 else NULL
    if wire == 5:
        return p + 4 if end - p >= 4 else NULL
    if wire == 2:
        p = get_uvarint(p, end, &number)
        return p + number if p != NULL and number <= <uint64_t>(end - p) else NULL
    return NULL


cdef bint read_row(const uint8_t* p, const uint8_t* end, Row* row) noexcept nogil:
    """Find the fields of one message; the last of a kind counts. False where it is damaged."""
    cdef uint64_t tag, size
    memset(row, 0, sizeof(Row))
    while p < end:
        p = get_uvarint(p, end, &tag)
        if p == NULL or tag >> 3 == 0:
            return False
        if tag & 7 == 2 and tag >> 3 <= 3:
            p = get_uvarint(p, end, &size)
            if p == NULL or size > <uint64_t>(end - p):
                return False
            row.fields[(tag >> 3) - 1].data = p
            row.fields[(tag >> 3) - 1].size = <Py_ssize_t>size
            p += size
        elif tag >> 3 <= 3:  # a field of ours, of another kind
            return False
        else:
            p = skip(p, end, tag & 7)
            if p == NULL:
                return False
    return True


cdef inline void append(Builder* out, const Piece* piece) noexcept nogil:
    """Put a value behind the others; the builder was made large enough for all of them."""
    if piece.size:
        memcpy(out.data + out.size, piece.data, piece.size)
        out.size += piece.size
    out.count += 1
    out.offsets[out.count] = out.size


def decode_staged(list messages not None):
    """Turn staged entries, in key order, into columns. Raises Corruption."""
    cdef Py_ssize_t count = len(messages), i, total = 0, damaged = -1
    cdef Piece* pieces
    cdef Row row
    cdef RowsBuilder out
    cdef object message
    if count == 0:
        return EMPTY
    pieces = <Piece*>malloc(count * sizeof(Piece))
    if pieces == NULL:
        raise MemoryError
    try:
        for i in range(count):
            message = messages[i]
            if not isinstance(message, bytes):
                raise TypeError(f"a staged entry is bytes, not {type(message).__name__}")
            pieces[i].data = <const uint8_t*>PyBytes_AS_STRING(message)
            pieces[i].size = PyBytes_GET_SIZE(message)
            total += pieces[i].size
        held = tuple(messages)  # the list may change while others run
        if start_rows(&out, total, total, total, count):
            raise MemoryError
        try:
            with nogil:
                for i in range(count):
                    if not read_row(pieces[i].data, pieces[i].data + pieces[i].size, &row):
                        damaged = i
                        break
                    append(&out.keys, &row.fields[0])
                    append(&out.identities, &row.fields[1])
                    append(&out.values, &row.fields[2])
            if damaged >= 0:
                raise Corruption(f"staged entry {damaged} of {count} is no StagedEntry message")
            return finish_rows(&out)
        finally:
            drop_rows(&out)
    finally:
        free(pieces)
        held = None
