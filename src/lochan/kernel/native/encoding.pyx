# SPDX-License-Identifier: Apache-2.0
"""Write the blocks of a table file (docs/formats/sstable.md); the twin is the plain form."""

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from lochan.kernel.native.buffers cimport Held, RowsView, at, length, wrap
from lochan.kernel.native.checksum cimport crc, masked
from lochan.kernel.native.coding cimport (
    common_prefix, compare, put_uvarint, store32, uvarint_length,
)
from lochan.kernel.native.growing cimport Bytes, footprint, let_go, put, room
from lochan.kernel.native.snappy cimport squeeze, worst_case

from lochan.errors import InvalidInput
from lochan.kernel.interface import MAX_COMPONENT, MAX_KEY, STRETCH_ROWS, EncodedBlocks

cdef enum:
    TARGET = 4096
    THRESHOLD = 3687      # 90 % of the target: below it a block always takes one more row
    DATA_RESTARTS = 16
    INDEX_RESTARTS = 1
    HANDLE_ESTIMATE = 20  # what the cut rule takes a block handle to need
    TRAILER = 8           # sequence number and kind behind every user key

cdef uint64_t SET_TRAILER = 1                          # sequence 0, kind SET
cdef uint64_t SEPARATOR_TRAILER = <uint64_t>0xFFFFFFFFFFFFFF11  # largest sequence, separator
cdef uint64_t INVALID_TRAILER = 255                    # the index key of a table without rows


cdef struct Block:
    Bytes entries
    Bytes restarts
    Py_ssize_t count
    int interval

cdef struct Encoder:
    Bytes file
    Bytes partitions      # finished index partitions: length, bytes, length of last key, last key
    Bytes separator
    Bytes previous        # the index key before
    Block data
    Block index
    Block top
    int64_t partition_count
    int64_t data_blocks
    int64_t raw_keys
    int64_t raw_values
    int64_t data_size
    int64_t index_size
    int64_t top_size
    int64_t estimated
    int64_t index_offset
    int64_t index_length


cdef inline Py_ssize_t block_size(const Block* b) noexcept nogil:
    return b.entries.size + b.restarts.size + 4


cdef inline bint is_full(const Block* b, Py_ssize_t key, Py_ssize_t value) noexcept nogil:
    cdef Py_ssize_t size = block_size(b)
    if b.count == 0:
        return False
    if size >= TARGET:
        return True
    if size <= THRESHOLD:
        return False
    size += key + value + 4 + uvarint_length(key) + uvarint_length(value)
    if b.count % b.interval == 0:
        size += 4
    return size > TARGET


cdef inline uint8_t* open_row(Block* b, Py_ssize_t shared, const uint8_t* key, Py_ssize_t key_size,
                              uint64_t trailer, Py_ssize_t value_size) noexcept nogil:
    """Write all of a row but its value; give the place where the value goes, or NULL."""
    cdef uint8_t* out
    cdef uint32_t offset = <uint32_t>b.entries.size
    if b.count % b.interval == 0:
        put(&b.restarts, &offset, 4)
    if not room(&b.entries, key_size - shared + TRAILER + value_size + 30):
        return NULL
    out = put_uvarint(b.entries.data + b.entries.size, shared)
    out = put_uvarint(out, key_size + TRAILER - shared)
    out = put_uvarint(out, value_size)
    memcpy(out, key + shared, key_size - shared)
    out += key_size - shared
    memcpy(out, &trailer, TRAILER)
    out += TRAILER
    b.entries.size = out - b.entries.data + value_size
    b.count += 1
    return out


cdef void finish_block(Block* b) noexcept nogil:
    """Put the restart points and their number behind the rows; a block without rows has one."""
    cdef uint32_t zero = 0
    cdef uint32_t count
    if b.restarts.size == 0:
        put(&b.restarts, &zero, 4)
    count = <uint32_t>(b.restarts.size // 4)
    put(&b.entries, b.restarts.data, b.restarts.size)
    put(&b.entries, &count, 4)


cdef inline void clear_block(Block* b) noexcept nogil:
    b.entries.size = 0
    b.restarts.size = 0
    b.count = 0


cdef Py_ssize_t store_block(Encoder* e, const uint8_t* raw, Py_ssize_t size) noexcept nogil:
    """Write a finished block and its trailer, compressed where that saves an eighth; its length."""
    cdef Py_ssize_t n = size
    cdef uint8_t* out
    if not room(&e.file, worst_case(size) + 5):
        return 0
    out = e.file.data + e.file.size
    n = squeeze(raw, size, out)
    if n < size - size // 8:
        out[n] = 1
    else:
        n = size
        memcpy(out, raw, n)
        out[n] = 0
    store32(out + n + 1, masked(crc(out, n + 1)))
    e.file.size += n + 5
    return n


cdef void shorten(const uint8_t* a, Py_ssize_t na, const uint8_t* b, Py_ssize_t nb, Bytes* out,
                  bint* shortened) noexcept nogil:
    """Find a short key at or after `a` and before `b`; nb < 0 means that nothing follows."""
    cdef Py_ssize_t i = 0
    shortened[0] = False
    out.size = 0
    put(out, a, na)
    if out.failed:
        return
    if nb < 0:
        while i < na and a[i] == 0xFF:
            i += 1
        if i == na:
            return
    else:
        i = common_prefix(a, na, b, nb)
        if i >= na or i >= nb:
            return
        if i == nb - 1 and a[i] + 1 >= b[i]:
            i += 1
            while i < na and a[i] == 0xFF:
                i += 1
            if i == na:
                return
    out.data[i] += 1
    out.size = i + 1
    shortened[0] = True


cdef void cut_partition(Encoder* e, const uint8_t* key, Py_ssize_t size) noexcept nogil:
    """Put the current index block aside, with the last key in it (trailer included)."""
    cdef int64_t sizes[2]
    finish_block(&e.index)
    sizes[0] = e.index.entries.size
    sizes[1] = size
    put(&e.partitions, sizes, 16)
    put(&e.partitions, e.index.entries.data, e.index.entries.size)
    put(&e.partitions, key, size)
    e.partition_count += 1
    clear_block(&e.index)


cdef void add_index(Encoder* e, Block* index, const uint8_t* key, Py_ssize_t size, uint64_t trailer,
                    uint64_t offset, uint64_t stored) noexcept nogil:
    cdef uint8_t handle[20]
    cdef Py_ssize_t n = put_uvarint(put_uvarint(handle, offset), stored) - handle
    cdef uint8_t* value = open_row(index, 0, key, size, trailer, n)
    if value != NULL:
        memcpy(value, handle, n)


cdef void flush_data(Encoder* e, const uint8_t* last, Py_ssize_t last_size,
                     const uint8_t* next_key, Py_ssize_t next_size) noexcept nogil:
    """Store the data block and name it in the index."""
    cdef uint64_t offset = e.file.size
    cdef uint64_t trailer = SET_TRAILER
    cdef Py_ssize_t stored
    cdef bint shortened
    if last == NULL:
        e.separator.size = 0
        trailer = INVALID_TRAILER
    else:
        shorten(last, last_size, next_key, next_size, &e.separator, &shortened)
        if shortened:
            trailer = SEPARATOR_TRAILER
    finish_block(&e.data)
    stored = store_block(e, e.data.entries.data, e.data.entries.size)
    clear_block(&e.data)
    e.data_blocks += 1
    if is_full(&e.index, e.separator.size + TRAILER, HANDLE_ESTIMATE):
        cut_partition(e, e.previous.data, e.previous.size)
    add_index(e, &e.index, e.separator.data, e.separator.size, trailer, offset, stored)
    e.previous.size = 0
    put(&e.previous, e.separator.data, e.separator.size)
    put(&e.previous, &trailer, TRAILER)


cdef inline bint ran_out(const Encoder* e) noexcept nogil:
    return (e.file.failed or e.partitions.failed or e.separator.failed or e.previous.failed
            or e.data.entries.failed or e.data.restarts.failed or e.index.entries.failed
            or e.index.restarts.failed or e.top.entries.failed or e.top.restarts.failed)


cdef void store_index(Encoder* e) noexcept nogil:
    """Store the index: one block, or the partitions and a block that names them."""
    cdef const uint8_t* p
    cdef int64_t sizes[2]
    cdef int64_t i
    cdef uint64_t offset, trailer
    cdef Py_ssize_t stored
    if ran_out(e):  # the partitions may be incomplete
        return
    if e.partition_count == 0:
        e.index_size = block_size(&e.index) + 5
        finish_block(&e.index)
        e.index_offset = e.file.size
        e.index_length = store_block(e, e.index.entries.data, e.index.entries.size)
        return
    cut_partition(e, e.previous.data, e.previous.size)
    if ran_out(e):
        return
    p = e.partitions.data
    for i in range(e.partition_count):
        memcpy(sizes, p, 16)
        offset = e.file.size
        stored = store_block(e, p + 16, sizes[0])
        e.index_size += sizes[0]
        p += 16 + sizes[0]
        memcpy(&trailer, p + sizes[1] - TRAILER, TRAILER)
        add_index(e, &e.top, p, sizes[1] - TRAILER, trailer, offset, stored)
        p += sizes[1]
    e.top_size = block_size(&e.top)
    e.index_size += e.top_size + 5
    finish_block(&e.top)
    e.index_offset = e.file.size
    e.index_length = store_block(e, e.top.entries.data, e.top.entries.size)


cdef inline Py_ssize_t shared_prefix(const RowsView* rows, Py_ssize_t i) noexcept nogil:
    """Count the bytes that row i's key shares with the internal key before it."""
    cdef const uint8_t* key = at(&rows.keys, i)
    cdef Py_ssize_t size = length(&rows.keys, i), before = length(&rows.keys, i - 1)
    cdef Py_ssize_t n = common_prefix(key, size, at(&rows.keys, i - 1), before)
    # The key before ends in its trailer 01 00 00 00 00 00 00 00, which a longer key may go on with.
    if n == before and n < size and key[n] == 1:
        n += 1
        while n < size and n < before + TRAILER and key[n] == 0:
            n += 1
    return n


cdef Py_ssize_t encode_rows(Encoder* e, const RowsView* rows, Py_ssize_t start, Py_ssize_t stop,
                            Py_ssize_t largest, Py_ssize_t longest_key) noexcept nogil:
    """Go on with some rows; gives -1, or the row that is out of order or too large."""
    cdef Py_ssize_t i, key_size, identity_size, value_size, record_size, shared
    cdef const uint8_t* key
    cdef uint8_t* out
    for i in range(start, stop):
        key = at(&rows.keys, i)
        key_size = length(&rows.keys, i)
        identity_size = length(&rows.identities, i)
        value_size = length(&rows.values, i)
        if (identity_size == 0 or identity_size > largest or value_size > largest
                or key_size > longest_key):
            return i
        if i > 0 and compare(at(&rows.keys, i - 1), length(&rows.keys, i - 1), key, key_size) >= 0:
            return i
        record_size = (uvarint_length(2 * <uint64_t>identity_size) + identity_size
                       + uvarint_length(2 * <uint64_t>value_size) + value_size)
        if is_full(&e.data, key_size + TRAILER, record_size):
            flush_data(e, at(&rows.keys, i - 1), length(&rows.keys, i - 1), key, key_size)
        shared = 0 if e.data.count % DATA_RESTARTS == 0 else shared_prefix(rows, i)
        out = open_row(&e.data, shared, key, key_size, SET_TRAILER, record_size)
        if out == NULL:
            break
        out = put_uvarint(out, 2 * <uint64_t>identity_size)
        memcpy(out, at(&rows.identities, i), identity_size)
        out = put_uvarint(out + identity_size, 2 * <uint64_t>value_size)
        memcpy(out, at(&rows.values, i), value_size)
        e.raw_keys += key_size + TRAILER
        e.raw_values += record_size
    return -1


cdef void finish_table(Encoder* e, const RowsView* rows) noexcept nogil:
    """Store the last data block and the index."""
    cdef Py_ssize_t i = rows.keys.count - 1
    e.estimated = e.file.size + block_size(&e.data) + block_size(&e.index)
    if i >= 0:
        flush_data(e, at(&rows.keys, i), length(&rows.keys, i), NULL, -1)
    else:
        flush_data(e, NULL, 0, NULL, -1)
    e.data_size = e.file.size
    store_index(e)


cdef void drop(Encoder* e) noexcept nogil:
    let_go(&e.partitions)
    let_go(&e.separator)
    let_go(&e.previous)
    let_go(&e.data.entries)
    let_go(&e.data.restarts)
    let_go(&e.index.entries)
    let_go(&e.index.restarts)
    let_go(&e.top.entries)
    let_go(&e.top.restarts)


cdef Py_ssize_t encode_all(Encoder* e, const RowsView* rows, object breathe) except -2:
    """Write everything; gives -1, or the row that cannot be written."""
    cdef Py_ssize_t largest = MAX_COMPONENT, longest_key = MAX_KEY, count = rows.keys.count
    cdef Py_ssize_t start = 0, stop, wrong = -1
    cdef Py_ssize_t stretch = count if breathe is None else STRETCH_ROWS
    with nogil:
        room(&e.file, records_size(rows) * 3 // 4 + 4096)
    while start < count and wrong < 0 and not ran_out(e):
        if start:
            breathe()
        stop = min(start + stretch, count)
        with nogil:
            wrong = encode_rows(e, rows, start, stop, largest, longest_key)
        start = stop
    if wrong < 0:
        with nogil:
            finish_table(e, rows)
    return wrong


def encode(object records, object breathe=None):
    """Write data and index blocks of sorted records."""
    cdef Held held = Held()
    cdef RowsView rows = held.rows(records)
    cdef Encoder e
    cdef Py_ssize_t wrong
    memset(&e, 0, sizeof(Encoder))
    e.data.interval = DATA_RESTARTS
    e.index.interval = INDEX_RESTARTS
    e.top.interval = INDEX_RESTARTS
    try:
        wrong = encode_all(&e, &rows, breathe)
    except BaseException:
        let_go(&e.file)
        raise
    finally:
        drop(&e)
    if wrong >= 0 or ran_out(&e):
        let_go(&e.file)
        if wrong < 0:
            raise MemoryError
        raise InvalidInput(
            f"record {wrong} cannot be written: keys must strictly increase, identities must not be"
            f" empty, a key has at most {MAX_KEY} bytes, identity and value {MAX_COMPONENT} each",
            key=bytes(records.keys[wrong]),
        )
    body = wrap(e.file.data, e.file.size, footprint(&e.file))
    return EncodedBlocks(
        body, e.index_offset, e.index_length, e.partition_count, e.top_size, e.index_size,
        e.data_size, e.data_blocks, e.raw_keys, e.raw_values, e.estimated,
    )


cdef Py_ssize_t records_size(const RowsView* rows) noexcept nogil:
    cdef Py_ssize_t n = rows.keys.count
    return <Py_ssize_t>(rows.keys.offsets[n] - rows.keys.offsets[0]
                        + rows.identities.offsets[n] - rows.identities.offsets[0]
                        + rows.values.offsets[n] - rows.values.offsets[0]) + 8 * n
