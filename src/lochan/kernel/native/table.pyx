# SPDX-License-Identifier: Apache-2.0
"""Read the rows of a table file through its index.

The index is decoded once into arrays: where each block lies and the largest user key it may hold.
A block is checked, checksum and every row, when it is first read; the file is immutable, so once is
enough for a reader that lives as long as its mapping.
"""

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcmp, memcpy, memset

from lochan.kernel.native.blocks cimport (
    BAD_HANDLE, BAD_KEY, BAD_KIND, BAD_RESTARTS, BAD_SEPARATOR, EMPTY_BLOCK, FINE, NO_MEMORY, Content, Fault, Walk, corruption, drop_content, drop_walk, finish_walk, load_block, restart_point,
    start_walk, step,
)
from lochan.kernel.native.buffers cimport (
    Builder, Held, RowsBuilder, View, at, drop_builder, drop_rows, finish_builder, finish_rows,
    length, reserve_bytes, reserve_rows, start_builder, start_rows,
)
from lochan.kernel.native.coding cimport compare, get_uvarint
from lochan.kernel.native.decoding cimport (
    KIND_SET, TRAILER, Found, clear_rows, decode_rows, expect_rows, put_value, split_record,
)

from lochan.errors import InvalidInput
from lochan.kernel.records import Records

cdef enum:
    BLOCK_TRAILER = 5  # compression and checksum behind every block
    SAMPLE = 8  # blocks read before memory is taken for the rest

# Where blocks lie and what they may hold. Separators are user keys.
cdef struct Index:
    Builder separators
    uint64_t* offsets
    uint64_t* sizes
    Py_ssize_t capacity


cdef inline int compare_last(const Index* index, const uint8_t* key, Py_ssize_t size) noexcept nogil:
    """Compare the last separator with a key."""
    cdef Py_ssize_t n = index.separators.count
    return compare(index.separators.data + index.separators.offsets[n - 1],
                   <Py_ssize_t>(index.separators.offsets[n] - index.separators.offsets[n - 1]), key, size)


cdef Fault add_handle(Index* index, const Walk* walk, uint64_t limit) noexcept nogil:
    """Take up one index row: a separator above the last, a block behind the last and before `limit`."""
    cdef Py_ssize_t n = index.separators.count, size = walk.key_size - TRAILER
    cdef uint64_t offset = 0, stored = 0
    cdef const uint8_t* p
    cdef const uint8_t* end = walk.value + walk.value_size
    cdef uint64_t* moved
    if size < 0:
        return BAD_KEY
    p = get_uvarint(walk.value, end, &offset)
    p = get_uvarint(p, end, &stored) if p != NULL else NULL
    if p != end or offset > limit or stored > limit - offset or limit - offset - stored < BLOCK_TRAILER:
        return BAD_HANDLE
    if n and (offset < index.offsets[n - 1] + index.sizes[n - 1] + BLOCK_TRAILER
              or compare_last(index, walk.key, size) >= 0):
        return BAD_HANDLE
    if n == index.capacity:
        moved = <uint64_t*>realloc(index.offsets, (2 * n + 64) * sizeof(uint64_t))
        if moved == NULL:
            return NO_MEMORY
        index.offsets = moved
        moved = <uint64_t*>realloc(index.sizes, (2 * n + 64) * sizeof(uint64_t))
        if moved == NULL:
            return NO_MEMORY
        index.sizes = moved
        index.capacity = 2 * n + 64
    if put_value(&index.separators, walk.key, size):
        return NO_MEMORY
    index.offsets[n] = offset
    index.sizes[n] = stored
    return FINE


cdef Fault read_index(const uint8_t* file, Py_ssize_t file_size, uint64_t offset, uint64_t size,
                      uint64_t limit, Index* index, uint64_t* where) noexcept nogil:
    """Take up the rows of one index block."""
    cdef Content content
    cdef Walk walk
    cdef Fault fault
    memset(&content, 0, sizeof(Content))
    memset(&walk, 0, sizeof(Walk))
    where[0] = offset
    fault = load_block(file, file_size, offset, size, True, &content)
    if fault == FINE and content.rows_end == 0:
        fault = EMPTY_BLOCK
    if fault == FINE:
        start_walk(&walk, &content, 0)
        while fault == FINE and walk.next < walk.end:
            fault = step(&walk)
            if fault == FINE:
                fault = add_handle(index, &walk, limit)
        if fault == FINE:
            fault = finish_walk(&walk)
    drop_content(&content)
    drop_walk(&walk)
    return fault


cdef inline void drop_index(Index* index) noexcept nogil:
    drop_builder(&index.separators)
    free(index.offsets)
    free(index.sizes)
    index.offsets = NULL
    index.sizes = NULL


cdef class NativeTable:
    """The rows of one file. Holds the file's buffer for as long as it lives."""

    cdef const uint8_t[::1] buffer
    cdef const uint8_t* file
    cdef Py_ssize_t file_size
    cdef object name
    cdef Index index
    cdef View separators
    cdef uint8_t* checked
    # For single look-ups, made under the interpreter lock: the block last read, kept expanded.
    cdef Content content
    cdef Py_ssize_t loaded
    cdef Walk walk

    cdef readonly Py_ssize_t block_count

    def __cinit__(self, const uint8_t[::1] file not None, str name, uint64_t offset, uint64_t size,
                  bint two_level):
        cdef Fault fault
        cdef uint64_t where = 0
        self.buffer = file
        self.file = &file[0]
        self.file_size = file.shape[0]
        self.name = name
        self.loaded = -1
        with nogil:
            fault = self.open_index(offset, size, two_level, &where)
        if fault != FINE:
            raise corruption(fault, name, where)

    cdef Fault open_index(self, uint64_t offset, uint64_t size, bint two_level,
                          uint64_t* where) noexcept nogil:
        cdef Index top
        cdef Fault fault
        cdef Py_ssize_t i
        if start_builder(&self.index.separators, 4096, 256):
            return NO_MEMORY
        if not two_level:
            fault = read_index(self.file, self.file_size, offset, size, offset, &self.index, where)
        else:
            memset(&top, 0, sizeof(Index))
            if start_builder(&top.separators, 4096, 64):
                return NO_MEMORY
            fault = read_index(self.file, self.file_size, offset, size, offset, &top, where)
            for i in range(top.separators.count):
                if fault == FINE:
                    fault = self.add_partition(&top, i, offset, where)
            drop_index(&top)
        self.block_count = self.index.separators.count
        self.separators.data = self.index.separators.data
        self.separators.offsets = self.index.separators.offsets
        self.separators.count = self.block_count
        self.checked = <uint8_t*>calloc(self.block_count + 1, 1)
        return NO_MEMORY if self.checked == NULL else fault

    cdef Fault add_partition(self, const Index* top, Py_ssize_t i, uint64_t limit,
                             uint64_t* where) noexcept nogil:
        """Take up one index partition, whose separators lie above the one before and not above its own."""
        cdef const uint8_t* highest = top.separators.data + top.separators.offsets[i]
        cdef Py_ssize_t first = self.index.separators.count
        cdef const uint8_t* key
        cdef Fault fault = read_index(self.file, self.file_size, top.offsets[i], top.sizes[i], limit,
                                      &self.index, where)
        if fault != FINE:
            return fault
        if compare_last(&self.index, highest,
                        <Py_ssize_t>(top.separators.offsets[i + 1] - top.separators.offsets[i])) > 0:
            return BAD_SEPARATOR
        if i:
            key = self.index.separators.data + self.index.separators.offsets[first]
            if compare(top.separators.data + top.separators.offsets[i - 1],
                       <Py_ssize_t>(top.separators.offsets[i] - top.separators.offsets[i - 1]), key,
                       <Py_ssize_t>(self.index.separators.offsets[first + 1]
                                    - self.index.separators.offsets[first])) >= 0:
                return BAD_SEPARATOR
        return FINE

    def __dealloc__(self):
        drop_index(&self.index)
        free(self.checked)
        drop_content(&self.content)
        drop_walk(&self.walk)

    cdef inline Fault load(self, Py_ssize_t block, Content* content) noexcept nogil:
        return load_block(self.file, self.file_size, self.index.offsets[block],
                          self.index.sizes[block], not self.checked[block], content)

    cdef Fault load_checked(self, Py_ssize_t block, Content* content) noexcept nogil:
        """Load a block for look-ups; the first time every row of it is checked."""
        cdef RowsBuilder rows
        cdef Fault fault = self.load(block, content)
        if fault != FINE or self.checked[block]:
            return fault
        if start_rows(&rows, 8192, 8192, 8192, 64):
            return NO_MEMORY
        fault = decode_rows(content, &rows)
        if fault == FINE:
            fault = self.fits(block, &rows, 0)
        drop_rows(&rows)
        if fault == FINE:
            self.checked[block] = 1
        return fault

    cdef Py_ssize_t find(self, const uint8_t* key, Py_ssize_t size, Py_ssize_t low) noexcept nogil:
        """Number the first block, from `low` on, whose separator is not below the key."""
        cdef Py_ssize_t high = low, stride = 1, middle
        while high < self.block_count and self.below(high, key, size):
            low = high + 1
            high += stride
            stride *= 2
        if high > self.block_count:
            high = self.block_count
        while low < high:
            middle = (low + high) >> 1
            if self.below(middle, key, size):
                low = middle + 1
            else:
                high = middle
        return low

    cdef inline bint below(self, Py_ssize_t block, const uint8_t* key, Py_ssize_t size) noexcept nogil:
        return compare(at(&self.separators, block), length(&self.separators, block), key, size) < 0

    cdef Fault seek(self, const Content* content, Walk* walk, const uint8_t* key, Py_ssize_t size,
                    Found* found) noexcept nogil:
        """Look for a key in a loaded block: halve the restart points, then walk."""
        cdef Py_ssize_t low = 0, high = content.restarts - 1, middle
        cdef uint32_t point
        cdef Fault fault
        cdef int order
        found.present = False
        while low < high:
            middle = (low + high + 1) >> 1
            point = restart_point(content, middle)
            if point >= content.rows_end:
                return BAD_RESTARTS
            start_walk(walk, content, point)
            fault = step(walk)
            if fault != FINE:
                return fault
            if walk.key_size < TRAILER:
                return BAD_KEY
            if compare(walk.key, walk.key_size - TRAILER, key, size) <= 0:
                low = middle
            else:
                high = middle - 1
        point = restart_point(content, low)
        if point > content.rows_end:
            return BAD_RESTARTS
        start_walk(walk, content, point)
        while walk.next < walk.end:
            fault = step(walk)
            if fault != FINE:
                return fault
            if walk.key_size < TRAILER:
                return BAD_KEY
            order = compare(walk.key, walk.key_size - TRAILER, key, size)
            if order >= 0:
                if order == 0:
                    if walk.key[walk.key_size - TRAILER] != KIND_SET:
                        return BAD_KIND
                    found.present = True
                    return split_record(walk.value, walk.value_size, found)
                return FINE
        return FINE

    def find_block(self, const uint8_t[::1] key not None):
        """Number the first block that may hold `key` or a larger one; block_count if none."""
        return self.find(&key[0], key.shape[0], 0)

    def get(self, bytes key not None):
        """Look up one key: (identity, value), or None."""
        cdef const uint8_t* wanted = <const uint8_t*>key
        cdef Py_ssize_t size = len(key)
        cdef Py_ssize_t block = self.find_from_start(wanted, size)
        cdef Found found
        cdef Fault fault = FINE
        if block == self.block_count:
            return None
        if block != self.loaded:
            self.loaded = -1
            fault = self.load_checked(block, &self.content)
        if fault == FINE:
            self.loaded = block
            fault = self.seek(&self.content, &self.walk, wanted, size, &found)
        if fault != FINE:
            raise corruption(fault, self.name, self.index.offsets[block])
        if not found.present:
            return None
        return found.identity[:found.identity_size], found.value[:found.value_size]

    cdef Py_ssize_t find_from_start(self, const uint8_t* key, Py_ssize_t size) noexcept nogil:
        cdef Py_ssize_t low = 0, high = self.block_count, middle
        while low < high:
            middle = (low + high) >> 1
            if self.below(middle, key, size):
                low = middle + 1
            else:
                high = middle
        return low

    def get_many(self, object keys):
        """Look up keys in ascending order; an absent key gets an empty identity."""
        cdef Held held = Held()
        cdef View wanted = held.column(keys)
        cdef Builder identities, values
        cdef Fault fault
        cdef Py_ssize_t wrong = -1
        cdef uint64_t where = 0
        memset(&identities, 0, sizeof(Builder))
        memset(&values, 0, sizeof(Builder))
        with nogil:
            fault = self.look_up(&wanted, &identities, &values, &where, &wrong)
        try:
            if wrong >= 0:
                raise InvalidInput(f"key {wrong} is below the key before it; sort the keys first")
            if fault != FINE:
                raise corruption(fault, self.name, where)
            return Records(keys, finish_builder(&identities), finish_builder(&values))
        finally:
            drop_builder(&identities)
            drop_builder(&values)

    cdef Fault look_up(self, const View* wanted, Builder* identities, Builder* values,
                       uint64_t* where, Py_ssize_t* wrong) noexcept nogil:
        cdef Content content
        cdef Walk walk
        cdef Found found
        cdef Fault fault = FINE
        cdef Py_ssize_t i, block = 0, loaded = -1
        memset(&content, 0, sizeof(Content))
        memset(&walk, 0, sizeof(Walk))
        if start_builder(identities, 32 * wanted.count, wanted.count) or start_builder(values, 128 * wanted.count, wanted.count):
            return NO_MEMORY
        for i in range(wanted.count):
            if i and compare(at(wanted, i - 1), length(wanted, i - 1), at(wanted, i), length(wanted, i)) > 0:
                wrong[0] = i
                break
            block = self.find(at(wanted, i), length(wanted, i), block)
            found.present = False
            if block < self.block_count:
                where[0] = self.index.offsets[block]
                if block != loaded:
                    fault = self.load_checked(block, &content)
                    if fault != FINE:
                        break
                    loaded = block
                fault = self.seek(&content, &walk, at(wanted, i), length(wanted, i), &found)
                if fault != FINE:
                    break
            if not found.present:
                found.identity_size = 0
                found.value_size = 0
            if (put_value(identities, found.identity, found.identity_size)
                    or put_value(values, found.value, found.value_size)):
                fault = NO_MEMORY
                break
        drop_content(&content)
        drop_walk(&walk)
        return fault

    cdef Fault read_blocks(self, Py_ssize_t first, Py_ssize_t stop, RowsBuilder* rows, bint keep,
                           Py_ssize_t* total, Py_ssize_t* at_block) noexcept nogil:
        """Append the rows of blocks, each checked to lie between its neighbours' separators."""
        cdef Content content
        cdef Fault fault = FINE
        cdef Py_ssize_t before, block
        cdef uint64_t done = 0, all_sizes = 0
        memset(&content, 0, sizeof(Content))
        for block in range(first, stop):
            all_sizes += self.index.sizes[block]
        for block in range(first, stop):
            at_block[0] = block
            if not keep:
                clear_rows(rows)
            before = rows.keys.count
            fault = self.load(block, &content)
            if fault == FINE:
                fault = decode_rows(&content, rows)
            if fault == FINE:
                fault = self.fits(block, rows, before)
            if fault != FINE:
                break
            self.checked[block] = 1
            total[0] += rows.keys.count - before
            done += self.index.sizes[block]
            if keep and block == first + SAMPLE and expect_rows(rows, <double>all_sizes / done):
                fault = NO_MEMORY
                break
        drop_content(&content)
        return fault

    cdef Fault fits(self, Py_ssize_t block, const RowsBuilder* rows, Py_ssize_t first) noexcept nogil:
        """Check a block's first and last key against the index."""
        cdef Py_ssize_t last = rows.keys.count - 1
        if first > last:
            return EMPTY_BLOCK if self.block_count > 1 else FINE
        if block and not self.below(block - 1, rows.keys.data + rows.keys.offsets[first],
                                    <Py_ssize_t>(rows.keys.offsets[first + 1] - rows.keys.offsets[first])):
            return BAD_SEPARATOR
        if self.below(block, rows.keys.data + rows.keys.offsets[last],
                      <Py_ssize_t>(rows.keys.offsets[last + 1] - rows.keys.offsets[last])):
            return BAD_SEPARATOR
        return FINE

    def scan(self, Py_ssize_t first, Py_ssize_t stop):
        """Decode blocks first to stop - 1 into columns."""
        cdef RowsBuilder rows
        cdef Fault fault = NO_MEMORY
        cdef Py_ssize_t total = 0, block = 0
        if not 0 <= first <= stop <= self.block_count:
            raise IndexError(f"blocks {first} to {stop} of {self.block_count}")
        with nogil:
            if not start_rows(&rows, 8192, 8192, 8192, 64):
                fault = self.read_blocks(first, stop, &rows, True, &total, &block)
        try:
            if fault != FINE:
                raise corruption(fault, self.name, self.index.offsets[block])
            return finish_rows(&rows)
        finally:
            drop_rows(&rows)

    def verify(self):
        """Check every block, checksum and key order; count the rows."""
        cdef RowsBuilder rows
        cdef Fault fault = NO_MEMORY
        cdef Py_ssize_t total = 0, block = 0
        memset(self.checked, 0, self.block_count)
        with nogil:
            if not start_rows(&rows, 8192, 8192, 8192, 64):
                fault = self.read_blocks(0, self.block_count, &rows, False, &total, &block)
        drop_rows(&rows)
        if fault != FINE:
            raise corruption(fault, self.name, self.index.offsets[block])
        return total


def open_table(file, str name, uint64_t index_offset, uint64_t index_length, bint two_level):
    """Decode the index of a file whose footer and properties have been read."""
    return NativeTable(file, name, index_offset, index_length, two_level)
