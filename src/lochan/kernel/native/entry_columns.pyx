# SPDX-License-Identifier: Apache-2.0
"""Entries as columns: the values of a range, many small protobuf messages in one buffer."""

from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memcpy, memset

from lochan.kernel.native.buffers cimport (
    Builder, Held, View, allocate, at, drop_builder, finish_builder, length, release,
    reserve_bytes, reserve_rows, start_builder, wrap_int64,
)
from lochan.kernel.native.coding cimport get_uvarint

from lochan.errors import Corruption
from lochan.kernel.interface import EntryColumns

cdef enum:
    ADDRESS = 1
    LAST_MODIFIED = 2
    SIZE = 3
    E_TAG = 4
    METADATA = 5
    ADDRESS_TYPE = 6
    CONTENT_TYPE = 7

# Far beyond the year 9999, so that microseconds fit.
cdef int64_t MAX_SECONDS = (<int64_t>1) << 39


cdef struct Piece:
    const uint8_t* data
    Py_ssize_t size


# One message: where its texts lie, and its numbers.
cdef struct Row:
    Piece address
    Piece e_tag
    Piece content_type
    int64_t seconds
    int64_t nanoseconds
    int64_t size
    int64_t address_type


cdef struct Columns:
    Builder address
    Builder e_tag
    Builder content_type
    Builder metadata_keys
    Builder metadata_values
    int64_t* numbers  # last_modified, size, address type: `rows` each; then the metadata offsets
    size_t allocated
    Py_ssize_t rows


cdef const uint8_t* get_piece(const uint8_t* p, const uint8_t* end, Piece* piece) noexcept nogil:
    """Read a length and find so many bytes; NULL where they are not there."""
    cdef uint64_t size
    p = get_uvarint(p, end, &size)
    if p == NULL or size > <uint64_t>(end - p):
        return NULL
    piece.data = p
    piece.size = <Py_ssize_t>size
    return p + size


cdef const uint8_t* skip(const uint8_t* p, const uint8_t* end, uint64_t wire) noexcept nogil:
    """Pass over a field that is not ours; NULL for what protobuf does not write."""
    cdef uint64_t number
    cdef Piece piece
    if wire == 0:
        return get_uvarint(p, end, &number)
    if wire == 1:
        return p + 8 if end - p >= 8 else NULL
    if wire == 5:
        return p + 4 if end - p >= 4 else NULL
    if wire == 2:
        return get_piece(p, end, &piece)
    return NULL


cdef bint read_moment(const Piece* message, Row* row) noexcept nogil:
    """Read a Timestamp: 1 seconds, 2 nanoseconds."""
    cdef const uint8_t* p = message.data
    cdef const uint8_t* end = p + message.size
    cdef uint64_t tag, number
    while p < end:
        p = get_uvarint(p, end, &tag)
        if p == NULL or tag >> 3 == 0:
            return False
        if tag >> 3 <= 2:
            if tag & 7 != 0:
                return False
            p = get_uvarint(p, end, &number)
            if tag >> 3 == 1:
                row.seconds = <int64_t>number
            else:
                row.nanoseconds = <int64_t>number
        else:
            p = skip(p, end, tag & 7)
        if p == NULL:
            return False
    return True


cdef inline int append(Builder* out, const Piece* piece) noexcept nogil:
    if reserve_bytes(out, piece.size) or reserve_rows(out, 1):
        return -1
    if piece.size:
        memcpy(out.data + out.size, piece.data, piece.size)
        out.size += piece.size
    out.count += 1
    out.offsets[out.count] = out.size
    return 0


cdef int read_pair(const Piece* message, Columns* out) noexcept nogil:
    """Take one item of the metadata: 1 key, 2 value. 1 where it is damaged, -1 without memory."""
    cdef const uint8_t* p = message.data
    cdef const uint8_t* end = p + message.size
    cdef uint64_t tag
    cdef Piece pair[2]
    memset(pair, 0, sizeof(pair))
    while p < end:
        p = get_uvarint(p, end, &tag)
        if p == NULL or tag >> 3 == 0:
            return 1
        if tag >> 3 <= 2:
            if tag & 7 != 2:
                return 1
            p = get_piece(p, end, &pair[(tag >> 3) - 1])
        else:
            p = skip(p, end, tag & 7)
        if p == NULL:
            return 1
    return append(&out.metadata_keys, &pair[0]) or append(&out.metadata_values, &pair[1])


cdef int read_row(const uint8_t* p, const uint8_t* end, Row* row, Columns* out) noexcept nogil:
    """Read one entry; of a field that comes twice the last counts. As `read_pair` answers."""
    cdef uint64_t tag, field, number
    cdef Piece piece
    cdef int failed
    memset(row, 0, sizeof(Row))
    while p < end:
        p = get_uvarint(p, end, &tag)
        if p == NULL or tag >> 3 == 0:
            return 1
        field = tag >> 3
        if field > CONTENT_TYPE:
            p = skip(p, end, tag & 7)
            if p == NULL:
                return 1
            continue
        if tag & 7 != (0 if field == SIZE or field == ADDRESS_TYPE else 2):
            return 1
        if tag & 7 == 0:
            p = get_uvarint(p, end, &number)
            if p == NULL:
                return 1
            if field == SIZE:
                row.size = <int64_t>number
            else:
                row.address_type = <int64_t>number
            continue
        p = get_piece(p, end, &piece)
        if p == NULL:
            return 1
        if field == ADDRESS:
            row.address = piece
        elif field == E_TAG:
            row.e_tag = piece
        elif field == CONTENT_TYPE:
            row.content_type = piece
        elif field == METADATA:
            failed = read_pair(&piece, out)
            if failed:
                return failed
        elif not read_moment(&piece, row):
            return 1
    if not -MAX_SECONDS < row.seconds < MAX_SECONDS or not 0 <= row.nanoseconds < 1000000000:
        return 1
    return 0


cdef int read_rows(const View* values, Columns* out, Py_ssize_t* number) noexcept nogil:
    cdef Row row
    cdef Py_ssize_t i, n = values.count
    cdef int failed
    out.numbers[3 * n] = 0
    for i in range(n):
        number[0] = i
        failed = read_row(at(values, i), at(values, i) + length(values, i), &row, out)
        if failed:
            return failed
        if (append(&out.address, &row.address) or append(&out.e_tag, &row.e_tag)
                or append(&out.content_type, &row.content_type)):
            return -1
        out.numbers[i] = row.seconds * 1000000 + row.nanoseconds // 1000
        out.numbers[n + i] = row.size
        out.numbers[2 * n + i] = row.address_type
        out.numbers[3 * n + i + 1] = out.metadata_keys.count
    return 0


cdef void drop(Columns* out) noexcept nogil:
    drop_builder(&out.address)
    drop_builder(&out.e_tag)
    drop_builder(&out.content_type)
    drop_builder(&out.metadata_keys)
    drop_builder(&out.metadata_values)
    release(out.numbers, out.allocated)
    out.numbers = NULL


cdef object finish(Columns* out):
    cdef Py_ssize_t n = out.rows
    numbers = wrap_int64(out.numbers, 4 * n + 1, out.allocated)
    out.numbers = NULL
    return EntryColumns(
        finish_builder(&out.address), numbers[:n], numbers[n:2 * n],
        finish_builder(&out.e_tag), numbers[2 * n:3 * n], finish_builder(&out.content_type),
        numbers[3 * n:], finish_builder(&out.metadata_keys), finish_builder(&out.metadata_values),
    )


def decode_entries(object values):
    """Turn a column of entries into columns of their fields. Raises Corruption."""
    cdef Held held = Held()
    cdef View view = held.column(values)
    cdef Columns out
    cdef Py_ssize_t n = view.count, number = 0
    cdef int failed
    memset(&out, 0, sizeof(Columns))
    out.rows = n
    out.allocated = (4 * n + 1) * sizeof(int64_t)
    out.numbers = <int64_t*>allocate(out.allocated)
    try:
        if (out.numbers == NULL or start_builder(&out.address, 64 * n, n)
                or start_builder(&out.e_tag, 40 * n, n)
                or start_builder(&out.content_type, 32 * n, n)
                or start_builder(&out.metadata_keys, 0, 0)
                or start_builder(&out.metadata_values, 0, 0)):
            raise MemoryError
        with nogil:
            failed = read_rows(&view, &out, &number)
        if failed < 0:
            raise MemoryError
        if failed:
            raise Corruption(f"value {number} of {n} is no Entry message")
        return finish(&out)
    finally:
        drop(&out)
