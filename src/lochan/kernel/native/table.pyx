# SPDX-License-Identifier: Apache-2.0
"""Read the rows of a table file through its index.

A block is checked, checksum and every row, when it is first read; the file is immutable, so once is
enough for a reader that lives as long as its mapping.
"""

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from lochan.kernel.native.blocks cimport (
    BAD_KEY, BAD_KIND, BAD_RESTARTS, BAD_SEPARATOR, EMPTY_BLOCK, FINE, NO_MEMORY, TOO_LARGE,
    Content, Fault, Walk, corruption, drop_content, drop_walk, load_block, restart_point,
    start_walk, step,
)
from lochan.kernel.native.buffers cimport (
    Builder, Held, RowsBuilder, View, at, drop_builder, drop_rows, finish_builder, finish_rows,
    length, start_builder, start_rows,
)
from lochan.kernel.native.coding cimport compare
from lochan.kernel.native.decoding cimport (
    KIND_SET, TRAILER, Found, clear_rows, decode_rows, expect_rows, put_value, split_record,
)
from lochan.kernel.native.entry_objects cimport (
    ALL_READ, Objects, damaged_entry, drop_objects, finish_objects, read_objects, start_objects,
)
from lochan.kernel.native.index cimport Index, drop_index, read_index

from lochan.errors import InvalidInput
from lochan.kernel.interface import BLOCKS_AT_ONCE, MAX_SCAN
from lochan.kernel.records import Records

cdef Py_ssize_t LARGEST_SCAN = MAX_SCAN
cdef Py_ssize_t AT_ONCE = BLOCKS_AT_ONCE

cdef enum:
    SAMPLE = 8  # blocks read before memory is taken for the rest

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
        cdef Fault fault = read_index(self.file, self.file_size, offset, size, two_level,
                                      &self.index, where)
        self.block_count = self.index.separators.count
        self.separators.data = self.index.separators.data
        self.separators.offsets = self.index.separators.offsets
        self.separators.count = self.block_count
        self.checked = <uint8_t*>calloc(self.block_count + 1, 1)
        return NO_MEMORY if self.checked == NULL else fault

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

    cdef inline bint below(self, Py_ssize_t block, const uint8_t* key,
                           Py_ssize_t size) noexcept nogil:
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
        if (start_builder(identities, 32 * wanted.count, wanted.count)
                or start_builder(values, 128 * wanted.count, wanted.count)):
            return NO_MEMORY
        for i in range(wanted.count):
            if i and compare(at(wanted, i - 1), length(wanted, i - 1), at(wanted, i),
                             length(wanted, i)) > 0:
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
            if rows.keys.size + rows.identities.size + rows.values.size > LARGEST_SCAN:
                fault = TOO_LARGE
                break
            done += self.index.sizes[block]
            if keep and block == first + SAMPLE and expect_rows(rows, <double>all_sizes / done,
                                                                LARGEST_SCAN):
                fault = NO_MEMORY
                break
        drop_content(&content)
        return fault

    cdef Fault fits(self, Py_ssize_t block, const RowsBuilder* rows,
                    Py_ssize_t first) noexcept nogil:
        """Check a block's first and last key against the index."""
        cdef const int64_t* ends = rows.keys.offsets
        cdef Py_ssize_t last = rows.keys.count - 1
        if first > last:
            return EMPTY_BLOCK if self.block_count > 1 else FINE
        if block and not self.below(block - 1, rows.keys.data + ends[first],
                                    <Py_ssize_t>(ends[first + 1] - ends[first])):
            return BAD_SEPARATOR
        if self.below(block, rows.keys.data + ends[last],
                      <Py_ssize_t>(ends[last + 1] - ends[last])):
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

    def objects(self, bytes inside not None):
        """Give what `entry_objects` gives for all rows, checked as by a scan."""
        cdef RowsBuilder rows
        cdef Objects found
        cdef const uint8_t* home = inside
        cdef Py_ssize_t home_size = len(inside), block = 0, damaged = ALL_READ
        cdef Fault fault = NO_MEMORY
        memset(&rows, 0, sizeof(RowsBuilder))
        memset(&found, 0, sizeof(Objects))
        with nogil:
            if not (start_rows(&rows, 8192, 8192, 8192, 64)
                    or start_objects(&found, 0, home, home_size)):
                fault = self.find_objects(&rows, &found, &block, &damaged)
        try:
            if damaged >= 0:
                raise damaged_entry(damaged, rows.values.count, self.name,
                                    self.index.offsets[block])
            if fault != FINE:
                raise corruption(fault, self.name, self.index.offsets[block])
            return finish_objects(&found)
        finally:
            drop_rows(&rows)
            drop_objects(&found)

    cdef Fault find_objects(self, RowsBuilder* rows, Objects* found, Py_ssize_t* at_block,
                            Py_ssize_t* damaged) noexcept nogil:
        """Read so few blocks at a time that a cache holds their rows."""
        cdef Py_ssize_t first = 0, stop, total = 0
        cdef Fault fault = FINE
        cdef View values
        while first < self.block_count and fault == FINE:
            stop = min(first + AT_ONCE, self.block_count)
            clear_rows(rows)
            fault = self.read_blocks(first, stop, rows, True, &total, at_block)
            if fault != FINE:
                break
            values.data = rows.values.data
            values.offsets = rows.values.offsets
            values.count = rows.values.count
            damaged[0] = read_objects(&values, found)
            if damaged[0] != ALL_READ:
                at_block[0] = first
                fault = NO_MEMORY
            first = stop
        return fault

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
